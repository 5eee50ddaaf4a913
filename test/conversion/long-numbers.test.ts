/**
 * Numbers that a double cannot represent keep all digits: in tool call arguments, whole and streamed, in results and in schemas,
 * between all protocols. A changed 19-digit id would name another object. CONV-713 to CONV-716; traps T3, T22.
 */
import { describe, expect, it } from "vitest";
import { parseJsonObject } from "../../src/base/json.ts";
import { parseJsonText } from "../../src/base/json-text.ts";
import { createSseParser, formatSse } from "../../src/base/sse.ts";
import { noUsage } from "../../src/base/usage.ts";
import {
  codecs,
  createRoute,
  protocolNames,
  upstreamCodecs,
  upstreamProtocols,
  type JsonObject,
  type ProtocolName,
  type Route,
  type UpstreamProtocol,
} from "../../src/protocols/index.ts";
import { answerCalling, requestWith, streamCalling } from "./tool-wire.ts";

/** Numbers of JSON writers without doubles: 64-bit ids, decimals of up to 30 digits, and a negative zero. */
const numbers = [
  "9223372036854775807",
  "-12345678901234567.25",
  "0.123456789012345678901234567891",
  "-0.0",
];
const given = `{"n":[${numbers.join(",")}],"small":[1,0.1,1e3]}`;

const limit = "18446744073709551615";
const schema = `{"type":"object","properties":{"at":{"type":"integer","maximum":${limit}}}}`;

function routeOf(
  caller: ProtocolName,
  upstream: UpstreamProtocol,
  body: JsonObject,
  stream = false,
): Route {
  return createRoute({
    caller: codecs[caller],
    upstream: upstreamCodecs[upstream],
    body,
    stream,
    requestedModel: "acme/talk",
    model: "acme/talk",
    upstreamModel: "talk-large",
    maxOutputTokens: 1000,
    inputEstimate: 7,
    id: "req_1",
    createdAt: 1,
  });
}

/** Replaces the arguments, the result and the schema in the text with ones that contain the long numbers. */
function withNumbers(text: string): string {
  return text
    .replaceAll(
      /"(arguments)":"\{\}"/g,
      (_all, name: string) => `"${name}":${JSON.stringify(given)}`,
    )
    .replaceAll(/"(input|args)":\{\}/g, (_all, name: string) => `"${name}":${given}`)
    .replaceAll('"partial_json":"{}"', `"partial_json":${JSON.stringify(given)}`)
    .replaceAll('"delta":"{}"', `"delta":${JSON.stringify(given)}`)
    .replaceAll('{"output":"seen"}', given)
    .replaceAll('"seen"', JSON.stringify(given))
    .replaceAll('{"type":"object","properties":{"at":{"type":"string"}}}', schema);
}

const bodyOf = (caller: ProtocolName): JsonObject =>
  parseJsonObject(
    Buffer.from(withNumbers(JSON.stringify(requestWith[caller]("look")))),
  ) as JsonObject;

/** The number of occurrences of each number in a text, including argument texts. */
const countsIn = (text: string): number[] => numbers.map((number) => text.split(number).length - 1);

const asked = protocolNames.flatMap((caller) =>
  upstreamProtocols.filter((name) => name !== caller).map((to) => [caller, to] as const),
);
const answered = protocolNames.flatMap((caller) =>
  protocolNames.map((from) => [caller, from] as const),
);

describe.each(asked)("a request of %s to %s", (caller, upstream) => {
  it("T22: keeps all digits in arguments, results and schemas", () => {
    const sent = JSON.stringify(routeOf(caller, upstream, bodyOf(caller)).body);
    expect(countsIn(sent)).toEqual([2, 2, 2, 2]);
    expect(sent).toContain(`"maximum":${limit}`);
    expect(sent).not.toContain("rawJSON");
  });
});

describe.each(answered)("an answer to %s from %s", (caller, upstream) => {
  it("T3: keeps all digits in whole arguments", () => {
    const route = routeOf(caller, upstream, requestWith[caller]("look"));
    const answer = parseJsonText(withNumbers(JSON.stringify(answerCalling[upstream]("look"))));
    const given = JSON.stringify(route.answer(answer as JsonObject, [], noUsage));
    expect(countsIn(given)).toEqual([1, 1, 1, 1]);
  });

  it("T3: keeps all digits when a whole answer is streamed", () => {
    const route = routeOf(caller, upstream, requestWith[caller]("look"), true);
    const answer = parseJsonText(withNumbers(JSON.stringify(answerCalling[upstream]("look"))));
    const given = route
      .framesOf(answer as JsonObject, noUsage)
      .map(formatSse)
      .join("");
    expect(Math.min(...countsIn(given))).toBeGreaterThan(0);
  });

  it("T3: keeps all digits in streamed arguments", () => {
    const parser = createSseParser();
    const stream = withNumbers(streamCalling[upstream]("look"));
    const tap = routeOf(caller, upstream, requestWith[caller]("look"), true).tap();
    const events = [...parser.push(Buffer.from(stream)), ...parser.end()];
    const frames = events.flatMap((event) => tap.push(event));
    frames.push(...(tap.end?.() ?? []), ...tap.release(noUsage));
    expect(Math.min(...countsIn(frames.map(formatSse).join("")))).toBeGreaterThan(0);
  });

  it("T3: keeps all digits when a stream is collected", () => {
    const parser = createSseParser();
    const stream = withNumbers(streamCalling[upstream]("look"));
    const route = routeOf(caller, upstream, requestWith[caller]("look"));
    const whole = route.answerFromFrames([...parser.push(Buffer.from(stream)), ...parser.end()]);
    const given = JSON.stringify(route.answer(whole!, [], noUsage));
    expect(countsIn(given)).toEqual([1, 1, 1, 1]);
  });
});
