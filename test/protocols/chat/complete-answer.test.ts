/** Whole answers of a direct chat route that lack what typed clients require. TXT-10. */
import { expect, it } from "vitest";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { chatCodec } from "../../../src/protocols/chat/index.ts";
import { contextFor, dataOf, framesOf, sse, tapped } from "./support.ts";

const answered = (answer: JsonObject): JsonObject => chatCodec.direct.answer(answer, "acme/talk");

it("TXT-10: a whole answer has an id, a kind, a time and numbers, roles and reasons of its choices", () => {
  const calls = [{ id: "a", type: "function", function: { name: "x", arguments: "{}" } }];
  const choices: JsonObject[] = [
    { message: { role: "", content: "Hi" } },
    { message: { role: null, tool_calls: calls }, finish_reason: "" },
    { message: { function_call: { name: "x", arguments: "{}" } }, finish_reason: null },
  ];
  expect(answered({ choices })).toEqual({
    id: expect.stringMatching(/^chatcmpl-./) as string,
    object: "chat.completion",
    created: 0,
    model: "acme/talk",
    choices: [
      { index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" },
      { index: 1, message: { role: "assistant", tool_calls: calls }, finish_reason: "tool_calls" },
      {
        index: 2,
        message: { role: "assistant", function_call: { name: "x", arguments: "{}" } },
        finish_reason: "function_call",
      },
    ],
  });
});

it("TXT-10: a vendor's own finish reason gets the protocol's word, and stays beside it", () => {
  const ended = (finish: string) => ({
    index: 0,
    message: { content: "Hi" },
    finish_reason: finish,
  });
  const reasons = [
    "sensitive",
    "MAX_TOKENS",
    "model_length",
    "eos",
    "eos_token",
    "end_turn",
    "refusal",
    "insufficient_system_resource",
    "of_its_own",
  ];
  const { choices } = answered({ id: "up1", choices: reasons.map(ended) });
  expect(choices).toMatchObject([
    { finish_reason: "content_filter", native_finish_reason: "sensitive" },
    { finish_reason: "length", native_finish_reason: "MAX_TOKENS" },
    { finish_reason: "length", native_finish_reason: "model_length" },
    // Together's, TGI's, and those of Claude behind gateways.
    { finish_reason: "stop", native_finish_reason: "eos" },
    { finish_reason: "stop", native_finish_reason: "eos_token" },
    { finish_reason: "stop", native_finish_reason: "end_turn" },
    { finish_reason: "content_filter", native_finish_reason: "refusal" },
    // Interrupted, or unknown: no word of the protocol says that.
    { finish_reason: "insufficient_system_resource" },
    { finish_reason: "of_its_own" },
  ]);
});

it("TXT-10: calls without ids get ids that differ between the choices of an answer", () => {
  const calling = () => ({
    message: { content: null, tool_calls: [{ function: { name: "x", arguments: "{}" } }] },
    finish_reason: "tool_calls",
  });
  const { choices } = answered({ id: "up1", choices: [calling(), calling()] });
  const ids = (choices as { message: { tool_calls: { id: string }[] } }[]).map(
    ({ message }) => message.tool_calls[0]!.id,
  );
  expect(ids).toEqual(["call_up1_0", "call_up1_1_0"]);
});

it.each([
  ["auto", "stop", { finish_reason: "tool_calls", native_finish_reason: "stop" }],
  ["auto", "STOP", { finish_reason: "tool_calls", native_finish_reason: "STOP" }],
  ["auto", "length", { finish_reason: "length" }],
  // As some clients write "auto", and vendors take it.
  [{ type: "auto" }, "stop", { finish_reason: "tool_calls", native_finish_reason: "stop" }],
  // OpenAI itself says so.
  [{ type: "function", function: { name: "x" } }, "stop", { finish_reason: "stop" }],
  [{ type: "custom", custom: { name: "x" } }, "stop", { finish_reason: "stop" }],
])(
  "T11: calls have the reason for calls, as agents' loops require: %j, %s",
  (choice, said, told) => {
    const calls = [{ id: "a", type: "function", function: { name: "x", arguments: "{}" } }];
    const message = { role: "assistant", content: null, tool_calls: calls };
    const answer = { id: "up1", choices: [{ index: 0, message, finish_reason: said }] };
    const { choices } = chatCodec.direct.answer(answer, "acme/talk", { tool_choice: choice });
    expect(choices).toEqual([{ index: 0, message, ...told }]);
  },
);

it.each([
  [["srvtoolu_1"], "stop"],
  [["srvtoolu_1", "toolu_2"], "tool_calls"],
])(
  "T11: calls that Claude's servers made are not the caller's, as LiteLLM lists them: %j",
  (ids, told) => {
    const calls = ids.map((id) => ({
      id,
      type: "function",
      function: { name: "f", arguments: "{}" },
    }));
    const message = { role: "assistant", content: "Noon.", tool_calls: calls };
    const whole = answered({ id: "up1", choices: [{ index: 0, message, finish_reason: "stop" }] });
    expect(whole["choices"]).toMatchObject([{ finish_reason: told }]);
    const deltas = [...calls.map((call, index) => ({ tool_calls: [{ ...call, index }] })), {}];
    const chunks = deltas.map((delta, at) => ({
      id: "up1",
      choices: [{ index: 0, delta, finish_reason: at < calls.length ? null : "stop" }],
    }));
    const { tap, passed } = tapped(chatCodec.direct, framesOf(sse(...chunks, "[DONE]")));
    expect(dataOf([...passed, ...tap.release()]).at(-2)).toMatchObject({
      choices: [{ finish_reason: told }],
    });
  },
);

it("TXT-10: members that a whole answer has stay", () => {
  const message = { role: "assistant", content: "Hi", refusal: null };
  const whole = {
    id: "up1",
    object: "chat.completion",
    created: 17,
    choices: [{ index: 0, message, finish_reason: "of_its_own", native: 1 }],
  };
  expect(answered(structuredClone(whole))).toEqual({ ...whole, model: "acme/talk" });
});

it("TXT-10 T4: numbers as ids of a whole answer and its calls become texts", () => {
  const called = (id: number | string) => ({ id, type: "function", function: { name: "x" } });
  const message = { role: "assistant", content: null, tool_calls: [called(0), called("b")] };
  const answer = { id: 17, choices: [{ index: 0, message, finish_reason: "tool_calls" }] };
  expect(answered(structuredClone(answer))).toMatchObject({
    id: "17",
    choices: [{ message: { tool_calls: [called("0"), called("b")] } }],
  });
});

it.each([[null], [[]]])(
  "TXT-10: calls of %j, as Mistral and vLLM send them, are left out: agents of n8n and others read that as calls",
  (calls) => {
    const message = { role: "assistant", content: "Hi" };
    const ended = { index: 0, finish_reason: "stop" };
    const { choices } = answered({
      choices: [{ ...ended, message: { ...message, tool_calls: calls } }],
    });
    expect(choices).toEqual([{ ...ended, message }]);
  },
);

it("TXT-10: calls of a whole answer have an id, a type and arguments as text", () => {
  const calls: JsonObject[] = [
    { id: "D681", function: { name: "x", arguments: "{}" }, index: 0 },
    { id: "", type: "", function: { name: "x", arguments: { p: 1 } } },
    { id: "b", type: "function", function: { name: "y" } },
    { id: "c", custom: { name: "z", input: "text" } },
  ];
  const message = { role: "assistant", content: "", tool_calls: calls };
  const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
  expect(answered({ id: "up1", choices })).toMatchObject({
    choices: [
      {
        message: {
          tool_calls: [
            { id: "D681", type: "function", function: { name: "x", arguments: "{}" }, index: 0 },
            { id: "call_up1_1", type: "function", function: { name: "x", arguments: '{"p":1}' } },
            { id: "b", type: "function", function: { name: "y", arguments: "{}" } },
            { id: "c", type: "custom", custom: { name: "z", input: "text" } },
          ],
        },
      },
    ],
  });
});

it.each([
  ["on_demand", undefined],
  ["standard", undefined],
  ["flex", "flex"],
  [null, null],
])("TXT-10: only service tiers of OpenAI pass, others break strict clients: %j", (tier, passed) => {
  const message = { role: "assistant", content: "Hi" };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  expect(answered({ id: "up1", service_tier: tier, choices })["service_tier"]).toBe(passed);
});

it.each([
  [1_746_709_563.492141, 1_746_709_563],
  [1_746_709_563_492, 1_746_709_563],
  ["1746709563", 1_746_709_563],
  [null, 0],
  ["2026-11-30", 0],
  [1_746_709_563, 1_746_709_563],
])(
  "TXT-10: the time %j of an answer is in whole seconds, as typed clients require",
  (time, seconds) => {
    expect(answered({ id: "up1", created: time, choices: [] })["created"]).toBe(seconds);
  },
);

const thought = { type: "thinking", thinking: [{ type: "text", text: "Hm." }] };

it("TXT-10: a list of Mistral's thoughts, texts and references is a text, with the thoughts beside it", () => {
  const reference = { type: "reference", reference_ids: [1] };
  const texts = ["It is ", "noon."].map((text) => ({ type: "text", text }));
  const content = [thought, texts[0]!, reference, texts[1]!];
  const answer = { id: "up1", created: 17, choices: [{ message: { role: "assistant", content } }] };
  expect(answered(answer)["choices"]).toMatchObject([
    { message: { role: "assistant", content: "It is noon.", reasoning_content: "Hm." } },
  ]);
});

it("TXT-10: thoughts in one text, in the form of Claude, are not lost", () => {
  const content: JsonObject[] = [
    { type: "thinking", thinking: "Hm." },
    { type: "text", text: "Noon." },
  ];
  expect(answered({ id: "up1", choices: [{ message: { content } }] })["choices"]).toMatchObject([
    { message: { content: "Noon.", reasoning_content: "Hm." } },
  ]);
});

it.each<JsonObject>([
  { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
  { type: "reasoning", summary: [{ type: "summary_text", text: "Hm.", signature: "s" }] },
  { type: "thinking", thinking: "Hm.", signature: "s" },
])("TXT-10: a list that is more than text stays: %j", (part) => {
  const content = [part, { type: "text", text: "Hi" }];
  const { choices } = answered({ id: "up1", choices: [{ message: { content } }] });
  expect(choices).toMatchObject([{ message: { content } }]);
});

it("TXT-10: a whole answer that is sent as a stream is completed too", () => {
  const message = { content: [thought, { type: "text", text: "Noon." }] };
  const answer = { id: "up1", created: 1.5, choices: [{ message, finish_reason: "eos" }] };
  const chunks = dataOf(chatCodec.direct.framesOf(answer, contextFor())).slice(0, -1);
  for (const chunk of chunks) expect(chunk).toMatchObject({ id: "up1", created: 1 });
  const told = JSON.stringify(chunks);
  expect(told).toContain('{"reasoning_content":"Hm."}');
  expect(told).toContain('{"content":"Noon."}');
});

it("T21: calls with one id, as LocalAI sends them, get their own", () => {
  const called = { id: "up1", type: "function", function: { name: "f", arguments: "{}" } };
  const message = { role: "assistant", content: null, tool_calls: [called, { ...called }] };
  const answer = { id: "up1", choices: [{ index: 0, message, finish_reason: "tool_calls" }] };
  expect(answered(structuredClone(answer))).toMatchObject({
    choices: [{ message: { tool_calls: [called, { ...called, id: "call_up1_1" }] } }],
  });
});
