// Checks for every transcript in every direction. A check yields findings: place, actual and expected value.
import { noteParams } from "../../src/base/notes.ts";
import type { SseEvent } from "../../src/base/sse.ts";
import { protocolNames } from "../../src/protocols/index.ts";
import {
  beginningsOf,
  billed,
  cutAt,
  eventsOf,
  reportsBreak,
  relayed,
  routeOf,
  thrownBy,
  unsigned,
  upstreamModel,
} from "./directions.ts";
import {
  framesOf,
  readers,
  wire,
  type AnswerMeaning,
  type StreamMeaning,
} from "./readers/index.ts";
import {
  convertedAnswer,
  convertedRequest,
  directions,
  estimate,
  forDirection,
  ownAnswer,
  ownRequest,
  withMark,
  type Direction,
  type Transcript,
} from "./transcript.ts";

type Finding = readonly [at: string, is: unknown, shouldBe: unknown];
/** Selects the places of a stream to check. */
export type Sample = <Place>(places: readonly Place[]) => readonly Place[];
export type Check = (transcript: Transcript, some: Sample) => Iterable<Finding>;

const failed = ({ meaning }: Transcript): boolean => meaning.answer.error !== undefined;

/** The directions in which the request is not refused. */
const openDirections = ({ meaning }: Transcript): Direction[] =>
  directions.filter((direction) => forDirection(meaning.refused, direction).length === 0);
const conversions = (transcript: Transcript): Direction[] =>
  openDirections(transcript).filter(({ caller, upstream }) => caller !== upstream);

/** All four protocols contain the same exchange, according to readers that are independent of the codecs. */
export function* sameExchange(transcript: Transcript): Generator<Finding> {
  for (const protocol of protocolNames) {
    const { request, answer, stream } = transcript.exchanges[protocol];
    const reader = readers[protocol];
    yield [
      `${protocol} request`,
      unsigned(reader.request(request)),
      ownRequest(transcript, protocol),
    ];
    const expected = ownAnswer(transcript, protocol);
    if (!failed(transcript)) {
      yield [`${protocol} answer`, unsigned(reader.answer(answer)), expected];
    }
    if (transcript.meaning.odd?.includes(protocol)) continue;
    const streamed = reader.stream(framesOf(stream.toString()));
    yield [`${protocol} stream`, unsigned(streamed), { ...expected, faults: [] }];
  }
}

/** A request that an upstream cannot accept is refused with the expected error code. */
export function* refusals(transcript: Transcript): Generator<Finding> {
  for (const direction of directions) {
    const [code] = forDirection(transcript.meaning.refused, direction);
    const thrown = thrownBy(() => routeOf(transcript, direction));
    yield [`${direction.caller} to ${direction.upstream}`, thrown, code];
  }
}

/** An upstream of another protocol gets the same request, and losses are reported. */
export function* requests(transcript: Transcript): Generator<Finding> {
  for (const direction of conversions(transcript)) {
    const { caller, upstream } = direction;
    const { body, notes } = routeOf(transcript, direction);
    const asked = convertedRequest(transcript, direction);
    const at = `${caller} to ${upstream}`;
    yield [at, readers[upstream].request(body), asked];
    const dropped = forDirection(transcript.meaning.dropped, direction)[0] ?? [];
    yield [`${at}, dropped`, noteParams(notes), dropped];
    const model = upstream === "generate_content" ? undefined : upstreamModel;
    yield [`${at}, model`, body["model"], model];
  }
}

/** An upstream of the same protocol gets the complete request, also through the canonical form. */
export function* directRequests(transcript: Transcript): Generator<Finding> {
  for (const protocol of protocolNames) {
    const direction = { caller: protocol, upstream: protocol };
    const reader = readers[protocol];
    const asked = reader.request(transcript.exchanges[protocol].request);
    const { body, notes } = routeOf(transcript, direction);
    yield [protocol, reader.request(body), asked];
    yield [`${protocol}, dropped`, noteParams(notes), []];
    const forced = routeOf(transcript, direction, { force: true });
    yield [`${protocol}, forced`, reader.request(forced.body), asked];
  }
}

/** A streaming request asks for a stream, and for usage if the protocol needs that (T47); the rest is the same. */
export function* streamingRequests(transcript: Transcript): Generator<Finding> {
  for (const direction of openDirections(transcript)) {
    const { caller, upstream } = direction;
    const asked = routeOf(transcript, direction, { stream: true }).body;
    const { stream: _, ...whole } = routeOf(transcript, direction).body;
    const streaming = {
      ...whole,
      ...(upstream === "generate_content" ? {} : { stream: true }),
      ...(upstream === "chat" ? { stream_options: { include_usage: true } } : {}),
    };
    yield [`${caller} to ${upstream}`, asked, streaming];
  }
}

/** Texts that no converted answer may contain: the upstream's model name and its signatures (T37, T42). */
const secrets = [upstreamModel, "sig-", "c2ln"];
const secretsIn = (text: string): string[] => secrets.filter((secret) => text.includes(secret));

/** Whole answers reach callers of other protocols. An error with a success status is an error. */
export function* wholeAnswers(transcript: Transcript): Generator<Finding> {
  for (const direction of conversions(transcript)) {
    const { caller, upstream } = direction;
    const at = `${upstream} to ${caller}`;
    const route = routeOf(transcript, direction);
    const { answer } = transcript.exchanges[upstream];
    yield [`${at}, failure`, route.failure(answer)?.message, transcript.meaning.answer.error];
    if (failed(transcript)) continue;
    const given = route.answer(structuredClone(answer), [], billed);
    const expected = convertedAnswer(transcript, direction, "whole");
    yield [at, readers[caller].answer(given), expected];
    yield [`${at}, secrets`, secretsIn(JSON.stringify(given)), []];
  }
}

/** Whole answers reach callers of the same protocol unchanged, except for missing usage, also through the canonical form. */
export function* directAnswers(transcript: Transcript): Generator<Finding> {
  for (const protocol of protocolNames) {
    if (failed(transcript)) return;
    const direction = { caller: protocol, upstream: protocol };
    const { answer } = transcript.exchanges[protocol];
    const reader = readers[protocol];
    const expected = reader.answer(answer);
    const give = (force: boolean): AnswerMeaning =>
      reader.answer(
        routeOf(transcript, direction, { force }).answer(structuredClone(answer), [], billed),
      );
    // Clients of messages require usage.
    const counted = protocol === "messages" ? { usage: estimate, ...expected } : expected;
    yield [protocol, give(false), counted];
    if (transcript.meaning.native?.includes(protocol)) continue;
    const shown = protocol === "messages" ? withMark(expected) : expected;
    yield [`${protocol}, forced`, give(true), { usage: estimate, ...shown }];
  }
}

/** Streams reach callers of other protocols in legal order, and add up to the whole answer. */
export function* streams(transcript: Transcript): Generator<Finding> {
  for (const direction of conversions(transcript)) {
    const { caller, upstream } = direction;
    const at = `${upstream} to ${caller}`;
    const tap = routeOf(transcript, direction, { stream: true }).tap();
    const frames = relayed(tap, eventsOf(transcript.exchanges[upstream].stream));
    const expected = convertedAnswer(transcript, direction, "streamed");
    yield [at, readers[caller].stream(frames), { ...expected, faults: [] }];
    const sent = frames.map(({ data }) => data).join("\n");
    yield [`${at}, secrets`, secretsIn(sent), []];
    const hasMarker = caller === "responses" || (caller === "chat" && !failed(transcript));
    yield [`${at}, marker`, frames.at(-1)?.data === "[DONE]", hasMarker];
    if (caller !== "messages" || frames[0]?.event !== "message_start") continue;
    // T44: the start reports an estimate of the input, never 0.
    const { message } = wire(JSON.parse(frames[0].data));
    const { input_tokens: input } = wire(wire(message)["usage"]);
    yield [`${at}, usage at the start`, input, estimate.input];
  }
}

/** Streams reach callers of the same protocol unchanged; through the canonical form they are legal too. */
export function* directStreams(transcript: Transcript): Generator<Finding> {
  const { odd = [], native = [] } = transcript.meaning;
  for (const protocol of failed(transcript) ? [] : protocolNames) {
    const { stream } = transcript.exchanges[protocol];
    const direction = { caller: protocol, upstream: protocol };
    const give = (force: boolean): StreamMeaning =>
      readers[protocol].stream(
        relayed(routeOf(transcript, direction, { stream: true, force }).tap(), eventsOf(stream)),
      );
    if (!native.includes(protocol)) {
      const expected = { usage: estimate, ...ownAnswer(transcript, protocol), faults: [] };
      yield [`${protocol}, forced`, unsigned(give(true)), expected];
    }
    if (odd.includes(protocol)) continue;
    const expected = readers[protocol].stream(framesOf(stream.toString()));
    const given = give(false);
    // A start without usage gets an estimate (T44).
    yield [protocol, given, { ...expected, ...(expected.usage ? {} : { usage: given.usage }) }];
  }
}

/** A stream asked for and answered whole (T14), and a whole answer asked for and streamed (T15). */
export function* otherForms(transcript: Transcript): Generator<Finding> {
  for (const direction of failed(transcript) ? [] : conversions(transcript)) {
    const { caller, upstream } = direction;
    const { answer, stream } = transcript.exchanges[upstream];
    const expected = convertedAnswer(transcript, direction, "whole");
    const streaming = routeOf(transcript, direction, { stream: true });
    const { usage: _, ...streamed } = readers[caller].stream(
      streaming.framesOf(structuredClone(answer), billed),
    );
    const { usage: __, ...said } = expected;
    yield [`${upstream} to ${caller}, streamed`, streamed, { ...said, faults: [] }];
    const route = routeOf(transcript, direction);
    const whole = route.answerFromFrames(eventsOf(stream));
    const given = whole && readers[caller].answer(route.answer(whole, [], billed));
    yield [`${upstream} to ${caller}, whole`, given, expected];
  }
}

/** An event with all members. */
type Event = Required<SseEvent>;
const members: Readonly<Record<keyof Event, true>> = { event: true, data: true, tail: true };
const memberNames = Object.keys(members) as (keyof Event)[];

/** Compares member by member: comparing as JSON text for each of the many cuts took a sixth of the whole suite. */
const areSame = (some: readonly SseEvent[], others: readonly SseEvent[]): boolean =>
  some.length === others.length &&
  some.every((event, index) => memberNames.every((name) => event[name] === others[index]![name]));

/** A stream has the same events when it is cut into two anywhere, or into single bytes (T17). */
export function* byteCuts({ exchanges }: Transcript, some: Sample): Generator<Finding> {
  for (const protocol of protocolNames) {
    const { stream } = exchanges[protocol];
    const whole = eventsOf(stream);
    yield [`${protocol}, byte by byte`, eventsOf(stream, 1), whole];
    let differing = 0;
    const places = Array.from({ length: stream.length - 1 }, (_, index) => index + 1);
    for (const at of some(places)) if (!areSame(cutAt(stream, at), whole)) differing += 1;
    yield [`${protocol}, cuts that differ`, differing, 0];
  }
}

/** A stream that ends after or within any frame converts to a legal one, with an error unless it was complete (T16). */
export function* earlyEnds(transcript: Transcript, some: Sample): Generator<Finding> {
  for (const direction of openDirections(transcript)) {
    const { caller, upstream } = direction;
    for (const events of some(beginningsOf(transcript.exchanges[upstream].stream))) {
      const at = `${upstream} to ${caller}, after ${events.length} frames`;
      const tap = routeOf(transcript, direction, { stream: true, force: true }).tap();
      const { faults, error, finish = "" } = readers[caller].stream(relayed(tap, events));
      const isWhole = tap.seen.ended && tap.seen.error === undefined;
      const is = { faults, failed: error !== undefined, finished: finish !== "" };
      yield [at, is, { faults: [], failed: !isWhole, finished: isWhole }];
      if (caller !== upstream) continue;
      const direct = routeOf(transcript, direction, { stream: true }).tap();
      yield [`${at}, direct`, reportsBreak(direct, relayed(direct, events)), true];
    }
  }
}
