/**
 * One answer of a vendor in four forms: whole and streamed, to a caller who asks for it whole or streamed. All have the same texts, thoughts,
 * calls, finish reason and counts, and so the same charge, between all callers and all upstreams. No digit of an argument is lost.
 * CONV-701, CONV-705, CONV-709, CONV-713, STREAM-03, STREAM-05, TXT-05; T3, T14, T15, T17, T46.
 */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseAnswerText } from "../../src/base/answer-json.ts";
import { createSseParser, formatSse, type SseEvent } from "../../src/base/sse.ts";
import { noUsage, type Usage } from "../../src/base/usage.ts";
import {
  protocolNames,
  upstreamProtocols,
  type JsonObject,
  type ProtocolName,
  type Route,
  type UpstreamProtocol,
} from "../../src/protocols/index.ts";
import { routeOf } from "../conversion/route.ts";
import { requestWith } from "../conversion/tool-wire.ts";
import { shortOrLong } from "../support/long.ts";
import {
  framesOf,
  readers,
  text,
  wire,
  type AnswerMeaning,
  type Said,
} from "../transcripts/readers/index.ts";
import { streamOf, wholeOf } from "./answers.ts";
import { somePlan, type Plan } from "./plan.ts";

/** An answer as its caller reads it, and the usage by which it is charged. */
interface Given {
  readonly meaning: AnswerMeaning;
  readonly usage: Usage | undefined;
  /** The text for the caller. */
  readonly sent: string;
}

const parsed = (bytes: Buffer, cuts: readonly number[]): SseEvent[] => {
  const parser = createSseParser();
  const places = [...new Set(cuts.map((cut) => cut % bytes.length))].toSorted((a, b) => a - b);
  const pieces = [0, ...places].map((at, index) => bytes.subarray(at, places[index]));
  return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()];
};

function expectEqual(given: unknown, wanted: unknown): void {
  expect(given).toEqual(wanted);
}

/** A caller and an upstream, and one call between them. */
class Pair {
  readonly #caller: ProtocolName;
  readonly #upstream: UpstreamProtocol;
  constructor(caller: ProtocolName, upstream: UpstreamProtocol) {
    this.#caller = caller;
    this.#upstream = upstream;
  }

  #route(stream: boolean): Route {
    const asked = requestWith[this.#caller]("look");
    const usage = this.#caller === "chat" ? { stream_options: { include_usage: true } } : {};
    const isInPath = this.#caller === "generate_content" || !stream;
    const body = isInPath ? asked : { ...asked, stream: true, ...usage };
    return routeOf(this.#caller, this.#upstream, body, { stream });
  }

  #whole(route: Route, answer: JsonObject): Given {
    expectEqual(route.failure(answer), undefined);
    const usage = route.usage(answer);
    const sent = JSON.stringify(route.answer(answer, [], usage ?? noUsage));
    const meaning = readers[this.#caller].answer(JSON.parse(sent) as JsonObject);
    return { meaning, usage, sent };
  }

  #stream(frames: readonly SseEvent[], usage: Usage | undefined): Given {
    const sent = frames.map(formatSse).join("");
    const { faults, ...meaning } = readers[this.#caller].stream(framesOf(sent));
    // The frames of a direct stream are the vendor's.
    expectEqual(this.#caller === this.#upstream ? [] : faults, []);
    return { meaning, usage, sent };
  }

  /** The whole answer of a vendor, to a caller who asks for a whole one or a stream. */
  fromWhole(json: string): Given[] {
    const read = () => parseAnswerText(json) as JsonObject;
    const route = this.#route(true);
    const answer = read();
    expectEqual(route.failure(answer), undefined);
    const usage = route.usage(answer);
    const frames = route.framesOf(answer, usage ?? noUsage);
    return [this.#whole(this.#route(false), read()), this.#stream(frames, usage)];
  }

  /** The same of a vendor's stream. */
  fromStream(events: readonly SseEvent[]): Given[] {
    const route = this.#route(false);
    const answer = route.answerFromFrames(events);
    expectEqual(answer === undefined, false);
    const tap = this.#route(true).tap();
    const passed = events.flatMap((event) => tap.push(event));
    passed.push(...(tap.end?.() ?? []));
    const { ended, error, usage } = tap.seen;
    expectEqual([ended, error], [true, undefined]);
    const frames = [...passed, ...tap.release(usage ?? noUsage)];
    return [this.#whole(route, answer!), this.#stream(frames, usage)];
  }
}

const joined = (texts: readonly string[]): string => texts.join("").replace(/\s+/g, "");
const isCall = (said: Said): said is Extract<Said, { call: string }> =>
  typeof said !== "string" && "call" in said;

/** The content of an answer, by kind. White space does not count: vendors put some between paragraphs. */
const kindsOf = ({ says, finish, usage }: AnswerMeaning) => ({
  text: joined(says.filter((said) => typeof said === "string")),
  refusal: joined(says.map((said) => text(wire(said)["refuses"]))),
  thought: joined(says.map((said) => text(wire(said)["thinks"]))),
  calls: says.filter(isCall).map((said) => [said.call, said.id, said.arguments]),
  finish,
  usage,
});

/** Responses to direct callers have their items in the last event, as at the vendor: some vendors send none there. */
const withItems = ({ habits, ...plan }: Plan): Plan => ({
  ...plan,
  habits: habits.map((number, at) => (at === 1 ? 1 : number)),
});

const cuts = fc.array(fc.nat(1_000_000), { maxLength: 8 });
const pairs = upstreamProtocols.flatMap((upstream) =>
  protocolNames.map((caller) => [upstream, caller] as const),
);

describe.each(pairs)("an upstream of %s, a caller of %s", (upstream, caller) => {
  const pair = new Pair(caller, upstream);

  it("T3 T14 T15 T17: exchange the same content and counts in any form of an answer", () => {
    fc.assert(
      fc.property(somePlan(upstream), cuts, (plan, at) => {
        const own = caller === upstream ? withItems(plan) : plan;
        const stream = Buffer.from(streamOf(upstream, own));
        const forms = [
          ...pair.fromWhole(wholeOf(upstream, own)),
          ...pair.fromStream(parsed(stream, at)),
        ];
        const [first, ...others] = forms.map(({ meaning, usage }) => [kindsOf(meaning), usage]);
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: shortOrLong(8, 400) },
    );
  });

  it("T3: keep each digit of the arguments of a call", () => {
    const digits = fc
      .tuple(fc.bigInt({ min: 10n ** 18n, max: 10n ** 30n }), fc.constantFrom("", ".5", "e400"))
      .map(([whole, rest]) => `${whole}${rest}`);
    fc.assert(
      fc.property(somePlan(upstream), digits, (plan, number) => {
        const call = { kind: "call", id: "call_last", name: "look", input: { a: "@" } } as const;
        const last: Plan = { ...plan, pieces: [call], habits: plan.habits.map(() => 1) };
        const exact = wholeOf(upstream, last).replace(/"@"|\\"@\\"/, number);
        for (const { sent } of pair.fromWhole(exact)) expect(sent).toContain(number);
      }),
      { numRuns: 5 },
    );
  });
});
