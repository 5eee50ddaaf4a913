// Every transcript in all sixteen directions, whole and streamed: what the upstream is asked, what the caller is given,
// what is told to be dropped; every stream cut at every byte, and ended after every frame.
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../src/base/errors.ts";
import { noteParams } from "../../src/base/notes.ts";
import { protocolNames } from "../../src/protocols/index.ts";
import {
  beginningsOf,
  billed,
  cutsOf,
  eventsOf,
  expectMeaning,
  isToldBroken,
  model,
  relayed,
  routeOf,
  unsigned,
  upstreamModel,
} from "./directions.ts";
import { framesOf, readers, text } from "./readers/index.ts";
import {
  caseNames,
  convertedAnswer,
  convertedRequest,
  directions,
  forDirection,
  ownAnswer,
  ownRequest,
  readTranscript,
} from "./transcript.ts";

const titles: readonly (readonly [title: string, name: string])[] = [
  ["STREAM-03: one question, one answer", "plain"],
  ["CONV-201 CONV-301 CONV-401 CONV-501: a system prompt and an earlier turn", "multi-turn"],
  ["T42: one call, signed by its vendor", "one-call"],
  ["T9: calls at once", "parallel-calls"],
  ["T6: calls whose pieces come in turn", "interleaved-calls"],
  ["T2 T3: arguments that come whole", "whole-arguments"],
  ["T4: ids, names and contents that are empty", "empty-ids"],
  ["T5: calls numbered alike", "back-to-back-calls"],
  ["T1: text beside an empty list of calls", "empty-call-list"],
  ["T10 T11 T12: text and a call", "text-then-call"],
  ["T7 T8: text after a call", "text-after-call"],
  ["T13 T33: tools of one protocol only", "custom-tools"],
  ["CONV-717 T21: calls without ids", "calls-without-ids"],
];

it("every case is one of these", () => {
  expect(titles.map(([, name]) => name).sort()).toEqual(caseNames().sort());
});

describe.each(titles)("%s", (_, name) => {
  const transcript = readTranscript(name);
  const { meaning, exchanges } = transcript;
  const open = directions.filter(
    (direction) => forDirection(meaning.refused, direction).length === 0,
  );
  const converted = open.filter(({ caller, upstream }) => caller !== upstream);
  const failed = meaning.answer.error !== undefined;

  it("is the same exchange in all four protocols", () => {
    for (const protocol of protocolNames) {
      const { request, answer, stream } = exchanges[protocol];
      const reader = readers[protocol];
      expectMeaning(unsigned(reader.request(request)), ownRequest(transcript, protocol), protocol);
      const told = ownAnswer(transcript, protocol);
      if (!failed) expectMeaning(unsigned(reader.answer(answer)), told, protocol);
      const { faults, ...streamed } = reader.stream(framesOf(stream.toString()));
      if (meaning.odd?.includes(protocol)) continue;
      expectMeaning(unsigned(streamed), told, `${protocol}, streamed`);
      expect(faults, protocol).toEqual([]);
    }
  });

  it("asks each upstream what was asked, and tells what was dropped", () => {
    for (const direction of directions) {
      const { caller, upstream } = direction;
      const at = `${caller} to ${upstream}`;
      const [refusal] = forDirection(meaning.refused, direction);
      if (refusal !== undefined) {
        expect(() => routeOf(transcript, direction), at).toThrow(
          expect.objectContaining({ code: refusal }) as GatewayError,
        );
        continue;
      }
      const isOwn = caller === upstream;
      const read = readers[upstream].request;
      const route = routeOf(transcript, direction);
      const expected = isOwn
        ? read(exchanges[caller].request)
        : convertedRequest(transcript, direction);
      const dropped = isOwn ? [] : (forDirection(meaning.dropped, direction)[0] ?? []);
      expectMeaning(read(route.body), expected, at);
      expect(noteParams(route.notes), at).toEqual(dropped);
      expect(route.body["model"], at).toBe(
        upstream === "generate_content" && !isOwn
          ? undefined
          : route.body["model"] && upstreamModel,
      );
      // Through the canonical form, on its own protocol, nothing is lost either.
      if (isOwn) {
        expectMeaning(read(routeOf(transcript, direction, { force: true }).body), expected, at);
      }
    }
  });

  it("asks each upstream the same as a stream, with the usage to be told at its end", () => {
    for (const direction of open) {
      const at = `${direction.caller} to ${direction.upstream}`;
      const {
        stream,
        stream_options: options,
        ...body
      } = routeOf(transcript, direction, {
        stream: true,
      }).body;
      const { stream: _stream, ...whole } = routeOf(transcript, direction).body;
      expect(body, at).toEqual(whole);
      expect(stream, at).toBe(direction.upstream === "generate_content" ? undefined : true);
      expect(options, at).toEqual(
        direction.upstream === "chat" ? { include_usage: true } : undefined,
      );
    }
  });

  it("gives each caller the whole answer", () => {
    for (const direction of open) {
      const { caller, upstream } = direction;
      const at = `${upstream} to ${caller}`;
      const route = routeOf(transcript, direction);
      const { answer } = exchanges[upstream];
      if (failed) {
        expect(route.failure(answer)?.message, at).toBe(meaning.answer.error);
        continue;
      }
      expect(route.failure(answer), at).toBeUndefined();
      const isOwn = caller === upstream;
      const given = route.answer(structuredClone(answer), [], billed);
      const read = readers[caller].answer;
      expectMeaning(
        read(given),
        isOwn ? read(answer) : convertedAnswer(transcript, direction, "whole"),
        at,
      );
      expect(JSON.stringify(given), at).not.toContain(upstreamModel);
      if (!isOwn) expect(JSON.stringify(given), at).not.toMatch(/sig-|c2ln/);
      if (isOwn && !meaning.native?.includes(caller)) {
        const forced = routeOf(transcript, direction, { force: true });
        const { usage: _usage, ...said } = read(forced.answer(structuredClone(answer), [], billed));
        expect(read(answer), at).toMatchObject(said);
      }
    }
  });

  it("gives each caller a legal stream that adds up to the whole answer", () => {
    for (const direction of open) {
      const { caller, upstream } = direction;
      const at = `${upstream} to ${caller}`;
      const events = eventsOf(exchanges[upstream].stream);
      const frames = relayed(routeOf(transcript, direction, { stream: true }).tap(), events);
      const { faults, ...streamed } = readers[caller].stream(frames);
      if (caller === upstream) {
        if (meaning.odd?.includes(upstream)) continue;
        const own = readers[caller].stream(framesOf(exchanges[upstream].stream.toString()));
        expectMeaning({ ...streamed, faults }, own, at);
        continue;
      }
      expect(faults, at).toEqual([]);
      expectMeaning(streamed, convertedAnswer(transcript, direction, "streamed"), at);
      const sent = frames.map(({ data }) => data).join("\n");
      expect(sent, at).not.toMatch(/sig-|c2ln/);
      expect(sent, at).not.toContain(upstreamModel);
      const endsWithMarker = caller === "responses" || (caller === "chat" && !failed);
      expect(frames.at(-1)?.data === "[DONE]", at).toBe(endsWithMarker);
    }
  });

  it.skipIf(failed)("a stream asked for and answered whole, and the other way round", () => {
    for (const direction of converted) {
      const { caller, upstream } = direction;
      const at = `${upstream} to ${caller}`;
      const streaming = routeOf(transcript, direction, { stream: true });
      const frames = streaming.framesOf(structuredClone(exchanges[upstream].answer));
      const { faults, ...streamed } = readers[caller].stream(frames as never);
      expect(faults, at).toEqual([]);
      const expected = convertedAnswer(transcript, direction, "whole");
      expectMeaning(streamed, { ...streamed, ...expected, usage: streamed.usage }, at);
      const route = routeOf(transcript, direction);
      const whole = route.wholeOf(eventsOf(exchanges[upstream].stream));
      const given = readers[caller].answer(route.answer(whole!, [], billed));
      expectMeaning(given, convertedAnswer(transcript, direction, "whole"), at);
    }
  });

  it("T17: streams cut at every byte are the same events", () => {
    for (const protocol of protocolNames) {
      const { stream } = exchanges[protocol];
      const whole = JSON.stringify(eventsOf(stream));
      expect(JSON.stringify(eventsOf(stream, 1)), protocol).toBe(whole);
      const differs = [...cutsOf(stream).filter((cut) => JSON.stringify(cut) !== whole)];
      expect(differs, protocol).toEqual([]);
    }
  });

  it("T16: a stream that ends too early, after any frame or within one, ends as an error in each protocol", () => {
    for (const upstream of protocolNames) {
      const { stream } = exchanges[upstream];
      for (const events of beginningsOf(stream)) {
        for (const caller of protocolNames) {
          if (!open.some((one) => one.caller === caller && one.upstream === upstream)) continue;
          const direction = { caller, upstream };
          const at = `${upstream} to ${caller}, after ${events.length} frames`;
          const tap = routeOf(transcript, direction, { stream: true, force: true }).tap();
          const frames = relayed(tap, events);
          const { faults, ...read } = readers[caller].stream(frames);
          expect(faults, at).toEqual([]);
          const isWhole = tap.seen.ended && tap.seen.error === undefined;
          expect(read.error === undefined, at).toBe(isWhole);
          expect(text(read.finish) !== "", at).toBe(isWhole);
          if (caller !== upstream) continue;
          const direct = routeOf(transcript, direction, { stream: true }).tap();
          expect(isToldBroken(direct, relayed(direct, events)), at).toBe(true);
        }
      }
    }
  });
});
