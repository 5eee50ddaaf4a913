// One transcript: the same exchange as raw bytes in all four protocols, and its meaning. The files are cases/*.txt. The text
// before the first "=== " line describes the case; each section is kept to the byte.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { getOrCreate } from "../../src/base/memoize.ts";
import { protocolNames, type JsonObject, type ProtocolName } from "../../src/protocols/index.ts";
import { frozen } from "../support/frozen.ts";
import type { AnswerMeaning, RequestMeaning } from "./readers/index.ts";

/** Protocols of upstreams: the four, and Converse, for which some cases have a column. */
export type Upstream = ProtocolName | "converse";

/** A JSON merge patch (RFC 7396) on a meaning: null removes, lists are replaced. */
type Patch = Record<string, unknown>;

/**
 * Values by direction, "<caller> to <upstream>". Each side is a name, a comma-separated list, or "*" for any protocol other than
 * the one on the other side. Patches apply in order.
 */
type ByDirection<Value> = Record<string, Value>;

/** The section `meaning`. */
interface Meaning {
  /** The request's meaning. */
  request: Partial<RequestMeaning>;
  /** Differences of a protocol's own request, for all its directions. */
  own?: Partial<Record<ProtocolName, Patch>>;
  /** Differences of the upstream's request after conversion. */
  asked?: ByDirection<Patch>;
  /** Names in `gw.droppedParams`; none for directions not listed. */
  dropped?: ByDirection<string[]>;
  /** The error code for directions in which the request cannot be converted. */
  refused?: ByDirection<string>;
  /** The answer's meaning. */
  answer: AnswerMeaning;
  /** Differences of an upstream's own answer, for all its directions. */
  told?: Partial<Record<Upstream, Patch>>;
  /** Differences of the caller's answer after conversion. */
  given?: ByDirection<Patch>;
  /** Like `given`, for streams only. */
  streamed?: ByDirection<Patch>;
  /** Protocols whose vendor stream violates the protocol's own grammar. */
  odd?: ProtocolName[];
  /** Protocols whose answer contains something that the canonical form cannot hold. */
  native?: ProtocolName[];
}

export interface Transcript {
  readonly name: string;
  readonly meaning: Meaning;
  readonly exchanges: Readonly<Record<ProtocolName, Exchange>>;
  /** The Converse column, if any. Its stream's binary frames are given as events, named by their type. */
  readonly converse: Exchange | undefined;
}

/** One protocol's bytes. */
interface Exchange {
  readonly request: JsonObject;
  readonly answer: JsonObject;
  readonly stream: Buffer;
}

const folder = join(import.meta.dirname, "cases");

/** The names of all cases. */
export const caseNames = (): string[] =>
  readdirSync(folder).map((file) => file.replace(/\.txt$/, ""));

const read = new Map<string, Transcript>();

/** One case, read once per process: many tests need it, and reading takes longer than converting. */
export const readTranscript = (name: string): Transcript =>
  getOrCreate(read, name, () => frozen(parseTranscript(name)));

function parseTranscript(name: string): Transcript {
  const [, ...sections] = readFileSync(join(folder, `${name}.txt`), "utf8").split(/^=== /m);
  const byTitle = new Map(
    sections.map((section) => {
      const end = section.indexOf("\n");
      return [section.slice(0, end), section.slice(end + 1)] as const;
    }),
  );
  const sectionOf = (title: string): string => {
    const section = byTitle.get(title);
    if (section === undefined) throw new Error(`${name} has no section "${title}"`);
    return section;
  };
  const exchangeOf = (protocol: Upstream): Exchange => {
    const crlf = byTitle.get(`${protocol} stream, lines end in CRLF`);
    return {
      request: JSON.parse(sectionOf(`${protocol} request`)) as JsonObject,
      answer: JSON.parse(sectionOf(`${protocol} answer`)) as JsonObject,
      stream: Buffer.from(crlf?.replaceAll("\n", "\r\n") ?? sectionOf(`${protocol} stream`)),
    };
  };
  const exchanges = Object.fromEntries(
    protocolNames.map((protocol) => [protocol, exchangeOf(protocol)]),
  ) as Record<ProtocolName, Exchange>;
  const converse = byTitle.has("converse request") ? exchangeOf("converse") : undefined;
  return { name, meaning: parse(sectionOf("meaning")) as Meaning, exchanges, converse };
}

export interface Direction {
  readonly caller: ProtocolName;
  readonly upstream: ProtocolName;
}

export const directions: readonly Direction[] = protocolNames.flatMap((caller) =>
  protocolNames.map((upstream) => ({ caller, upstream })),
);

/** A direction to any upstream, including Converse. */
interface AnyDirection {
  readonly caller: ProtocolName;
  readonly upstream: Upstream;
}

/** The values for a direction, in order. */
export function forDirection<Value>(
  values: ByDirection<Value> | undefined,
  { caller, upstream }: AnyDirection,
): Value[] {
  const fits = (names: string, name: string): boolean =>
    names === "*" || names.split(", ").includes(name);
  return Object.entries(values ?? {}).flatMap(([key, value]) => {
    const [callers = "", upstreams = ""] = key.split(" to ");
    return fits(callers, caller) && fits(upstreams, upstream) ? [value] : [];
  });
}

const isPatch = (value: unknown): value is Patch =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function patched(value: unknown, patch: unknown): unknown {
  if (!isPatch(patch)) return patch;
  const result: Patch = isPatch(value) ? { ...value } : {};
  for (const [key, member] of Object.entries(patch)) {
    if (member === null) delete result[key];
    else result[key] = patched(result[key], member);
  }
  return result;
}

/** A meaning with patches applied. */
const withPatches = <Value>(value: Value, patches: readonly (Patch | undefined)[]): Value =>
  patches.reduce<unknown>(
    (changed, patch) => (patch === undefined ? changed : patched(changed, patch)),
    value,
  ) as Value;

/** The meaning of a protocol's own request. */
export function ownRequest({ meaning }: Transcript, protocol: ProtocolName): RequestMeaning {
  const whole = { system: "", turns: [], tools: {}, settings: {}, others: [], ...meaning.request };
  return withPatches<RequestMeaning>(whole, [meaning.own?.[protocol]]);
}

const untoldByConverse = ({ usage }: AnswerMeaning): Patch => ({
  stopped_by: null,
  ...(usage && { usage: { reasoning: null } }),
});

/** The meaning of a protocol's own answer. */
export const ownAnswer = ({ meaning }: Transcript, protocol: Upstream): AnswerMeaning =>
  withPatches(meaning.answer, [
    // Converse reports neither the matched stop sequence nor the reasoning tokens.
    protocol === "converse" ? untoldByConverse(meaning.answer) : undefined,
    meaning.told?.[protocol],
  ]);

/** The upstream's request after conversion, without fields that have no meaning there. */
export const convertedRequest = (transcript: Transcript, direction: AnyDirection): RequestMeaning =>
  withPatches({ ...ownRequest(transcript, direction.caller), others: [] }, [
    ...forDirection(transcript.meaning.asked, direction),
  ]);

/** Usage counts for which a protocol has no field. */
const untold: Readonly<Record<ProtocolName, readonly string[]>> = {
  chat: [],
  responses: [],
  messages: ["reasoning"],
  generate_content: ["written"],
};

/** The caller's answer after conversion: without signatures, and only with usage counts that its protocol has. */
export function convertedAnswer(
  transcript: Transcript,
  direction: AnyDirection,
  form: "whole" | "streamed",
): AnswerMeaning {
  const { caller, upstream } = direction;
  const { given, streamed } = transcript.meaning;
  const { usage, stopped_by: stoppedBy, ...told } = ownAnswer(transcript, upstream);
  const counted = Object.entries(usage ?? estimate);
  const answer: AnswerMeaning = {
    ...told,
    ...(caller === "messages" && stoppedBy !== undefined ? { stopped_by: stoppedBy } : {}),
  };
  if (told.error === undefined) {
    const names = counted.filter(([name]) => !untold[caller].includes(name));
    answer.usage = Object.fromEntries(names);
  }
  const patched = withPatches(answer, [
    ...forDirection(given, direction),
    ...(form === "streamed" ? forDirection(streamed, direction) : []),
  ]);
  return caller === "messages" ? withMark(patched) : patched;
}

/** The answer in messages, where thoughts without a signature carry the gateway's marker. */
export const withMark = (answer: AnswerMeaning): AnswerMeaning => ({
  ...answer,
  says: answer.says.map((said) =>
    typeof said === "object" && "thinks" in said && said.thinks !== ""
      ? { signature: "gw_unsigned", ...said }
      : said,
  ),
});

/** The estimate that is billed and reported if an upstream reports no usage. */
export const estimate = { input: 77, output: 9 } as const;
