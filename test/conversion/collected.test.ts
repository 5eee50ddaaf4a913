/** Streams that are collected into whole answers, because the vendor streamed unasked: the same answer and charge as streamed. T15, T16. */
import { expect, it } from "vitest";
import type { JsonObject } from "../../src/protocols/index.ts";
import { framesOf, sse } from "../protocols/chat/support.ts";
import { routeOf } from "./route.ts";

const asked = { model: "acme/x", messages: [{ role: "user", content: "Hi" }] };
const streamOf = (...chunks: (JsonObject | string)[]) => framesOf(sse(...chunks));
const choice = (index: number, content: string): JsonObject => ({
  id: "c",
  choices: [{ index, delta: { content } }],
});
const end = (index: number, finish_reason: string): JsonObject => ({
  id: "c",
  choices: [{ index, delta: {}, finish_reason }],
});

it("T15 T16: a stream of which one of two choices broke off is no answer", () => {
  const route = routeOf("chat", "chat", { ...asked, n: 2 });
  const broken = streamOf(choice(0, "One"), choice(1, "Tw"), end(0, "stop"));
  expect(route.answerFromFrames(broken)).toBeUndefined();
  const whole = streamOf(choice(0, "One"), choice(1, "Two"), end(0, "stop"), end(1, "stop"));
  expect(route.answerFromFrames(whole)).toMatchObject({
    choices: [{ message: { content: "One" } }, { message: { content: "Two" } }],
  });
});

it.each(["abort", "network_error", "insufficient_system_resource"])(
  "T15 T16: an interrupted choice keeps its finish reason %s on the direct route",
  (reason) => {
    const frames = streamOf(choice(0, "Half"), end(0, reason), "[DONE]");
    expect(routeOf("chat", "chat", asked).answerFromFrames(frames)).toMatchObject({
      choices: [{ message: { content: "Half" }, finish_reason: reason }],
    });
  },
);
