/** Vendors of messages and generateContent that write arguments as JSON text, and errors without a type. T3. */
import { describe, expect, it } from "vitest";
import { formatSse } from "../../src/base/sse.ts";
import { collect } from "../../src/protocols/canonical/collect.ts";
import { codecs, type JsonObject } from "../../src/protocols/index.ts";
import { decodeAll, framesOf } from "./canonical/support.ts";

const text = '{"city":"Rome"}';
const stop_reason = "tool_use";
const usage = { input_tokens: 1, output_tokens: 2 };
const message = { id: "m", type: "message", role: "assistant", content: [], usage };

const streamed = (name: "messages" | "generate_content", ...frames: JsonObject[]) => {
  const bytes = frames.map((frame) => formatSse({ data: JSON.stringify(frame) })).join("");
  return decodeAll(codecs[name], framesOf(Buffer.from(bytes)));
};

describe("arguments that are JSON text", () => {
  it("T3: are the call's in a message, whole and streamed", () => {
    const block = { type: "tool_use", id: "a", name: "look", input: text };
    const { content } = codecs.messages.decodeResponse({
      ...message,
      content: [block],
      stop_reason,
    });
    const events = streamed(
      "messages",
      { type: "message_start", message },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason }, usage },
      { type: "message_stop" },
    );
    for (const parts of [content, collect(events).content])
      expect(parts).toMatchObject([{ name: "look", arguments: text }]);
  });

  it("T3: are the call's in generateContent, whole and streamed", () => {
    const parts = [{ functionCall: { name: "look", args: text } }];
    const answer = { candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }] };
    const { content } = codecs.generate_content.decodeResponse(answer);
    for (const said of [content, collect(streamed("generate_content", answer)).content])
      expect(said).toMatchObject([{ name: "look", arguments: text }]);
  });
});

it("an error without a type breaks a stream of messages, whatever follows", () => {
  const events = streamed(
    "messages",
    { type: "message_start", message },
    { error: { message: "boom" } },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
    { type: "message_stop" },
  );
  expect(events.at(-1)).toMatchObject({ type: "error", message: "boom" });
});
