// One transcript: the same exchange as raw bytes in all four protocols, and what it means. cases/*.txt hold them:
// what stands before the first "=== " line says what the case is about; each section is kept to the byte.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { getOrCreate } from "../../src/base/memoize.ts";
import { protocolNames, type JsonObject, type ProtocolName } from "../../src/protocols/index.ts";
import { frozen } from "../support/frozen.ts";
import type { AnswerMeaning, RequestMeaning } from "./readers/index.ts";

/** What upstreams speak: the four, and Converse, whose column some cases have. */
export type Upstream = ProtocolName | "converse";

/** A JSON merge patch (RFC 7396) on a meaning: null removes, lists are replaced. */
type Patch = Record<string, unknown>;

/**
 * By direction, "<caller> to <upstream>": names, or lists of them with commas, or "*" for any other than the one on the
 * other side. Patches apply in order.
 */
type ByDirection<Value> = Record<string, Value>;

/** The section `meaning`. */
interface Meaning {
  /** What is asked. */
  request: Partial<RequestMeaning>;
  /** What a protocol's own request says differently from the others', on all its ways. */
  own?: Partial<Record<ProtocolName, Patch>>;
  /** What the upstream is asked differently after conversion. */
  asked?: ByDirection<Patch>;
  /** Names in `gw.droppedParams`; none where a direction is not named. */
  dropped?: ByDirection<string[]>;
  /** The code of the error where a request cannot be converted. */
  refused?: ByDirection<string>;
  /** What the model says. */
  answer: AnswerMeaning;
  /** What an upstream's own answer says differently, on all its ways. */
  told?: Partial<Record<Upstream, Patch>>;
  /** What the caller is given differently after conversion. */
  given?: ByDirection<Patch>;
  /** Likewise, of streams only. */
  streamed?: ByDirection<Patch>;
  /** Protocols whose stream, as the vendor sends it, keeps not to the protocol's own grammar. */
  odd?: ProtocolName[];
  /** Protocols whose answer holds what the canonical form has no place for. */
  native?: ProtocolName[];
}

export interface Transcript {
  readonly name: string;
  readonly meaning: Meaning;
  readonly exchanges: Readonly<Record<ProtocolName, Exchange>>;
  /** Its stream's binary frames stand as events, named by their type. */
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

/** One case, read once a process: a thousand tests ask, and reading one takes longer than converting it. */
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

/** The same to any upstream. */
interface AnyDirection {
  readonly caller: ProtocolName;
  readonly upstream: Upstream;
}

/** The values whose direction fits, in order. */
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

/** A meaning with patches. */
const withPatches = <Value>(value: Value, patches: readonly (Patch | undefined)[]): Value =>
  patches.reduce<unknown>(
    (changed, patch) => (patch === undefined ? changed : patched(changed, patch)),
    value,
  ) as Value;

/** What a protocol's own request means. */
export function ownRequest({ meaning }: Transcript, protocol: ProtocolName): RequestMeaning {
  const whole = { system: "", turns: [], tools: {}, settings: {}, others: [], ...meaning.request };
  return withPatches<RequestMeaning>(whole, [meaning.own?.[protocol]]);
}

const untoldByConverse = ({ usage }: AnswerMeaning): Patch => ({
  stopped_by: null,
  ...(usage && { usage: { reasoning: null } }),
});

/** What a protocol's own answer means. */
export const ownAnswer = ({ meaning }: Transcript, protocol: Upstream): AnswerMeaning =>
  withPatches(meaning.answer, [
    // Converse tells neither which sequence matched nor how much was reasoning.
    protocol === "converse" ? untoldByConverse(meaning.answer) : undefined,
    meaning.told?.[protocol],
  ]);

/** What the upstream is asked after conversion: nothing that has no meaning goes with it. */
export const convertedRequest = (transcript: Transcript, direction: AnyDirection): RequestMeaning =>
  withPatches({ ...ownRequest(transcript, direction.caller), others: [] }, [
    ...forDirection(transcript.meaning.asked, direction),
  ]);

/** Numbers of usage that a protocol has no name for. */
const untold: Readonly<Record<ProtocolName, readonly string[]>> = {
  chat: [],
  responses: [],
  messages: ["reasoning"],
  generate_content: ["written"],
};

/** What the caller is given after conversion: no signatures, and of usage what its protocol has names for. */
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

/** In messages, a thought without a signature bears the gateway's mark. */
export const withMark = (answer: AnswerMeaning): AnswerMeaning => ({
  ...answer,
  says: answer.says.map((said) =>
    typeof said === "object" && "thinks" in said && said.thinks !== ""
      ? { signature: "gw_unsigned", ...said }
      : said,
  ),
});

/** What is billed, and told the caller, where an upstream tells no usage. */
export const estimate = { input: 77, output: 9 } as const;
