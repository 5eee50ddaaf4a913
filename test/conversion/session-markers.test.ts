/**
 * Sessions of callers who name a `prompt_cache_key`, at Claude, which caches only what is marked. docs/decisions.md "Prompt caches";
 * CONV-418, CONV-605.
 */
import { describe, expect, it } from "vitest";
import type { Part } from "../../src/protocols/canonical/request.ts";
import type { JsonObject } from "../../src/protocols/index.ts";
import { readCase } from "../agents/cases.ts";
import { agentClients } from "./agent-clients.ts";
import { PromptCache, type CachedCall } from "./prompt-cache.ts";
import { routeOf } from "./route.ts";
import { copyOf, kept, toolsIn } from "./session.ts";
import type { Body } from "./world.ts";

const upstreams = ["messages", "converse"] as const;
type Upstream = (typeof upstreams)[number];
const claude = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const options = { upstreamModel: claude, marksSessions: true, maxOutputTokens: 64_000 };
const key = { prompt_cache_key: "session 1" };

const sent = (from: "chat" | "responses", body: Body, to: Upstream = "messages", more = {}) =>
  routeOf(from, to, { model: "acme/x", ...body }, { ...options, ...more });
const markersIn = (body: JsonObject): number =>
  JSON.stringify(body).match(/cache_control|cachePoint/g)?.length ?? 0;

/** The calls of a session with this many tool calls in each answer, as the vendor's cache sees them. */
function played(from: "chat" | "responses", to: Upstream, callsPerAnswer: number): CachedCall[] {
  const client = agentClients[from];
  const cache = new PromptCache();
  const turns = client.asks({ text: "Where is it?", picture: false });
  return Array.from({ length: 4 }, (_, step) => {
    const id = `a${step}`;
    const route = sent(from, copyOf({ ...client.body(turns), ...key }), to);
    const body = copyOf(route.body);
    const { name } = toolsIn(body)[0]!;
    const content: Part[] = Array.from({ length: callsPerAnswer }, (_all, at) => {
      return { type: "tool_call", id: `${id}_${at}`, name, arguments: "{}" };
    });
    const answer = kept({ from, to, isStream: false, route, id }, content);
    turns.push(...answer);
    turns.push(...client.results(client.callsIn(answer), { text: "There.", picture: false }));
    turns.push(...client.reminds(`Step ${step}.`));
    return cache.call(body);
  });
}

describe("a session with a prompt_cache_key", () => {
  it.each(
    ["codex-on-messages", "codex-on-responses"].flatMap((run) =>
      upstreams.map((to) => [run, to] as const),
    ),
  )("CONV-418: the run %s of Codex reads at %s all that it sent before", (run, to) => {
    const { body, steps } = readCase(run);
    const cache = new PromptCache();
    const calls = steps.map((step) =>
      cache.call(sent("responses", { ...body, ...step, model: "acme/x" }, to).body),
    );
    const [first, second, third] = calls;
    expect(first).toMatchObject({ read: 0, ends: [{}, {}] });
    expect(first!.marked).toBeLessThan(first!.blocks);
    expect(second).toMatchObject({ read: first!.marked, marked: second!.blocks });
    expect(third).toMatchObject({ read: second!.blocks, marked: third!.blocks });
  });

  it.each(
    (["chat", "responses"] as const).flatMap((from) => upstreams.map((to) => [from, to] as const)),
  )(
    "CONV-418 CONV-605: of %s at %s reads all of the call before, however many calls an answer has",
    (from, to) => {
      for (const callsPerAnswer of [1, 30]) {
        const [first, second, ...later] = played(from, to, callsPerAnswer);
        expect([first!.read, first!.ends.length, second!.read]).toEqual([0, 2, first!.marked]);
        for (const [index, call] of later.entries())
          expect(call).toMatchObject({
            read: (later[index - 1] ?? second!).blocks,
            marked: call.blocks,
          });
      }
    },
  );

  it("CONV-418: has no markers on its turns before the first answer, because it may not continue", () => {
    const once = { messages: [{ role: "user", content: "Classify this: ..." }], ...key };
    const bare = sent("chat", once);
    expect(markersIn(bare.body)).toBe(0);
    const detail = expect.stringMatching(/nothing to mark .* yet, dropped$/);
    expect(bare.notes).toMatchObject([{ param: "prompt_cache_key", kind: "dropped", detail }]);
    const system = { role: "system", content: "You classify." };
    const { body } = sent("chat", { ...once, messages: [system, ...once.messages] });
    expect(body).toMatchObject({
      system: [{ text: "You classify.", cache_control: { type: "ephemeral" } }],
      messages: [{ content: [{ type: "text", text: "Classify this: ..." }] }],
    });
    expect(markersIn(body)).toBe(1);
    const begun = { role: "assistant", content: "It is" };
    const prefilled = sent("chat", { ...once, messages: [system, ...once.messages, begun] });
    expect(prefilled.body["system"]).toEqual(body["system"]);
    expect(markersIn(prefilled.body)).toBe(1);
  });

  it("CONV-418: is marked at the last tool that is offered, and at the last block of a turn that takes a marker", () => {
    const tool = (name: string) => ({ type: "function", function: { name } });
    const image_url = { url: "data:image/png;base64,iVBORw0KGgo=" };
    const { body } = sent("chat", {
      ...key,
      tools: ["look", "read", "write"].map(tool),
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: { mode: "auto", tools: ["look", "read"].map(tool) },
      },
      messages: [
        { role: "user", content: "Where?" },
        { role: "assistant", content: "Here." },
        {
          role: "user",
          content: [
            { type: "image_url", image_url },
            { type: "text", text: " " },
          ],
        },
        { role: "assistant", content: "It is" },
      ],
    });
    const { ends, marked } = new PromptCache().call(body);
    expect(ends).toMatchObject([{ name: "read" }, { text: "Where?" }, { type: "image" }]);
    expect(marked).toBe(5);
  });

  it.each([
    ["application/pdf", "JVBERi0="],
    ["text/csv", "YSxi"],
  ])(
    "CONV-605: has no marker right after a document (%s) at Bedrock, and still reads what was sent before",
    (type, data) => {
      const file = { type: "file", file: { file_data: `data:${type};base64,${data}` } };
      const text = { type: "text", text: "What is it?" };
      const user = (...content: object[]) => ({ role: "user", content });
      const turns = [user(text, file), user(file, text), user(file), user(text)].flatMap(
        (asked) => [asked, { role: "assistant", content: "A list." }],
      );
      const cache = new PromptCache();
      const calls = [1, 3, 5, 7].map((end) => {
        const body = {
          messages: [{ role: "system", content: "Be brief." }, ...turns.slice(0, end)],
        };
        return cache.call(sent("chat", { ...body, ...key }, "converse").body);
      });
      for (const [index, { marked }] of calls.slice(0, -1).entries())
        expect(calls[index + 1]!.read).toBeGreaterThanOrEqual(marked);
      expect(calls.at(-1)!.marked).toBe(calls.at(-1)!.blocks);
    },
  );

  it("T31: reports the key, which does not reach the vendor, and is kept for five minutes whatever the caller asks for", () => {
    for (const to of upstreams) {
      const asked = {
        instructions: "Be brief.",
        input: "Hi",
        ...key,
        prompt_cache_retention: "24h",
      };
      const { body, notes } = sent("responses", asked, to);
      expect(JSON.stringify(body)).not.toMatch(/session 1|1h|24h/);
      expect(markersIn(body)).toBe(1);
      expect(notes).toMatchObject([
        { param: "prompt_cache_key", kind: "rewritten" },
        { param: "prompt_cache_retention", kind: "dropped" },
      ]);
    }
  });
});

describe("without markers of the gateway", () => {
  const text = "Be brief.";
  const marker = { cache_control: { type: "ephemeral", ttl: "1h" } };
  const talk = (system: object, more: object = key) => ({
    messages: [
      system,
      { role: "user", content: "Where?" },
      { role: "assistant", content: "Here." },
      { role: "user", content: "And now?" },
    ],
    ...more,
  });
  const plain = { role: "system", content: text };

  it.each(upstreams)("CONV-605: is a caller at %s who set one itself: it stays alone", (to) => {
    const { body, notes } = sent("chat", talk({ ...plain, ...marker }), to);
    expect(markersIn(body)).toBe(1);
    expect(JSON.stringify(body["system"])).toContain('"ttl":"1h"');
    expect(notes).toMatchObject([{ param: "prompt_cache_key", kind: "dropped" }]);
  });

  it.each([
    ["without a key", {}, []],
    ["with an empty key", { prompt_cache_key: "" }, ["prompt_cache_key"]],
    [
      "who asks for no cache but where it says",
      { ...key, prompt_cache_options: { mode: "explicit" } },
      ["prompt_cache_key", "prompt_cache_options"],
    ],
  ])("CONV-418: is a caller %s", (_who, more, reported) => {
    const { body, notes } = sent("chat", talk(plain, more));
    expect(markersIn(body)).toBe(0);
    expect(notes.map(({ param, kind }) => [param, kind])).toEqual(
      reported.map((name) => [name, "dropped"]),
    );
  });

  it("CONV-217: is a model that caches by itself, or of whose cache nothing is known", () => {
    for (const to of [...upstreams, "generate_content"] as const) {
      const { body, notes } = routeOf("chat", to, { model: "acme/x", ...talk(plain) });
      expect(markersIn(body)).toBe(0);
      expect(notes).toMatchObject([{ param: "prompt_cache_key", kind: "dropped" }]);
    }
  });
});
