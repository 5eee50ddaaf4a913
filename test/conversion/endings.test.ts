/** Answers that the vendor stopped or did not finish, in other protocols. CONV-709 to CONV-712; traps T16, T19, T60. */
import { describe, expect, it } from "vitest";
import { noUsage } from "../../src/base/usage.ts";
import type { JsonObject } from "../../src/protocols/index.ts";
import { at } from "../rows/protocols.ts";
import { json, sse } from "../support/recorder.ts";
import { routeOf } from "./route.ts";
import { byName, conversions, dataOf, names, type Body, type Name } from "./world.ts";

const world = conversions();

const bare = (...frames: object[]): string =>
  frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("");
const named = (...frames: { readonly type: string }[]): string =>
  frames.map((frame) => `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`).join("");

const google = (candidate: Body): Body => ({
  ...byName.generate_content.whole(),
  candidates: [{ index: 0, ...candidate }],
});
const said = (text: string): Body => ({ content: { role: "model", parts: [{ text }] } });

describe.each(names.filter((name) => name !== "generate_content"))("an answer to %s", (from) => {
  it.each(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"])(
    "T60: is an error if it ended in %s",
    async (finishReason) => {
      const answer = google({ finishReason, finishMessage: "Malformed function call: look(" });
      const { status } = await world.send(from, "generate_content", {}, json(answer));
      expect(status).toBe(502);
    },
  );

  it.each(["OTHER", "LANGUAGE", "NO_IMAGE", "A_NEW_WORD"])(
    "T60: is an error if it is empty and ended in %s, whole and streamed; with text it is an answer",
    async (finishReason) => {
      const thought = { content: { role: "model", parts: [{ text: "Hm.", thought: true }] } };
      for (const candidate of [{}, thought]) {
        const empty = google({ ...candidate, finishReason });
        const whole = await world.send(from, "generate_content", {}, json(empty));
        expect(whole.status).toBe(502);
        const { text } = await world.stream(from, "generate_content", {}, sse(bare(empty)));
        expect(text).toMatch(/"error":\{|"status":"failed"/);
        expect(text).not.toMatch(/"stop_reason":"|"finish_reason":"stop"|response\.completed/);
      }
      const words = json(google({ ...said("Yes."), finishReason }));
      const { status, answer } = await world.send(from, "generate_content", {}, words);
      expect([status, byName[from].textOf(answer)]).toEqual([200, "Yes."]);
    },
  );

  it("is valid if it is empty and ended with STOP", async () => {
    const answer = json(google({ finishReason: "STOP" }));
    const { status } = await world.send(from, "generate_content", {}, answer);
    expect(status).toBe(200);
  });

  it("T60: is an error if it is empty and has no finish reason", async () => {
    const { candidates: _none, ...answer } = byName.generate_content.whole();
    const { status } = await world.send(from, "generate_content", {}, json(answer));
    expect(status).toBe(502);
  });

  it("is valid if it has text and no finish reason, also as a stream", async () => {
    const words = json(google(said("Yes.")));
    const { status, answer } = await world.send(from, "generate_content", {}, words);
    expect([status, byName[from].textOf(answer)]).toEqual([200, "Yes."]);
    expect(JSON.stringify(answer)).not.toMatch(/"error":\{|"status":"failed"/);
    const { events } = await world.stream(from, "generate_content", {}, words);
    expect([byName[from].textOfFrames(events), byName[from].endsNormally(events)]).toEqual([
      "Yes.",
      true,
    ]);
  });

  it("T16: ends with an error in a stream after such a finish reason, and never normally", async () => {
    const frames = bare(
      google(said("Let me see.")),
      google({ finishReason: "MALFORMED_FUNCTION_CALL" }),
    );
    const { text } = await world.stream(from, "generate_content", {}, sse(frames));
    expect(text).toContain("Let me see.");
    expect(text).toMatch(/"error":\{|"status":"failed"/);
    expect(text).not.toMatch(/"stop_reason":"|"finish_reason":"stop"|response\.completed/);
  });

  it("T19: is truncated, not finished, if it could be continued", async () => {
    const answer = google({ ...said("So far"), finishReason: "CONTINUATION" });
    const { answer: got } = await world.send(from, "generate_content", {}, json(answer));
    expect(endOf[from](got)).toBe(
      { chat: "length", responses: "incomplete", messages: "max_tokens" }[from],
    );
  });
});

const chatAnswer = (reason: string): Body => ({
  ...byName.chat.whole(),
  choices: [{ index: 0, message: { role: "assistant", content: "So far" }, finish_reason: reason }],
});
const chatFrames = (reason: string): string =>
  bare(
    { id: "c", choices: [{ index: 0, delta: { content: "So far" } }] },
    { id: "c", choices: [{ index: 0, delta: {}, finish_reason: reason }] },
  );

describe.each(["responses", "messages", "generate_content"] as const)(
  "finish reasons of chat vendors, to a %s caller",
  (from) => {
    const cut = { responses: "incomplete", messages: "max_tokens", generate_content: "MAX_TOKENS" };
    const held = { responses: "incomplete", messages: "refusal", generate_content: "SAFETY" };

    it.each([
      ["model_length", cut],
      [
        "model_context_window_exceeded",
        // The messages protocol has this reason itself.
        { ...cut, messages: "model_context_window_exceeded" },
      ],
      ["sensitive", held],
      ["content_filter: RECITATION", held],
    ])("T19: include %s, which is not a normal end", async (reason, ends) => {
      const { answer } = await world.send(from, "chat", {}, json(chatAnswer(reason)));
      expect(chatEndOf[from](answer)).toBe(ends[from]);
      const { text } = await world.stream(from, "chat", {}, sse(chatFrames(reason)));
      expect(text).toContain(`"${ends[from]}"`);
    });

    it.each([
      "insufficient_system_resource",
      "network_error",
      "abort",
      "function_call_filter: MALFORMED_FUNCTION_CALL",
    ])("T16 T60: include %s, which is an error", async (reason) => {
      const { status } = await world.send(from, "chat", {}, json(chatAnswer(reason)));
      expect(status).toBe(502);
      const { text } = await world.stream(from, "chat", {}, sse(chatFrames(reason)));
      expect(text).toContain("So far");
      expect(text).toMatch(/"error":\{|"status":"failed"/);
      expect(text).not.toMatch(/"stop_reason":"|"finishReason":"|response\.completed/);
    });
  },
);

const chatEndOf: Readonly<Record<Exclude<Name, "chat">, (answer: Body) => unknown>> = {
  responses: (answer) => answer["status"],
  messages: (answer) => answer["stop_reason"],
  generate_content: (answer) => at(answer, "candidates", 0, "finishReason"),
};

const endOf: Readonly<Record<Exclude<Name, "generate_content">, (answer: Body) => unknown>> = {
  chat: (answer) => at(answer, "choices", 0, "finish_reason"),
  responses: (answer) => answer["status"],
  messages: (answer) => answer["stop_reason"],
};

it("T60: a malformed call is reported as the model's own failure, whole and streamed", () => {
  const route = routeOf("chat", "generate_content", byName.chat.body("acme/x", false));
  const answer = google({ finishReason: "UNEXPECTED_TOOL_CALL" });
  expect(route.failure(answer as JsonObject)).toMatchObject({ isModels: true });
  const tap = route.tap();
  tap.push({ data: JSON.stringify(answer) });
  tap.end!();
  expect(tap.seen.error).toMatchObject({ isModels: true });
  expect(route.failure({ error: { code: 500, message: "Down." } })?.isModels).toBeUndefined();
});

describe("the vendor's explanation of a stop", () => {
  const explanation = "This request was blocked under the usage policy.";
  const message = { ...byName.messages.whole(), content: [] };
  const stop = {
    stop_reason: "refusal",
    stop_sequence: null,
    stop_details: { type: "refusal", category: "cyber", explanation },
  };
  const { usage } = message as { usage?: unknown };
  const refused: readonly { to: Name; whole: Body; frames: string }[] = [
    {
      to: "messages",
      whole: { ...message, ...stop },
      frames: named(
        { type: "message_start", message: { ...message, stop_reason: null } } as never,
        { type: "message_delta", delta: stop, usage } as never,
        { type: "message_stop" },
      ),
    },
    ...[
      google({ finishReason: "SAFETY", finishMessage: explanation }),
      {
        promptFeedback: { blockReason: "PROHIBITED_CONTENT", blockReasonMessage: explanation },
        usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 },
      },
    ].map((whole) => ({ to: "generate_content", whole, frames: bare(whole) }) as const),
  ];
  const cases = refused.flatMap((one, at) =>
    names.filter((from) => from !== one.to).map((from) => ({ ...one, from, at })),
  );
  const reads: Readonly<Record<Name, (answer: Body) => unknown>> = {
    chat: (answer) => at(answer, "choices", 0, "message", "refusal"),
    responses: (answer) => at(answer, "output", 0, "content", 0, "refusal"),
    messages: (answer) => at(answer, "stop_details", "explanation"),
    generate_content: (answer) => at(answer, "candidates", 0, "finishMessage"),
  };

  it.each(cases)(
    "CONV-709: is passed on from a $to upstream ($at) to a $from caller",
    async ({ to, from, whole, frames }) => {
      const { status, answer } = await world.send(from, to, {}, json(whole));
      expect([status, reads[from](answer)]).toEqual([200, explanation]);
      const { events } = await world.stream(from, to, {}, sse(frames));
      expect(JSON.stringify(dataOf(events))).toContain(explanation);
    },
  );
});

describe.each(names)("a chat answer to a %s caller", (from) => {
  it.each([[[null]], [[[]]], [["said"]]])(
    "T60: counts as a failure of its provider if its choices are empty (%j)",
    (choices) => {
      const route = routeOf(from, "chat", byName[from].body("acme/x", false));
      const answer = { ...byName.chat.whole(), choices } as JsonObject;
      expect(route.failure(answer)).toBeDefined();
    },
  );
});

describe.each(names.filter((name) => name !== "responses"))(
  "a responses answer to a %s caller",
  (from) => {
    it.each<[Body]>([
      [{ status: "queued" }],
      [{ status: "in_progress" }],
      [{ error: { message: "no" } }],
    ])("T60: counts as a failure of its provider with %j", (odd) => {
      const route = routeOf(from, "responses", byName[from].body("acme/x", false));
      const answer = { ...byName.responses.whole(), ...odd } as JsonObject;
      expect(route.failure(answer)).toMatchObject({ message: expect.any(String) });
    });
  },
);

describe("CONV-717: an answer that ended for its calls, but has none, ends plainly", () => {
  const chatWhole = { choices: [{ message: { content: "Yes." }, finish_reason: "tool_calls" }] };
  const claude = { stop_reason: "tool_use", content: [{ type: "text", text: "Yes." }] };

  it("in a whole answer", () => {
    const body = byName.messages.body("acme/x", false);
    const toClaude = routeOf("messages", "chat", body).answer(chatWhole, [], noUsage);
    expect(toClaude).toMatchObject({ stop_reason: "end_turn" });
    const route = routeOf("chat", "messages", byName.chat.body("acme/x", false));
    const choices = [{ finish_reason: "stop" }];
    expect(route.answer(claude, [], noUsage)).toMatchObject({ choices });
  });

  it("in a stream", async () => {
    const chunk = (delta: Body, finish_reason: string | null) => ({
      id: "1",
      choices: [{ index: 0, delta, finish_reason }],
    });
    const frames = bare(chunk({ content: "Yes." }, null), chunk({}, "tool_calls"));
    const { text } = await world.stream("messages", "chat", {}, sse(`${frames}data: [DONE]\n\n`));
    expect(text).toContain('"stop_reason":"end_turn"');
  });
});
