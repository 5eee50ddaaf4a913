// The meaning of a request or an answer, independent of the protocol. The readers in this folder parse the wire formats
// themselves. They share no code with the codecs under test, so that a bug there cannot hide here.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Wire = Record<string, unknown>;

/** One piece of content: text as a string, anything else as an object whose first member names its kind. */
export type Said =
  | string
  | { thinks: string; signature?: string }
  | { refuses: string }
  | { call: string; id: string; arguments: unknown; signature?: string }
  | { result: string; says: Said[]; name?: string; error?: true }
  | { image: string; detail?: string }
  | { audio: string }
  | { video: string }
  | { file: string; title?: string };

export type Turn = { user: Said[] } | { assistant: Said[] } | { system: Said[] };

export interface RequestMeaning {
  system: string;
  turns: Turn[];
  /** Tools by name. */
  tools: Record<string, { description?: string; parameters?: unknown; strict?: boolean }>;
  /** All other settings, under protocol-independent names. */
  settings: Record<string, unknown>;
  /** Fields of the body that the reader does not know. */
  others: string[];
}

export interface UsageMeaning {
  /** Includes cache reads and writes. */
  input?: number;
  cached?: number;
  written?: number;
  /** Includes reasoning. */
  output?: number;
  reasoning?: number;
}

export interface AnswerMeaning {
  says: Said[];
  finish?: string;
  /** The stop sequence that matched. */
  stopped_by?: string;
  usage?: UsageMeaning;
  /** The error of a failed answer, which has no finish. */
  error?: string;
}

/** A stream's meaning, and the faults of its grammar, one sentence each. */
export interface StreamMeaning extends AnswerMeaning {
  faults: string[];
}

/** One frame as on the wire. */
export interface Frame {
  event?: string;
  data: string;
}

/** The reader of one protocol. */
export interface Reader {
  request(body: Wire): RequestMeaning;
  answer(body: Wire): AnswerMeaning;
  stream(frames: readonly Frame[]): StreamMeaning;
}

export const isWire = (value: unknown): value is Wire =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const wire = (value: unknown): Wire => (isWire(value) ? value : {});
export const items = (value: unknown): Wire[] =>
  Array.isArray(value) ? value.filter((item) => isWire(item)) : [];
export const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Members that are set, in the order given. */
export function set<Value>(members: Record<string, Value>): Record<string, NonNullable<Value>> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== null),
  ) as Record<string, NonNullable<Value>>;
}

/** Joins neighbouring texts. */
export function joined(says: readonly Said[]): Said[] {
  const result: Said[] = [];
  for (const said of says) {
    const last = result.at(-1);
    if (typeof said === "string" && typeof last === "string")
      result[result.length - 1] = last + said;
    else if (said !== "") result.push(said);
  }
  return result;
}

/** Builds a usage from counts. For cache and reasoning, 0 equals absent. */
export function counted(counts: {
  readonly [name in keyof UsageMeaning]: unknown;
}): UsageMeaning {
  const isCounted = ([name, count]: [string, unknown]): boolean =>
    typeof count === "number" && (count > 0 || name === "input" || name === "output");
  return Object.fromEntries(Object.entries(counts).filter(isCounted));
}

/** All texts of the content, joined. */
export const textOf = (says: readonly Said[], separator: string): string =>
  says.filter((said) => typeof said === "string").join(separator);

/** Parses JSON text. Other text stays text. */
export function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

/** The frames of a stream's text. Comments are skipped, as clients do. */
export function framesOf(stream: string): Frame[] {
  const frames: Frame[] = [];
  for (const block of stream.split(/\r?\n\r?\n/)) {
    const lines = block.split(/\r?\n/);
    const value = (name: string): string[] =>
      lines
        .filter((line) => line.startsWith(`${name}:`))
        .map((line) => line.slice(name.length + 1).trim());
    const data = value("data");
    if (data.length === 0) continue;
    const [event] = value("event");
    frames.push(event === undefined ? { data: data.join("\n") } : { event, data: data.join("\n") });
  }
  return frames;
}
