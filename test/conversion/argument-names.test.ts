/**
 * Tool argument names that the target refuses, such as `$filter`. Anthropic and Google refuse the whole request for one of them.
 * The gateway renames them, and restores the caller's names in calls. T23; CONV-713 to CONV-716.
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
  type JsonObject,
  type ProtocolName,
  type Route,
  type UpstreamProtocol,
} from "../../src/protocols/index.ts";
import { answerCalling, calling, requestWith, streamCalling } from "./tool-wire.ts";

const id = "12345678901234567890";
/** The arguments under the caller's names, in the history and in the answer. */
const own = `{"$filter":"a eq 1","and":[{"$filter":"b","_filter":${id}}],"user name":{"x":1}}`;
const shape: JsonObject = {
  type: "object",
  properties: {
    $filter: { type: "string" },
    and: {
      type: "array",
      items: {
        type: "object",
        properties: { $filter: { $ref: "#/properties/$filter" }, _filter: { type: "integer" } },
        required: ["$filter"],
      },
    },
    "user name": { type: "object" },
    default: { type: "string", default: "$filter", enum: ["$filter", "properties"] },
  },
  required: ["$filter", "user name"],
};

const routeOf = (
  caller: ProtocolName,
  upstream: UpstreamProtocol,
  body: JsonObject,
  upstreamModel = "talk-large",
): Route =>
  createRoute({
    caller: codecs[caller],
    upstream: upstreamCodecs[upstream],
    body,
    stream: true,
    requestedModel: "acme/talk",
    model: "acme/talk",
    upstreamModel,
    maxOutputTokens: 1000,
    inputEstimate: 1,
    id: "01abc",
    createdAt: 1,
  });

const bodyOf = (caller: ProtocolName): JsonObject =>
  parseJsonObject(
    Buffer.from(calling(JSON.stringify(requestWith[caller]("look", shape)), own)),
  ) as JsonObject;

/** Member names in a body, and in the argument texts within it. */
function namesIn(value: unknown): string[] {
  if (typeof value === "string" && value.startsWith("{")) return namesIn(JSON.parse(value));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...namesIn(inner)]);
}

const strict = (["messages", "generate_content"] as const).flatMap((upstream) =>
  protocolNames
    .filter((caller) => caller !== upstream)
    .map((caller) => [caller, upstream] as const),
);

describe.each(strict)("refused argument names, from %s to %s", (caller, upstream) => {
  const route = routeOf(caller, upstream, bodyOf(caller));
  const sent = JSON.stringify(route.body);
  /** The arguments under the legal names, as the upstream's model would return them. */
  const legal = /"input":(\{.*?\}\})\}|"args":(\{.*?\}\})/.exec(sent)!.slice(1).find(Boolean)!;

  it("T23: are replaced consistently in schemas and earlier calls, which is reported", () => {
    const names = namesIn(route.body);
    expect(names.filter((name) => /^\$(?!ref)| /.test(name))).toEqual([]);
    const call = parseJsonText(legal) as { and: object[] };
    const [filter, and, user, ...others] = Object.keys(call);
    expect([filter, and, user, others]).toEqual([
      expect.stringMatching(/^_filter_[0-9a-f]{8}$/),
      "and",
      "user_name",
      [],
    ]);
    expect(Object.keys(call.and[0]!)).toEqual([filter, "_filter"]);
    expect(legal).toContain(id);
    expect(sent).toContain(`"required":["${filter}","user_name"]`);
    expect(sent).toContain(`"required":["${filter}"]`);
    expect(sent).toContain('"default":"$filter","enum":["$filter","properties"]');
    expect(route.notes).toContainEqual({
      param: "tools",
      kind: "rewritten",
      detail: "names of arguments that the upstream refuses went under others; calls have your own",
    });
  });

  it("T23: are restored in whole calls", () => {
    const answer = parseJsonText(
      calling(JSON.stringify(answerCalling[upstream]("look")), legal),
    ) as JsonObject;
    expect(unescaped(JSON.stringify(route.answer(answer, [], noUsage)))).toContain(own);
  });

  it("T23: are restored in streamed calls, at any cut", () => {
    const parser = createSseParser();
    const stream = inPieces(calling(streamCalling[upstream]("look"), legal));
    const tap = route.tap();
    const events = [...parser.push(Buffer.from(stream)), ...parser.end()];
    const frames = events.flatMap((event) => tap.push(event));
    frames.push(...(tap.end?.() ?? []), ...tap.release(noUsage));
    const inputs = frames.flatMap(({ data }) => /"partial_json":"(.*)"\}/.exec(data)?.[1] ?? []);
    const given = inputs.length > 0 ? inputs.join("") : frames.map(formatSse).join("");
    expect(unescaped(given)).toContain(own);
  });
});

it("T62: text that the restoration of argument names holds back counts as generated", () => {
  const route = routeOf("chat", "messages", bodyOf("chat"));
  const parser = createSseParser();
  const stream = inPieces(calling(streamCalling.messages("look"), '{"user_name":"Ada"}'));
  const tap = route.tap();
  const events = parser.push(
    Buffer.from(stream.slice(0, stream.indexOf("event: content_block_stop"))),
  );
  const given = events
    .flatMap((event) => tap.push(event))
    .map(formatSse)
    .join("");
  expect(given).not.toContain("Ada");
  expect(tap.seen.text).toBe('{"user_name":"Ada"}');
});

/** Some protocols have arguments as a JSON text: removes its escapes. */
const unescaped = (json: string): string => json.replaceAll(String.raw`\"`, '"');

/** Splits the call's input in a messages stream into pieces of three characters. */
const inPieces = (stream: string): string =>
  stream.replaceAll(
    /^event: content_block_delta\ndata: (.*"partial_json".*)$/gm,
    (_frame, data) => {
      const event = JSON.parse(String(data)) as { delta: { partial_json: string } };
      const pieces = event.delta.partial_json.match(/.{1,3}/g) ?? [];
      return pieces
        .map((piece) => {
          const cut = { ...event, delta: { ...event.delta, partial_json: piece } };
          return `event: content_block_delta\ndata: ${JSON.stringify(cut)}`;
        })
        .join("\n\n");
    },
  );

it.each(["chat", "responses"] as const)("argument names are unchanged towards %s", (upstream) => {
  const route = routeOf("messages", upstream, bodyOf("messages"));
  const names = namesIn(route.body);
  expect(names.filter((name) => name === "$filter")).toHaveLength(4);
  expect(route.notes).toEqual([]);
});

it("T23: argument names are replaced for Claude in Converse, and not for other models there", () => {
  const claude = routeOf("chat", "converse", bodyOf("chat"), "anthropic.claude-sonnet-4-5-v1:0");
  expect(namesIn(claude.body)).not.toContain("$filter");
  const nova = routeOf("chat", "converse", bodyOf("chat"), "amazon.nova-pro-v1:0");
  expect(namesIn(nova.body)).toContain("$filter");
});

it("T23: a definition with the name of such an argument keeps its name, and references to it too", () => {
  const { body } = routeOf(
    "chat",
    "messages",
    requestWith.chat("look", {
      type: "object",
      properties: {
        "user name": { $ref: "#/$defs/user name" },
        b: { $ref: "#/properties/user name" },
      },
      $defs: { "user name": { type: "string" } },
    }),
  );
  const sent = JSON.stringify(body);
  expect(sent).toContain('"user_name":{"$ref":"#/$defs/user name"}');
  expect(sent).toContain('"b":{"$ref":"#/properties/user_name"}');
  expect(sent).toContain('"$defs":{"user name":');
});
