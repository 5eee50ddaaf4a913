/** White space in answers to callers of messages. Trap T25. */
import { describe, expect, it } from "vitest";
import { collect } from "../../../src/protocols/canonical/collect.ts";
import type { CanonicalEvent } from "../../../src/protocols/canonical/events.ts";
import { messagesCodec } from "../../../src/protocols/messages/index.ts";
import { answerContext, encodeAll } from "../canonical/support.ts";

const dataOf = (events: readonly CanonicalEvent[]) =>
  encodeAll(messagesCodec, events, answerContext).map((frame) => JSON.parse(frame.data));
const start = { type: "start", id: "x", createdAt: 1 } as const;
const finish: CanonicalEvent = { type: "finish", finish: { reason: "stop" } };

describe("blank text in messages", () => {
  it.each([
    ["chat", "text", ["tool_use"]],
    ["chat", "refusal", ["tool_use"]],
    ["messages", "text", ["text", "tool_use"]],
  ] as const)(
    "T25: is no block on its own, unless it is the vendor's own (%s, %s)",
    (protocol, kind, kinds) => {
      const events: CanonicalEvent[] = [
        { ...start, protocol },
        { type: `${kind}_start`, block: "t" },
        { type: `${kind}_delta`, block: "t", text: "\n" },
        { type: `${kind}_delta`, block: "t", text: " \n" },
        { type: `${kind}_end`, block: "t" },
        { type: "tool_call_start", block: "c", id: "1", name: "f" },
        { type: "tool_call_end", block: "c" },
        { type: "finish", finish: { reason: "tool_calls" } },
      ];
      const begun = dataOf(events).filter(({ type }) => type === "content_block_start");
      expect(begun.map((frame) => frame.content_block.type)).toEqual(kinds);
      const { content } = messagesCodec.encodeResponse(collect(events), answerContext);
      expect((content as { type: string }[]).map(({ type }) => type)).toEqual(kinds);
    },
  );

  it("T25: at the start of a text is sent with the text", () => {
    const frames = dataOf([
      { ...start, protocol: "chat" },
      { type: "text_start", block: "t" },
      ...["\n", "\n", "Hi", " ", "there"].map((piece): CanonicalEvent => ({
        type: "text_delta",
        block: "t",
        text: piece,
      })),
      { type: "text_end", block: "t" },
      finish,
    ]);
    const pieces = frames.flatMap((frame) => frame.delta?.text ?? []);
    expect(pieces).toEqual(["\n\nHi", " ", "there"]);
  });
});
