/** The arguments that models write for a tool without parameters. Traps T2, T3. */
import { expect, it } from "vitest";
import { collect } from "../../src/protocols/canonical/collect.ts";
import type { CanonicalEvent } from "../../src/protocols/canonical/events.ts";
import { codecs } from "../../src/protocols/index.ts";
import { objectIn } from "../../src/protocols/tool-arguments.ts";
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
const piecesTo = (events: readonly CanonicalEvent[]): string[] =>
  encodeAll(codecs.messages, events, answerContext).flatMap(
    ({ data }) => JSON.parse(data).delta?.partial_json ?? [],
  );
const streamedTo = (events: readonly CanonicalEvent[]): string => piecesTo(events).join("");

it.each([[["null"]], [["nu", "ll"]], [[" ", "null\n"]], [[]]])(
  "T2: %j are read as no arguments, whole and streamed",
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

it.each([[["nul", 'l and {"a":1}']], [["n", "u"]], [["[1", ",2]"]], [[' "a', '"']]])(
  "T3: %j are arguments that are not an object, equal whole and streamed",
  (pieces) => {
    const events = callOf(pieces);
    const text = pieces.join("");
    const whole = codecs.messages.encodeResponse(collect(events), answerContext);
    expect(at(whole, "content", 0, "input")).toEqual({ arguments: text });
    expect(JSON.parse(streamedTo(events))).toEqual({ arguments: text });
  },
);

it("T3: an object is forwarded in its pieces, except for its end", () => {
  expect(piecesTo(callOf([" ", '{"a":', " null}"]))).toEqual([' {"a":', " null", "}"]);
});

it.each([
  ['{"a":1} trailing', { a: null }],
  ['{"pattern":"\\d","path":"/"}', { pattern: null }],
  ['{"a":{"b":"cut', { a: null }],
])("T3: %s is not an object: the streamed input contains the whole text", (text, taken) => {
  const events = callOf([text.slice(0, 5), text.slice(5)]);
  const whole = codecs.messages.encodeResponse(collect(events), answerContext);
  expect(at(whole, "content", 0, "input")).toEqual({ arguments: text });
  expect(JSON.parse(streamedTo(events))).toEqual({ ...taken, arguments: text });
});

it.each([
  ['{"a":1}', { a: 1 }],
  ['\r\n\t {"a":1}\n', { a: 1 }],
  ["{}", {}],
  ['\u00a0{"a":1}', undefined],
  ['[{"a":1}]', undefined],
  ["1\t{", undefined],
  ["{", undefined],
  ["", undefined],
])("T3: the object in %j is found or missing", (text, object) => {
  expect(objectIn(text)).toEqual(object);
});

it("T3: a long text without an object is not read to its end", () => {
  const listing = `     1\t${"{ [ ".repeat(2_000_000)}`;
  const started = process.cpuUsage();
  for (let time = 0; time < 100; time += 1) expect(objectIn(listing)).toBeUndefined();
  const { user, system } = process.cpuUsage(started);
  expect(user + system).toBeLessThan(300_000);
});
