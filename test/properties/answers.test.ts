// Random answers through each protocol and back: nothing is lost beyond its stated limits, whole or streamed. The result is
// valid wherever the stream is cut.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSseParser, formatSse, type SseEvent } from "../../src/base/sse.ts";
import { collect, toEvents } from "../../src/protocols/canonical/collect.ts";
import type { CanonicalEvent } from "../../src/protocols/canonical/events.ts";
import { grammarFaults } from "../support/grammar.ts";
import type { AnswerContext, Codec, EndReason } from "../../src/protocols/codec.ts";
import { codecs, protocolNames } from "../../src/protocols/index.ts";
import { framesOf, readers } from "../transcripts/readers/index.ts";
import { someAnswer, type RandomAnswer } from "./answers.ts";
import { said, saidApart, usageIn } from "./said.ts";

const context = (answer: RandomAnswer): AnswerContext => ({
  model: "acme/talk",
  id: "01abc",
  createdAt: 1_790_000_000,
  inputEstimate: 77,
  request: {
    protocol: answer.protocol,
    model: "acme/talk",
    stream: true,
    includeUsage: true,
    native: [],
    names: {},
  },
});

const complete: EndReason = { kind: "complete" };

/** The bytes of a stream of these events. */
function written(codec: Codec, answer: RandomAnswer, events: readonly CanonicalEvent[]): Buffer {
  const encoder = codec.encodeStream(context(answer));
  const frames = [...events.flatMap((event) => encoder.push(event)), ...encoder.end(complete)];
  return Buffer.from(frames.map(formatSse).join(""));
}

function read(codec: Codec, frames: readonly SseEvent[]): CanonicalEvent[] {
  const decoder = codec.decodeStream();
  return [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end(complete)];
}

function parsed(bytes: Buffer, cut: number): SseEvent[] {
  const parser = createSseParser();
  const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)];
  return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()];
}

describe.each(protocolNames)("%s", (protocol) => {
  const codec = codecs[protocol];

  it("reads a whole answer back as it was written", () => {
    fc.assert(
      fc.property(someAnswer, (answer) => {
        const before = collect(answer.events);
        const after = codec.decodeResponse(codec.encodeResponse(before, context(answer)));
        expect(said(after.content, protocol)).toEqual(said(before.content, protocol));
        expect(after.finish.reason).toBe(before.finish.reason);
        expect(after.usage).toEqual(usageIn(before.usage, protocol, answer.protocol));
      }),
    );
  });

  it("T6: reads a stream back as it was written, at any cut", () => {
    fc.assert(
      fc.property(someAnswer, fc.nat(), (answer, at) => {
        const bytes = written(codec, answer, answer.events);
        const events = read(codec, parsed(bytes, at % bytes.length));
        expect(grammarFaults(events)).toEqual([]);
        const [before, after] = [collect(answer.events), collect(events)];
        const words = saidApart(after.content, protocol, "");
        expect(words).toEqual(saidApart(before.content, protocol));
        expect(after.finish.reason).toBe(before.finish.reason);
        const usage = usageIn(before.usage, protocol, answer.protocol);
        expect(usage === undefined || after.usage).toEqual(usage ?? true);
      }),
    );
  });

  it("streams add up to the whole answer, as clients of the protocol read both", () => {
    fc.assert(
      fc.property(someAnswer, (answer) => {
        const whole = collect(answer.events);
        const stream = written(codec, answer, toEvents(whole)).toString();
        const { faults, ...streamed } = readers[protocol].stream(framesOf(stream));
        expect(faults).toEqual([]);
        const answered = readers[protocol].answer(codec.encodeResponse(whole, context(answer)));
        const usage = whole.usage ? answered.usage : streamed.usage;
        expect({ ...streamed, usage }).toEqual({ ...answered, usage });
      }),
    );
  });

  it("T7 T16: writes a stream that breaks off anywhere as a legal stream with an error", () => {
    fc.assert(
      fc.property(someAnswer, fc.nat(), fc.boolean(), (answer, at, isTold) => {
        const events = answer.events.slice(0, at % answer.events.length);
        const encoder = codec.encodeStream(context(answer));
        const frames = events.flatMap((event) => encoder.push(event));
        const why = { kind: "cut", message: "It broke off." } as const;
        if (isTold) frames.push(...encoder.push({ type: "error", message: why.message }));
        frames.push(...encoder.end(why));
        const { faults, error, finish } = readers[protocol].stream(
          framesOf(frames.map(formatSse).join("")),
        );
        expect({ faults, error, finish }).toEqual({
          faults: [],
          error: "It broke off.",
          finish: undefined,
        });
      }),
    );
  });

  it("T16: reads a stream that breaks off anywhere as legal events with an end or an error", () => {
    fc.assert(
      fc.property(someAnswer, fc.nat(), (answer, at) => {
        const bytes = written(codec, answer, answer.events);
        const frames = parsed(bytes, bytes.length);
        const beginning = frames.slice(0, at % frames.length);
        const events = read(codec, beginning);
        expect(grammarFaults(events)).toEqual([]);
        expect(["finish", "error"]).toContain(events.at(-1)?.type);
      }),
    );
  });
});
