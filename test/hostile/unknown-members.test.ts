/**
 * Nothing in a request is silently lost. An unknown member, put into every object of many requests, is passed on, reported or
 * refused on the way to every other protocol. CONV-101 to CONV-113, ERR-12; trap T33.
 */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { plainBase64 } from "../../src/base/plain-base64.ts";
import { GatewayError } from "../../src/base/errors.ts";
import {
  codecs,
  createRoute,
  protocolNames,
  upstreamCodecs,
  upstreamProtocols,
  type JsonObject,
  type ProtocolName,
  type UpstreamProtocol,
} from "../../src/protocols/index.ts";
import { frozen } from "../support/frozen.ts";
import { shortOrLong } from "../support/long.ts";
import { caseNames, readTranscript } from "../transcripts/transcript.ts";
import { fullRequests } from "./full-requests.ts";

const routeOf = (caller: ProtocolName, upstream: UpstreamProtocol, body: JsonObject) =>
  createRoute({
    caller: codecs[caller],
    upstream: upstreamCodecs[upstream],
    body,
    stream: false,
    requestedModel: "acme/talk",
    model: "acme/talk",
    upstreamModel: "talk-large",
    maxOutputTokens: 30_000,
    inputEstimate: 7,
    id: "req_1",
    createdAt: 1,
  });

interface AgentCase {
  readonly protocol: ProtocolName;
  readonly body: JsonObject;
  readonly steps: readonly JsonObject[];
}

const agentCases = new URL("../agents/cases/", import.meta.url);

/** Recorded requests of agents in this protocol. */
const agentRequests = (protocol: ProtocolName): JsonObject[] =>
  readdirSync(agentCases)
    .map((file) => JSON.parse(readFileSync(new URL(file, agentCases), "utf8")) as AgentCase)
    .filter((agent) => agent.protocol === protocol)
    .flatMap(({ body, steps }) => steps.map((step) => ({ ...body, ...step })));

const transcripts = caseNames().map((name) => readTranscript(name).exchanges);

const requestsTo = (protocol: ProtocolName): readonly JsonObject[] => [
  ...fullRequests[protocol],
  ...agentRequests(protocol),
  ...transcripts.map((exchanges) => exchanges[protocol].request),
];
/** Frozen: a conversion that changes its input throws. */
const requestsOf = frozen({
  chat: requestsTo("chat"),
  responses: requestsTo("responses"),
  messages: requestsTo("messages"),
  generate_content: requestsTo("generate_content"),
});

const unknownName = "zz_new";
const unknownValue = "zz-said";

type Path = readonly (string | number)[];
type Holder = Record<string, unknown>;

/** The path of every object in a value, including the value itself. */
function objectPaths(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.keys(value).flatMap((key) =>
    objectPaths((value as Holder)[key], [...path, Array.isArray(value) ? Number(key) : key]),
  );
  return Array.isArray(value) ? inner : [path, ...inner];
}

/** The path of every text in a value. */
function textPaths(value: unknown, path: Path = []): Path[] {
  if (typeof value === "string") return [path];
  if (typeof value !== "object" || value === null) return [];
  return Object.keys(value).flatMap((key) =>
    textPaths((value as Holder)[key], [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

/** The names of all members in these requests. */
const namesIn = (bodies: readonly JsonObject[]): string[] => [
  ...new Set(
    bodies.flatMap((body) => objectPaths(body).flatMap((path) => Object.keys(at(body, path)))),
  ),
];

/** Schemas have rules of their own (schema-losses.test.ts). */
const isInSchema = (path: Path): boolean =>
  path.some(
    (step) =>
      /^(?:parameters|.*schema|\$defs|properties)$/i.test(String(step)) && step !== "json_schema",
  );

/** The model, which is replaced by another name, and the names of tools, which decide whether tools are offered. */
const isAddress = (path: Path): boolean =>
  path[0] === "model" ||
  (String(path[0]).startsWith("tool") && path.at(-1) === "name") ||
  path.includes("allowedFunctionNames");

/** The protocols that a request of a caller is converted to. */
const upstreamsOf = (caller: ProtocolName) => upstreamProtocols.filter((name) => name !== caller);
const upstreamsEach = upstreamProtocols.length - 1;
const kindsOfValue = [unknownValue, { [unknownName]: unknownValue }, [unknownValue]];

/**
 * Members that an object does not have, each with a value: of every kind in the long form. In the short form every second member
 * of each object goes to one upstream only. `turn` counts objects and upstreams, so that they alternate.
 */
const misplaced = (names: readonly string[], object: Holder, turn: number) =>
  names
    .filter((name) => !Object.hasOwn(object, name))
    .flatMap((name, index) => {
      const short = (index + turn) % (2 * upstreamsEach) === 0;
      const kind = kindsOfValue[Math.floor((index + turn) / upstreamsEach) % kindsOfValue.length];
      return shortOrLong(short ? [kind] : [], kindsOfValue).map((said) => [name, said] as const);
    });

/** A copy of the value with another member at a path. Parts beside the path are shared. */
function withMember<Value extends object>(
  value: Value,
  [step, ...rest]: Path,
  name: string,
  said: unknown,
): Value {
  const changed = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Value;
  const holder = changed as Holder;
  if (step === undefined) holder[name] = said;
  else holder[step] = withMember(holder[step] as object, rest, name, said);
  return changed;
}

const at = (value: unknown, path: Path): Holder =>
  path.reduce<unknown>((holder, step) => (holder as Holder)[step], value) as Holder;

/** A path as notes have it: without indexes. */
const plain = (param: string): string => param.replace(/\[\d+\]/g, "");
const nameOf = (path: Path): string => path.filter((step) => typeof step === "string").join(".");

interface Converted {
  readonly sent: string;
  readonly notes: readonly string[];
}

/** The converted request; undefined if it is refused. */
function convert(
  caller: ProtocolName,
  upstream: UpstreamProtocol,
  body: JsonObject,
): Converted | undefined {
  try {
    const route = routeOf(caller, upstream, body);
    const notes = route.notes.map(({ param, detail }) => `${plain(param)}: ${detail}`);
    return { sent: JSON.stringify(route.body).toLowerCase(), notes };
  } catch (error) {
    if (error instanceof GatewayError && error.status === 400) return undefined;
    throw error;
  }
}

/** Members that are reported under another name (caller-names.ts). */
const reportedAs: readonly (readonly [RegExp, string])[] = [
  [/^messages\.reasoning(?:_details)?$/, "messages.reasoning_content"],
  [/^input\.summary\.text$/, "input.reasoning"],
  [/^input\.content\.file_data$/, "input.content.input_file"],
  [/^messages\.content\.data$/, "messages.content.signature"],
  [/^messages\.content\.(?:source\.data|title)$/, "messages.content.document"],
  [/^contents\.parts\.text$/, "contents.parts.thought"],
  [/^system_?instruction\.parts\.thoughtSignature$/i, "contents.parts.thoughtSignature"],
  [/^(.+)\.allowedFunctionNames$/, "$1"],
];

/** Members without a meaning for another vendor, or without any. */
const meaningless: readonly RegExp[] = [
  // Only of streams, or of the vendor's store.
  /^messages\.tool_calls\.index$/,
  /^input\.(?:id|status)$/,
  // Ignored by its own vendor (wire/generate-content.md).
  /^system_?instruction\.role$/i,
  // A label that only OpenAI requires.
  /^(?:response_format\.json_schema|text\.format)\.name$/,
  // The response's id already identifies its call.
  /^contents\.parts\.functionResponse\.name$/,
  /^input\.summary\.type$/,
];

const isMeaningless = (place: string): boolean =>
  meaningless.some((pattern) => pattern.test(place));

/** True if a note covers the member: the member itself, a dropped parent, or keywords of a schema. */
function isOf(name: string, note: string): boolean {
  const [param] = note.split(": ") as [string];
  const alias = reportedAs.find(([pattern]) => pattern.test(name));
  if (alias && name.replace(...(alias as [RegExp, string])) === param) return true;
  if (name === param || param.startsWith(`${name}.`)) return true;
  // The id that pairs a call with its result was changed: neither is sent, and a note with another name reports that.
  if (note.includes(" removed: ") && param.split(".")[0] === name.split(".")[0]) return true;
  const isDropped = / dropped(?: in conversion; .+)?$/.test(note);
  const leftOut = note.split(" left out: ")[1]?.split(", ") ?? [];
  const isKeyword = [...name.split("."), unknownName, "..."].some((step) => leftOut.includes(step));
  return name.startsWith(`${param}.`) && (isDropped || isKeyword);
}

/** True if the value at a place is neither sent nor reported, and the request is not refused. */
function isLost(after: Converted | undefined, place: string): boolean {
  if (!after || isMeaningless(place)) return false;
  // Media are sent with the same bytes, in the standard alphabet of base64.
  const said = place.endsWith(".data") ? [unknownValue, plainBase64(unknownValue)] : [unknownValue];
  if (said.some((value) => after.sent.includes(value))) return false;
  return !after.notes.some((note) => isOf(place, note));
}

/** The kinds of objects in a request, each once: by path without indexes, type, role and keys. */
function kindsIn(body: JsonObject, seen: Set<string>): Path[] {
  return objectPaths(body).filter((path) => {
    const { type, role } = at(body, path);
    const keys = Object.keys(at(body, path)).sort().join();
    const kind = `${nameOf(path)} ${String(type)} ${String(role)} ${keys}`;
    return !seen.has(kind) && seen.add(kind);
  });
}

const pairs = protocolNames.flatMap((caller) =>
  upstreamsOf(caller).map((upstream) => [caller, upstream] as const),
);

describe.each(pairs)("requests converted from %s to %s", (caller, upstream) => {
  it("T33 CONV-101: are convertible without further members", () => {
    const isConverted = (body: JsonObject) => convert(caller, upstream, body) !== undefined;
    expect(fullRequests[caller].filter(isConverted).length).toBeGreaterThan(1);
  });

  it("T33 CONV-101: lose no unknown member of any object: each is sent, reported or refused", () => {
    const lost = new Set<string>();
    const seen = new Set<string>();
    for (const body of requestsOf[caller]) {
      if (!convert(caller, upstream, body)) continue;
      for (const path of kindsIn(body, seen)) {
        // An unused definition has no effect.
        if (path.at(-1) === "$defs") continue;
        const place = nameOf([...path, unknownName]);
        const after = convert(caller, upstream, withMember(body, path, unknownName, unknownValue));
        if (isLost(after, place)) lost.add(place);
      }
    }
    expect([...lost]).toEqual([]);
  });

  it("T33 CONV-101: lose no member that belongs to another object of the protocol: each is sent, reported or refused", () => {
    const lost = new Set<string>();
    const seen = new Set<string>();
    const names = namesIn(fullRequests[caller]);
    let turn = upstreamsOf(caller).indexOf(upstream);
    for (const body of fullRequests[caller]) {
      if (!convert(caller, upstream, body)) continue;
      for (const path of kindsIn(body, seen).filter((one) => !isInSchema(one))) {
        turn += 1;
        for (const [name, said] of misplaced(names, at(body, path), turn)) {
          const place = nameOf([...path, name]);
          const after = convert(caller, upstream, withMember(body, path, name, said));
          if (isLost(after, place)) lost.add(`${place}: ${JSON.stringify(said)}`);
        }
      }
    }
    expect([...lost]).toEqual([]);
  });

  it("T33 CONV-101: lose no changed text of any field: each is sent, reported or refused", () => {
    const lost = new Set<string>();
    for (const body of fullRequests[caller]) {
      if (!convert(caller, upstream, body)) continue;
      for (const path of textPaths(body)) {
        const place = nameOf(path);
        if (isInSchema(path) || isAddress(path)) continue;
        const changed = withMember(body, path.slice(0, -1), String(path.at(-1)), unknownValue);
        if (isLost(convert(caller, upstream, changed), place)) lost.add(place);
      }
    }
    expect([...lost]).toEqual([]);
  });
});
