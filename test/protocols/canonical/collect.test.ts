import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/base/errors.ts";
import { collect, toEvents } from "../../../src/protocols/canonical/collect.ts";
import type { CanonicalEvent } from "../../../src/protocols/canonical/events.ts";
import { grammarFaults } from "../../support/grammar.ts";
import type { CanonicalResponse } from "../../../src/protocols/canonical/response.ts";

const signature = fc.record({
  protocol: fc.constantFrom("messages" as const, "generate_content" as const),
  value: fc.string(),
});
const part = fc.oneof(
  fc.record({ type: fc.constant("text" as const), text: fc.string() }),
  fc.record({ type: fc.constant("refusal" as const), text: fc.string() }),
  fc.record(
    {
      type: fc.constant("reasoning" as const),
      text: fc.string(),
      summary: fc.boolean(),
      signature,
    },
    { requiredKeys: ["type", "text"] },
  ),
  fc.record(
    {
      type: fc.constant("tool_call" as const),
      id: fc.string(),
      name: fc.string(),
      arguments: fc.string(),
      signature,
    },
    { requiredKeys: ["type", "id", "name", "arguments"] },
  ),
);
const response: fc.Arbitrary<CanonicalResponse> = fc.record(
  {
    protocol: fc.constantFrom("chat" as const, "messages" as const),
    id: fc.string(),
    createdAt: fc.nat(),
    content: fc.array(part),
    finish: fc.record({ reason: fc.constantFrom("stop" as const, "length" as const) }),
    usage: fc.record({
      inputTokens: fc.nat(),
      cacheReadTokens: fc.nat(),
      cacheWriteTokens: fc.nat(),
      cacheWrite1hTokens: fc.nat(),
      outputTokens: fc.nat(),
      reasoningTokens: fc.nat(),
    }),
  },
  { requiredKeys: ["protocol", "id", "createdAt", "content", "finish"] },
);

describe("collect and toEvents", () => {
  it("T14 T15: a whole answer that becomes a stream adds up to the same answer", () => {
    fc.assert(
      fc.property(response, (whole) => {
        expect(collect(toEvents(whole))).toEqual(whole);
      }),
    );
  });

  it("T14: the stream of a whole answer has the legal order", () => {
    fc.assert(
      fc.property(response, (whole) => {
        expect(grammarFaults(toEvents(whole))).toEqual([]);
      }),
    );
  });

  it("T15: interleaved blocks are collected in the order of their starts", () => {
    const events: CanonicalEvent[] = [
      { type: "start", protocol: "chat", id: "a", createdAt: 1 },
      { type: "tool_call_start", block: "x", id: "1", name: "f" },
      { type: "tool_call_start", block: "y", id: "2", name: "g" },
      { type: "tool_call_delta", block: "y", arguments: "{}" },
      { type: "tool_call_delta", block: "x", arguments: '{"a":' },
      { type: "tool_call_delta", block: "x", arguments: "1}" },
      { type: "tool_call_end", block: "y" },
      { type: "tool_call_end", block: "x" },
      { type: "finish", finish: { reason: "tool_calls" } },
    ];
    expect(collect(events).content).toEqual([
      { type: "tool_call", id: "1", name: "f", arguments: '{"a":1}' },
      { type: "tool_call", id: "2", name: "g", arguments: "{}" },
    ]);
  });

  it("T16: a stream that broke off is an error", () => {
    const start: CanonicalEvent = { type: "start", protocol: "chat", id: "a", createdAt: 1 };
    expect(() => collect([start])).toThrow(GatewayError);
    expect(() => collect([start, { type: "error", message: "Overloaded" }])).toThrow("Overloaded");
  });
});

describe("the grammar of canonical events", () => {
  const start: CanonicalEvent = { type: "start", protocol: "chat", id: "a", createdAt: 1 };
  const finish: CanonicalEvent = { type: "finish", finish: { reason: "stop" } };
  const text: CanonicalEvent = { type: "text_start", block: "1" };
  const cases: [string, CanonicalEvent[], string][] = [
    ["nothing", [], "neither finish nor error"],
    ["no start", [text], "before start"],
    ["two starts", [start, start, finish], "second start"],
    ["a block left open", [start, text, finish], "still open: 1"],
    ["a block twice", [start, text, text], "began twice"],
    [
      "a delta without a block",
      [start, { type: "text_delta", block: "1", text: "" }],
      "never began",
    ],
    ["a delta of another kind", [start, text, { type: "reasoning_end", block: "1" }], "is text"],
    [
      "a delta after the end of its block",
      [start, text, { type: "text_end", block: "1" }, { type: "text_end", block: "1" }],
      "has ended",
    ],
    ["events after the finish", [start, finish, finish], "after the end"],
  ];
  it.each(cases)("finds %s", (_, events, fault) => {
    expect(grammarFaults(events).join("; ")).toContain(fault);
  });

  it("allows an upstream to fail before it begins", () => {
    expect(grammarFaults([{ type: "error", message: "Overloaded" }])).toEqual([]);
  });
});
