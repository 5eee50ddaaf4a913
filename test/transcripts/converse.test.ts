// The transcripts' column for Amazon Bedrock's Converse, which only upstreams speak. Every caller's request becomes the golden one;
// the golden answer reaches every caller, whole and streamed, wherever the stream ends.
import { describe, expect, it } from "vitest";
import { converseStrict } from "../../sandbox/bedrock/converse-strict.ts";
import { noteParams } from "../../src/base/notes.ts";
import { protocolNames, type JsonObject, type ProtocolName } from "../../src/protocols/index.ts";
import {
  beginningsOf,
  billed,
  eventsOf,
  relayed,
  routeOf,
  unsigned,
  withAny,
} from "./directions.ts";
import { converseLosses } from "./converse-losses.ts";
import { converseReader } from "./readers/converse.ts";
import { framesOf, readers, type RequestMeaning, type Said, type Turn } from "./readers/index.ts";
import {
  caseNames,
  convertedAnswer,
  convertedRequest,
  forDirection,
  ownAnswer,
  readTranscript,
  type Transcript,
  type Upstream,
} from "./transcript.ts";

/** Cases without the column, by reason. */
const without: Readonly<Record<string, readonly string[]>> = {
  "an error is an exception of the frames: test/clouds/converse.test.ts": [
    "error-at-once",
    "error-midway",
  ],
  "an answer has no word for it": ["refusal", "cut-call"],
  "a request has no word for it in its turns or tools: test/conversion/to-converse.test.ts": [
    "custom-tools",
    "documents",
    "image-detail",
    "images",
    "parallel-and-choice",
    "reasoning-history",
    "reasoning-tool-loop",
    "schema-keywords",
  ],
};

const cases = caseNames().map(readTranscript);
const withColumn = cases.filter(({ converse }) => converse !== undefined);

it("each case has a Converse column or a listed reason", () => {
  const excused = Object.values(without).flat();
  const bare = cases.filter(({ converse }) => converse === undefined).map(({ name }) => name);
  expect(bare.toSorted()).toEqual(excused.toSorted());
});

const upstream: Upstream = "converse";
const to = (caller: ProtocolName) => ({ caller, upstream });
const columnOf = ({ converse }: Transcript) => converse!;

/** The simulated vendor's verdict on a request; "taken" if it accepts it. */
function verdict(body: JsonObject): string {
  const call = {
    headers: {},
    query: new URLSearchParams(),
    model: "us.amazon.nova-2-lite-v1:0",
    stream: false,
    body,
    files: [],
  };
  try {
    for (const check of converseStrict) check(call);
    return "taken";
  } catch (error) {
    return (error as Error).message;
  }
}

/** The request without settings that Converse does not support, which are reported as dropped. */
function withoutLosses({ name }: Transcript, asked: RequestMeaning): RequestMeaning {
  const lost = converseLosses[name]?.settings ?? [];
  const kept = Object.entries(asked.settings).filter(([setting]) => !lost.includes(setting));
  return { ...asked, settings: Object.fromEntries(kept) };
}

/** The expected request: without those settings, and without names of results and sound types, which only generateContent has. */
function expectedOf(transcript: Transcript, caller: ProtocolName): RequestMeaning {
  const asked = withoutLosses(transcript, convertedRequest(transcript, to(caller)));
  const turns = asked.turns.map((turn) =>
    Object.fromEntries(
      Object.entries(turn).map(([role, says]: [string, Said[]]) => [role, says.map(nameless)]),
    ),
  ) as Turn[];
  return { ...asked, turns };
}

function nameless(said: Said): Said {
  if (typeof said === "object" && "audio" in said)
    return { audio: said.audio.replace(/^data:audio\/(\w+);base64,/, "$1:") };
  if (typeof said === "string" || !("result" in said)) return said;
  const { name: _name, ...rest } = said;
  return rest;
}

/** True if the request is refused before it is sent. */
const isRefused = ({ meaning }: Transcript, caller: ProtocolName): boolean =>
  forDirection(meaning.refused, to(caller)).length > 0;

describe.each(withColumn.map((one) => [one.name, one] as const))("%s", (_name, transcript) => {
  const { request, answer, stream } = columnOf(transcript);
  const callers = protocolNames.filter((caller) => !isRefused(transcript, caller));

  it("the vendor accepts the golden request, and it means the same as the case", () => {
    expect(verdict(structuredClone(request))).toBe("taken");
    const asked = expectedOf(transcript, "chat");
    const found = withoutLosses(transcript, converseReader.request(request));
    expect(withAny(found, asked)).toEqual(asked);
  });

  it("a chat request becomes the golden request, byte for byte", () => {
    expect(routeOf(transcript, to("chat")).body).toEqual(request);
  });

  it.each(callers)("a request of %s means the same, and its losses are reported", (caller) => {
    const { body, notes } = routeOf(transcript, to(caller));
    expect(verdict(structuredClone(body))).toBe("taken");
    const asked = expectedOf(transcript, caller);
    const found = withoutLosses(transcript, converseReader.request(body));
    expect(withAny(found, asked)).toEqual(asked);
    const dropped =
      converseLosses[transcript.name]?.dropped[caller] ??
      forDirection(transcript.meaning.dropped, to(caller))[0];
    expect(noteParams(notes)).toEqual(dropped ?? []);
  });

  it("the golden answer and the golden stream have the same content", () => {
    const said = ownAnswer(transcript, upstream);
    expect(unsigned(converseReader.answer(answer))).toEqual(said);
    expect(unsigned(converseReader.stream(framesOf(stream.toString())))).toEqual({
      ...said,
      faults: [],
    });
  });

  it.each(callers)(
    "the answer reaches callers of %s whole, streamed, and in the other form",
    (caller) => {
      const reader = readers[caller];
      const direct = routeOf(transcript, to(caller));
      const whole = convertedAnswer(transcript, to(caller), "whole");
      const given = direct.answer(structuredClone(answer), [], billed);
      expect(withAny(reader.answer(given), whole)).toEqual(whole);
      expect(JSON.stringify(given)).not.toMatch(/sig-|c2ln/);
      const streaming = routeOf(transcript, to(caller), { stream: true });
      const frames = relayed(streaming.tap(), eventsOf(stream));
      const streamed = { ...convertedAnswer(transcript, to(caller), "streamed"), faults: [] };
      expect(withAny(reader.stream(frames), streamed)).toEqual(streamed);
      const gathered = routeOf(transcript, to(caller)).answerFromFrames(eventsOf(stream))!;
      const again = reader.answer(direct.answer(gathered, [], billed));
      expect(withAny(again, whole)).toEqual(whole);
      const parted = reader.stream(
        routeOf(transcript, to(caller), { stream: true }).framesOf(structuredClone(answer), billed),
      );
      expect({ says: parted.says, faults: parted.faults }).toEqual({
        says: streamed.says,
        faults: [],
      });
    },
  );

  it.each(callers)(
    "T16: a stream that ends too early ends as an error for callers of %s",
    (caller) => {
      for (const events of beginningsOf(stream)) {
        const tap = routeOf(transcript, to(caller), { stream: true }).tap();
        const { faults, error, finish = "" } = readers[caller].stream(relayed(tap, events));
        const isWhole = tap.seen.ended && tap.seen.error === undefined;
        const is = { faults, failed: error !== undefined, finished: finish !== "" };
        expect({ after: events.length, ...is }).toEqual({
          after: events.length,
          faults: [],
          failed: !isWhole,
          finished: isWhole,
        });
      }
    },
  );
});
