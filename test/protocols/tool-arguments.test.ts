/** What models write for a tool that takes nothing. Traps T2, T3. */
import { expect, it } from "vitest";
import { collect } from "../../src/protocols/canonical/collect.ts";
import type { CanonicalEvent } from "../../src/protocols/canonical/events.ts";
import { codecs } from "../../src/protocols/index.ts";
import { at } from "../rows/protocols.ts";
import { answerContext, encodeAll } from "./canonical/support.ts";

const callOf = (pieces: readonly string[]): CanonicalEvent[] => [
  { type: "start", protocol: "chat", id: "x", createdAt: 1 },
  { type: "tool_call_start", block: "c", id: "1", name: "now" },
  ...pieces.map((piece) => ({ type: "tool_call_delta", block: "c", arguments: piece }) as const),
  { type: "tool_call_end", block: "c" },
  { type: "finish", finish: { reason: "tool_calls" } },
];

/** The pieces of the input that a messages caller joins. */
const streamedTo = (events: readonly CanonicalEvent[]): string =>
  encodeAll(codecs.messages, events, answerContext)
    .map(({ data }) => JSON.parse(data).delta?.partial_json ?? "")
    .join("");

it.each([[["null"]], [["nu", "ll"]], [[" ", "null\n"]], [[]]])(
  "T2: %j are no arguments, whole and streamed",
  (pieces) => {
    const events = callOf(pieces);
    const whole = collect(events);
    const toMessages = codecs.messages.encodeResponse(whole, answerContext);
    expect(at(toMessages, "content", 0, "input")).toEqual({});
    const toGoogle = codecs.generate_content.encodeResponse(whole, answerContext);
    expect(at(toGoogle, "candidates", 0, "content", "parts", 0, "functionCall", "args")).toEqual(
      {},
    );
    expect(streamedTo(events)).toBe("");
  },
);

it.each([
  [["nul", 'l and {"a":1}'], 'null and {"a":1}'],
  [["n", "u"], "nu"],
  [[" ", '{"a":', " null}"], ' {"a": null}'],
])("T3: of %j nothing is lost", (pieces, joined) => {
  expect(streamedTo(callOf(pieces))).toBe(joined);
});
