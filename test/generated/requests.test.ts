/**
 * Random requests that fit the vendors' own documents, sent through a gateway to upstreams of every protocol. The gateway
 * refuses each by the name of a field, or sends it in a form that the vendor accepts, and drops nothing silently. CONV-101 to
 * CONV-606, ERR-12, RESP-51; traps T20, T25, T33. Each finding of a run with other seeds has a test of its own among the
 * conversions.
 */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../src/base/errors.ts";
import {
  codecs,
  createRoute,
  protocolNames,
  type JsonObject,
  type ProtocolName,
  type Route,
} from "../../src/protocols/index.ts";
import { entries, readError, useWorld } from "../hostile/support.ts";
import { shortOrLong } from "../support/long.ts";
import { faultsOf, lostWords } from "./judges.ts";
import { hasDocument, someRequest } from "./requests.ts";

const world = useWorld();

const callers = protocolNames.filter(
  (name) => hasDocument || name.startsWith("m") || name.startsWith("g"),
);

function routeOf(
  caller: ProtocolName,
  upstream: ProtocolName,
  body: JsonObject,
): Route | undefined {
  try {
    codecs[caller].direct.validate(body);
    return createRoute({
      caller: codecs[caller],
      upstream: codecs[upstream],
      body,
      stream: false,
      requestedModel: "acme/talk",
      model: "acme/talk",
      upstreamModel: "up",
      maxOutputTokens: 32_000,
      inputEstimate: 7,
      id: "req_1",
      createdAt: 1,
    });
  } catch (error) {
    if (error instanceof GatewayError && error.status === 400 && error.param) return undefined;
    throw error;
  }
}

const params = ({ notes }: Route): string[] => notes.map(({ param }) => param);

/** The gateway's answer to the caller, and the request to the upstream. */
interface Sent {
  readonly status: number;
  readonly code: string | undefined;
  readonly param: string | null;
  readonly asked: readonly string[];
}

async function send(
  caller: ProtocolName,
  upstream: ProtocolName,
  body: JsonObject,
  stream: boolean,
): Promise<Sent> {
  const model = `acme/on-${upstream}`;
  const isGoogle = caller === "generate_content";
  const plain = entries.find(({ name }) => name === caller)!.path.replace("acme/talk", model);
  const path = stream ? plain.replace(":generateContent", ":streamGenerateContent?alt=sse") : plain;
  const sent = isGoogle ? body : { ...body, model, stream };
  const before = world.upstream.requests.length;
  const response = await world.gateway.post(path, sent);
  const text = await response.text();
  const refusal = response.ok
    ? { code: undefined, param: null }
    : readError(caller, JSON.parse(text));
  const asked = world.upstream.requests.slice(before).map((request) => request.text);
  return { status: response.status, ...refusal, asked };
}

/** An upstream's body without its streaming options. */
function withoutStreamOptions(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  const { stream: _stream, stream_options: _options, ...rest } = JSON.parse(text) as JsonObject;
  return rest;
}

const pairs = callers.flatMap((caller) =>
  protocolNames.map((upstream) => [caller, upstream] as const),
);
const converted = pairs.filter(([caller, upstream]) => caller !== upstream);

describe.each(pairs)("%s to %s", (caller, upstream) => {
  it("is refused with a field's name, or sends the same bytes each time, whole and streamed", async () => {
    await fc.assert(
      fc.asyncProperty(someRequest(caller), async (body) => {
        const whole = await send(caller, upstream, body, false);
        const again = await send(caller, upstream, body, false);
        const streamed = await send(caller, upstream, body, true);
        expect(again).toEqual(whole);
        expect(withoutStreamOptions(streamed.asked[0])).toEqual(
          withoutStreamOptions(whole.asked[0]),
        );
        expect({ ...streamed, asked: [] }).toEqual({ ...whole, asked: [] });
        const isRefused = whole.status === 400 && whole.param !== null;
        expect([whole.status, whole.asked.length]).toEqual(isRefused ? [400, 0] : [200, 1]);
      }),
      { numRuns: shortOrLong(2, 100) },
    );
  });
});

describe.each(converted)("%s converted to %s", (caller, upstream) => {
  it("is valid for the upstream, and drops nothing silently in either direction", () => {
    fc.assert(
      fc.property(someRequest(caller), (body) => {
        const route = routeOf(caller, upstream, body);
        fc.pre(route !== undefined);
        expect(faultsOf(upstream, route.body)).toEqual([]);
        expect(lostWords(body, JSON.stringify(route.body), params(route))).toEqual([]);
        const back = routeOf(upstream, caller, route.body);
        const gone = back && lostWords(route.body, JSON.stringify(back.body), params(back));
        expect(gone ?? []).toEqual([]);
      }),
      { numRuns: shortOrLong(25, 1500) },
    );
  });
});
