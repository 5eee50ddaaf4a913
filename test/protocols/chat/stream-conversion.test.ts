/** Whole chat answers as streams, for callers who asked for a stream that the vendor did not send. Traps T14, T15. */
import { expect, it } from "vitest";
import type { Json, JsonObject } from "../../../src/protocols/canonical/request.ts";
import { chatCodec } from "../../../src/protocols/chat/index.ts";
import { contextFor, framesOf, sse } from "./support.ts";

const logprobs = {
  content: [{ token: "So", logprob: -0.1, bytes: null, top_logprobs: [] }],
  refusal: [{ token: "No", logprob: -0.2, bytes: null, top_logprobs: [] }],
};
const call = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };

it.each<[string, JsonObject]>([
  ["text", { content: "So" }],
  ["a refusal", { content: null, refusal: "No" }],
  ["text and a refusal", { content: "So", refusal: "No" }],
  ["text as parts", { content: [{ type: "text", text: "So" }] }],
  ["text and a call", { content: "So", tool_calls: [call] }],
  ["a call alone", { content: null, tool_calls: [call] }],
])("T14: log probabilities of a choice with %s are streamed exactly once", (_what, said) => {
  const answer = {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [
      { index: 0, message: { role: "assistant", ...said }, logprobs, finish_reason: "stop" },
    ],
  };
  const streamed = chatCodec.direct
    .framesOf(answer, contextFor())
    .filter(({ data }) => data !== "[DONE]")
    .flatMap(({ data }) => (JSON.parse(data) as { choices: { logprobs: Json }[] }).choices)
    .map((choice) => choice.logprobs)
    .filter((value) => value !== null);
  expect(streamed).toEqual([logprobs]);
});

const half = { id: "chatcmpl-1", choices: [{ index: 0, delta: { content: "Half" } }] };
const stop = { id: "chatcmpl-1", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
const boom = { error: { message: "boom", code: 500 } };

it.each<[string, readonly (JsonObject | string)[]]>([
  ["an error before its end marker", [half, boom, "[DONE]"]],
  ["an error after its finish reason", [half, stop, boom]],
  ["a frame that is not JSON", [half, "<html>", "[DONE]"]],
  [
    "a choice that ended with an error",
    [half, { choices: [{ finish_reason: "error" }] }, "[DONE]"],
  ],
])("T15 T60: a stream with %s is not collected into a whole answer", (_what, chunks) => {
  const { direct } = chatCodec;
  expect(direct.answerFromFrames(framesOf(sse(...chunks)))).toBeUndefined();
  expect(direct.answerFromFrames(framesOf(sse(half, stop, "[DONE]")))).toMatchObject({
    choices: [{ message: { content: "Half" }, finish_reason: "stop" }],
  });
});

it("T14: a call without arguments is streamed with an empty object, as in a whole answer", () => {
  const tool_calls = [{ id: "call_1", type: "function", function: { name: "f", arguments: null } }];
  const message = { role: "assistant", content: null, tool_calls };
  const answer = { id: "chatcmpl-1", choices: [{ index: 0, message, finish_reason: "stop" }] };
  const text = chatCodec.direct.framesOf(answer, contextFor()).map(({ data }) => data);
  expect(text.join("")).toContain('"function":{"name":"f","arguments":"{}"}');
});
