/**
 * Random answers through a gateway to each vendor's SDK, with the bytes cut anywhere and sent piece by piece. A stream adds up to
 * the whole answer, and costs the same to the nano-dollar. STREAM-01, STREAM-03, TXT-05; T17, T46 to T49.
 */
import { setImmediate } from "node:timers/promises";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatSse } from "../../src/base/sse.ts";
import { protocolNames, type ProtocolName } from "../../src/protocols/index.ts";
import { entries, useWorld } from "../hostile/support.ts";
import { shortOrLong } from "../support/long.ts";
import { eventually } from "../support/patience.ts";
import { json, type Answer } from "../support/recorder.ts";
import { difference, textOf } from "./passing.ts";
import { someStream, type RandomStream } from "./random-streams.ts";
import { comparable, readBySdk, streamBySdk } from "./sdk-streams.ts";

const world = useWorld();

/** Answers with a stream in pieces; each is sent before the next is written. */
const inPieces =
  ({ events }: RandomStream, cuts: readonly number[]): Answer =>
  async (_request, response) => {
    const bytes = Buffer.from(events.map(formatSse).join(""));
    const places = [...new Set(cuts.map((cut) => cut % bytes.length))].toSorted((a, b) => a - b);
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const [index, at] of [0, ...places].entries()) {
      response.write(bytes.subarray(at, places[index]));
      await setImmediate();
    }
    response.end();
  };

interface Given {
  readonly id: string;
  readonly answer: unknown;
}

async function whole(caller: ProtocolName, model: string): Promise<Given> {
  const { path, good } = entries.find(({ name }) => name === caller)!;
  const body = caller === "generate_content" ? good : { ...good, model };
  const response = await world.gateway.post(path.replace("acme/talk", model), body);
  const text = await response.text();
  expect(`${response.status} ${text}`).toMatch(/^200 /);
  const frame = formatSse({ data: text });
  const answer: unknown =
    caller === "generate_content" ? await readBySdk(caller, frame) : JSON.parse(text);
  return { id: response.headers.get("x-request-id")!, answer };
}

async function streamed(caller: ProtocolName, model: string): Promise<Given> {
  let id = "";
  const { url, key: apiKey } = world.gateway;
  const answer = await streamBySdk[caller]({
    url,
    apiKey,
    model,
    fetch: async (...args) => {
      const response = await fetch(...args);
      id = response.headers.get("x-request-id") ?? "";
      return response;
    },
  });
  return { id, answer };
}

/** Usage and cost of calls, from the request log. */
const charges = (ids: readonly string[]): Promise<unknown[]> =>
  eventually(
    async () => {
      const sql = "select usage, cost_nano from request_log where id = any($1)";
      const rows = await world.gateway.database.query<object>(sql, [ids]);
      return rows.length === ids.length ? rows : undefined;
    },
    `the rows of ${ids.join(" and ")} in the request log`,
  );

const cuts = fc.array(fc.nat(1_000_000), { maxLength: 6 });

describe.each(protocolNames)("an upstream of %s", (upstream) => {
  it.each(protocolNames)(
    "STREAM-01 STREAM-03 T17 T48: streams to the SDK of %s the same content as its whole answer",
    async (caller) => {
      const model = `acme/on-${upstream}`;
      const calls: string[][] = [];
      await fc.assert(
        fc.asyncProperty(someStream(upstream, caller === upstream), cuts, async (random, at) => {
          world.upstream.answer(json(random.whole));
          const expected = await whole(caller, model);
          world.upstream.answer(inPieces(random, at));
          const got = await streamed(caller, model);
          const [one, other] = [got, expected].map(({ answer }) => textOf(comparable(answer)));
          expect(difference(one!, other!)).toBeUndefined();
          calls.push([got.id, expected.id]);
        }),
        { numRuns: shortOrLong(1, 60) },
      );
      for (const ids of calls) {
        const [one, other] = await charges(ids);
        expect(one).toEqual(other);
      }
    },
  );
});
