/** Searches that Claude's servers made, which LiteLLM lists among the calls of a chat answer: callers must not make them. T11. */
import { expect, it } from "vitest";
import { noUsage } from "../../src/base/usage.ts";
import type { JsonObject } from "../../src/protocols/index.ts";
import { framesOf, sse } from "../protocols/chat/support.ts";
import { routeOf } from "./route.ts";

const search = "srvtoolu_1";
const call = (id: string, index: number): JsonObject => ({
  index,
  id,
  type: "function",
  function: { name: "look", arguments: '{"at":"it"}' },
});

const asked = {
  messages: { model: "acme/x", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
  responses: { model: "acme/x", input: "Hi" },
  generate_content: { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
} as const;

const ended = {
  messages: ['"stop_reason":"end_turn"', '"stop_reason":"tool_use"'],
  responses: ['"status":"completed"', '"type":"function_call"'],
  generate_content: ['"finishReason":"STOP"', '"functionCall":'],
} as const;

const cases = (["messages", "responses", "generate_content"] as const).flatMap((caller) => [
  { caller, ids: [search], isCalling: 0 as const },
  { caller, ids: [search, "toolu_2"], isCalling: 1 as const },
]);

it.each(cases)("T11: $caller callers do not get them: $ids", ({ caller, ids, isCalling }) => {
  const message = { role: "assistant", content: "Found.", tool_calls: ids.map(call) };
  const whole = { id: "c", choices: [{ index: 0, message, finish_reason: "stop" }] };
  const told = routeOf(caller, "chat", asked[caller]).answer(whole, [], noUsage);
  const { content, ...beside } = message;
  const delta = (said: JsonObject, finish_reason: string | null = null): JsonObject => ({
    id: "c",
    choices: [{ index: 0, delta: said, finish_reason }],
  });
  const chunks = [delta(beside), delta({ content }), delta({}, "stop"), "[DONE]"];
  const tap = routeOf(caller, "chat", asked[caller], { stream: true }).tap();
  const streamed = framesOf(sse(...chunks)).flatMap((frame) => tap.push(frame));
  const text = [...streamed, ...tap.release()].map(({ data }) => data).join("\n");
  for (const answer of [JSON.stringify(told), text]) {
    expect(answer).toContain("Found.");
    expect(answer).toContain(ended[caller][isCalling]);
    expect(answer).not.toContain(search);
    expect(answer.includes("look")).toBe(isCalling === 1);
  }
});
