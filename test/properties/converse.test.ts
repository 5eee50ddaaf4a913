// Random answers of Converse, whole and streamed, converted for callers of every protocol. Nothing is lost that Converse itself
// reports, and the result is valid wherever the stream is cut.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SseEvent } from "../../src/base/sse.ts";
import type { Usage } from "../../src/base/usage.ts";
import { collect } from "../../src/protocols/canonical/collect.ts";
import type { CanonicalEvent } from "../../src/protocols/canonical/events.ts";
import { grammarFaults } from "../support/grammar.ts";
import type { Part } from "../../src/protocols/canonical/request.ts";
import { converseCodec as codec } from "../../src/protocols/converse/index.ts";
import {
  codecs,
  createRoute,
  protocolNames,
  type JsonObject,
  type ProtocolName,
} from "../../src/protocols/index.ts";
import { relayed } from "../transcripts/directions.ts";
import { readers } from "../transcripts/readers/index.ts";
import { someAnswer, type RandomAnswer } from "./answers.ts";
import { said, saidApart } from "./said.ts";

const unsigned = (parts: readonly Part[]): Part[] =>
  parts.map((part) => ("signature" in part ? { ...part, signature: undefined } : part));

/** Converse does not report reasoning tokens. */
const usageThere = (usage: Usage | undefined): Usage | undefined =>
  usage && { ...usage, reasoningTokens: 0 };

const stops = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "guardrail_intervened",
  error: "malformed_model_output",
} as const;

const frame = (event: string, data: object): SseEvent => ({ event, data: JSON.stringify(data) });

function usageWire(usage: Usage): object {
  const { cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens, outputTokens } = usage;
  const inputTokens = usage.inputTokens - cacheReadTokens - cacheWriteTokens;
  return {
    inputTokens,
    outputTokens,
    totalTokens: usage.inputTokens + outputTokens,
    cacheReadInputTokens: cacheReadTokens,
    cacheWriteInputTokens: cacheWriteTokens,
    cacheDetails: [{ ttl: "1h", inputTokens: cacheWrite1hTokens }],
  };
}

/** The stream in the vendor's format, written from its description. */
function streamOf({ events }: RandomAnswer): SseEvent[] {
  const indexes = new Map<string, number>();
  const frames: SseEvent[] = [frame("messageStart", { role: "assistant", p: "abc" })];
  let usage: Usage | undefined;
  const deltaOf = (event: CanonicalEvent): object | undefined => {
    if (event.type === "text_delta" || event.type === "refusal_delta") return { text: event.text };
    if (event.type === "reasoning_delta") return { reasoningContent: { text: event.text } };
    return event.type === "tool_call_delta" ? { toolUse: { input: event.arguments } } : undefined;
  };
  for (const event of events) {
    if (event.type === "usage") ({ usage } = event);
    if (event.type === "finish")
      frames.push(frame("messageStop", { stopReason: stops[event.finish.reason] }));
    if (!("block" in event)) continue;
    if (event.type.endsWith("_start")) indexes.set(event.block, indexes.size);
    const contentBlockIndex = indexes.get(event.block)!;
    if (event.type === "tool_call_start") {
      const toolUse = { toolUseId: event.id, name: event.name };
      frames.push(frame("contentBlockStart", { start: { toolUse }, contentBlockIndex }));
    }
    const delta = deltaOf(event);
    if (delta) frames.push(frame("contentBlockDelta", { delta, contentBlockIndex }));
    if (event.type.endsWith("_end")) frames.push(frame("contentBlockStop", { contentBlockIndex }));
  }
  const usageMember = usage ? { usage: usageWire(usage) } : {};
  return [...frames, frame("metadata", { ...usageMember, metrics: { latencyMs: 1 } })];
}

function read(frames: readonly SseEvent[]): CanonicalEvent[] {
  const decoder = codec.decodeStream();
  const events = frames.flatMap((one) => decoder.push(one));
  return [...events, ...decoder.end({ kind: "complete" })];
}

const requests: Readonly<Record<ProtocolName, JsonObject>> = {
  chat: {
    messages: [{ role: "user", content: "Hi" }],
    stream: true,
    stream_options: { include_usage: true },
  },
  responses: { input: "Hi", stream: true },
  messages: { max_tokens: 9, messages: [{ role: "user", content: "Hi" }], stream: true },
  generate_content: { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
};

const routeFor = (caller: ProtocolName) =>
  createRoute({
    caller: codecs[caller],
    upstream: codec,
    body: { model: "acme/talk", ...structuredClone(requests[caller]) },
    stream: true,
    requestedModel: "acme/talk",
    model: "acme/talk",
    upstreamModel: "meta.llama",
    maxOutputTokens: 8000,
    inputEstimate: 7,
    id: "01abc",
    createdAt: 1,
  });

describe("the Converse codec", () => {
  it("reads a whole answer back as it was written", () => {
    fc.assert(
      fc.property(someAnswer, (answer) => {
        const before = collect(answer.events);
        const wire = codec.encodeResponse(before, {
          model: "",
          id: "",
          createdAt: 0,
          inputEstimate: 0,
          request: {
            protocol: "chat",
            model: "",
            stream: false,
            native: [],
            names: {},
          },
        });
        const after = codec.decodeResponse(wire);
        expect(said(after.content, "messages")).toEqual(said(unsigned(before.content), "messages"));
        expect(after.finish.reason).toBe(before.finish.reason);
        expect(after.usage).toEqual(usageThere(before.usage));
        expect(codec.direct.usage(wire)).toEqual(usageThere(before.usage));
        expect(codec.direct.failure(wire)).toBeUndefined();
      }),
    );
  });

  it("T6: reads all content of a stream, block by block", () => {
    fc.assert(
      fc.property(someAnswer, (answer) => {
        const events = read(streamOf(answer));
        expect(grammarFaults(events)).toEqual([]);
        const [before, after] = [collect(answer.events), collect(events)];
        const words = saidApart(after.content, "messages");
        expect(words).toEqual(saidApart(unsigned(before.content), "messages"));
        expect(after.finish.reason).toBe(before.finish.reason);
        expect(after.usage).toEqual(usageThere(before.usage));
      }),
    );
  });

  it("T16: reads a stream that breaks off anywhere as an error, unless it had its stop reason", () => {
    fc.assert(
      fc.property(someAnswer, fc.nat(), (answer, at) => {
        const frames = streamOf(answer);
        const kept = frames.slice(0, at % frames.length);
        const events = read(kept);
        expect(grammarFaults(events)).toEqual([]);
        const hasStopped = kept.some(({ event }) => event === "messageStop");
        expect(events.at(-1)?.type).toBe(hasStopped ? "finish" : "error");
      }),
    );
  });

  it.each(protocolNames)(
    "T7 T16: gives %s callers legal streams, and a broken one ends with its error",
    (caller) => {
      fc.assert(
        fc.property(someAnswer, fc.nat(), fc.boolean(), (answer, at, isBroken) => {
          const frames = streamOf(answer);
          const sent = isBroken
            ? [
                ...frames.slice(0, at % (frames.length - 2)),
                frame("error", { error: { type: "api_error", message: "It broke off." } }),
              ]
            : frames;
          const tap = routeFor(caller).tap();
          const given = relayed(tap, sent);
          expect(tap.seen.ended).toBe(!isBroken);
          const brokeOff = isBroken ? "It broke off." : undefined;
          expect(tap.seen.error?.message).toBe(brokeOff);
          const { faults, error, finish } = readers[caller].stream(given);
          const hasFinish = finish !== undefined;
          expect({ faults, error, hasFinish }).toEqual({
            faults: [],
            error: brokeOff,
            hasFinish: !isBroken,
          });
        }),
      );
    },
  );
});
