/** Usage of each upstream, as each caller gets it. CONV-801 to CONV-820. */
import { describe, expect, it } from "vitest";
import { json } from "../support/recorder.ts";
import { byName, conversions, dataOf, names, type Body, type Name } from "./world.ts";

const world = conversions();

/** The same usage per upstream: 100 in, 90 of them cached; 70 out, 20 of them reasoning if the protocol has a field for it. */
const usages: Readonly<Record<Name, Body>> = {
  chat: {
    usage: {
      prompt_tokens: 100,
      completion_tokens: 70,
      total_tokens: 170,
      prompt_tokens_details: { cached_tokens: 90 },
      completion_tokens_details: { reasoning_tokens: 20 },
    },
  },
  responses: {
    usage: {
      input_tokens: 100,
      output_tokens: 70,
      total_tokens: 170,
      input_tokens_details: { cached_tokens: 90 },
      output_tokens_details: { reasoning_tokens: 20 },
    },
  },
  messages: {
    usage: { input_tokens: 10, cache_read_input_tokens: 90, output_tokens: 70 },
  },
  generate_content: {
    usageMetadata: {
      promptTokenCount: 100,
      cachedContentTokenCount: 90,
      candidatesTokenCount: 50,
      thoughtsTokenCount: 20,
      totalTokenCount: 170,
    },
  },
};

async function usageFor(from: Name, to: Name): Promise<Body> {
  const answer = json({ ...byName[to].whole(), ...usages[to] });
  const reply = (await world.send(from, to, {}, answer)).answer;
  return reply[from === "generate_content" ? "usageMetadata" : "usage"] as Body;
}

/** The reported reasoning tokens. A messages upstream only reports them as output. */
const reasoningOf = (to: Name): number => (to === "messages" ? 0 : 20);
const upstreamsOf = (caller: Name): Name[] => names.filter((name) => name !== caller);

describe("the usage of a converted answer", () => {
  it.each(upstreamsOf("chat"))(
    "CONV-801 CONV-805 CONV-809 CONV-813 CONV-817 CONV-820: is complete for chat callers of %s",
    async (to) => {
      expect(await usageFor("chat", to)).toMatchObject({
        prompt_tokens: 100,
        completion_tokens: 70,
        total_tokens: 170,
        prompt_tokens_details: { cached_tokens: 90 },
        completion_tokens_details: { reasoning_tokens: reasoningOf(to) },
      });
    },
  );

  it.each(upstreamsOf("responses"))(
    "CONV-802 CONV-806 CONV-810 CONV-814 CONV-817 CONV-820 RESP-53: is complete for responses callers of %s",
    async (to) => {
      expect(await usageFor("responses", to)).toEqual({
        input_tokens: 100,
        output_tokens: 70,
        total_tokens: 170,
        input_tokens_details: expect.objectContaining({ cached_tokens: 90 }) as object,
        output_tokens_details: { reasoning_tokens: reasoningOf(to) },
      });
    },
  );

  it.each(upstreamsOf("messages"))(
    "CONV-803 CONV-807 CONV-811 CONV-815 CONV-818 CONV-820: is complete for messages callers of %s",
    async (to) => {
      const usage = await usageFor("messages", to);
      expect(usage).toMatchObject({
        input_tokens: 10,
        cache_read_input_tokens: 90,
        output_tokens: 70,
      });
      expect(JSON.stringify(usage)).not.toContain("reasoning");
    },
  );

  it.each(upstreamsOf("generate_content"))(
    "CONV-804 CONV-808 CONV-812 CONV-816 CONV-817 CONV-819: is complete for generateContent callers of %s",
    async (to) => {
      const reasoning = reasoningOf(to);
      const usage = await usageFor("generate_content", to);
      expect(usage).toMatchObject({
        promptTokenCount: 100,
        cachedContentTokenCount: 90,
        candidatesTokenCount: 70 - reasoning,
        totalTokenCount: 170,
      });
      expect(usage["thoughtsTokenCount"] ?? 0).toBe(reasoning);
    },
  );
});

/** The last usage in a stream's events, from the place of each protocol. */
function lastUsage(caller: Name, events: readonly Body[]): Body {
  const of = (event: Body): unknown =>
    caller === "generate_content"
      ? event["usageMetadata"]
      : caller === "responses"
        ? (event["response"] as Body | undefined)?.["usage"]
        : event["usage"];
  return events.map(of).findLast((usage) => usage !== undefined && usage !== null) as Body;
}

describe("the usage of a converted stream", () => {
  const pairs = names.flatMap((from) => upstreamsOf(from).map((to) => [from, to] as const));

  // The frames of rows/protocols.ts have 100 in, 40 from a cache, 20 out, 5 reasoning.
  it.each(pairs)(
    "CONV-817 CONV-818 T46: is in the last event for %s callers of %s",
    async (from, to) => {
      const extra =
        from === "chat" ? { stream: true, stream_options: { include_usage: true } } : {};
      const { events } = await world.stream(from, to, extra);
      const wanted: Readonly<Record<Name, Body>> = {
        chat: {
          prompt_tokens: 100,
          completion_tokens: 20,
          prompt_tokens_details: { cached_tokens: 40 },
        },
        responses: {
          input_tokens: 100,
          output_tokens: 20,
          input_tokens_details: { cached_tokens: 40 },
        },
        messages: { input_tokens: 60, cache_read_input_tokens: 40, output_tokens: 20 },
        generate_content: {
          promptTokenCount: 100,
          cachedContentTokenCount: 40,
          totalTokenCount: 120,
        },
      };
      expect(lastUsage(from, dataOf(events))).toMatchObject(wanted[from]);
    },
  );
});

describe("the counts of sound and pictures", () => {
  const chatUsage = {
    prompt_tokens: 100,
    completion_tokens: 70,
    total_tokens: 170,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 30, image_tokens: 20 },
    completion_tokens_details: { reasoning_tokens: 20, audio_tokens: 40 },
  };
  const googleUsage = {
    promptTokenCount: 100,
    candidatesTokenCount: 50,
    thoughtsTokenCount: 20,
    totalTokenCount: 170,
    promptTokensDetails: [
      { modality: "TEXT", tokenCount: 50 },
      { modality: "AUDIO", tokenCount: 30 },
      { modality: "IMAGE", tokenCount: 20 },
    ],
    candidatesTokensDetails: [
      { modality: "TEXT", tokenCount: 10 },
      { modality: "AUDIO", tokenCount: 40 },
    ],
  };

  it("CONV-801 CONV-805: reach a chat caller of generateContent", async () => {
    const answer = json({ ...byName.generate_content.whole(), usageMetadata: googleUsage });
    const { usage } = (await world.send("chat", "generate_content", {}, answer)).answer;
    expect(usage).toMatchObject(chatUsage);
  });

  it("CONV-804 CONV-808: reach a generateContent caller of chat", async () => {
    const answer = json({ ...byName.chat.whole(), usage: chatUsage });
    const reply = (await world.send("generate_content", "chat", {}, answer)).answer;
    expect(reply["usageMetadata"]).toEqual(googleUsage);
  });
});
