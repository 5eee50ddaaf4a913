/** What the sandbox received, newest last: tests assert on it, and operators read it at `GET /__journal`. */
import { withoutData } from "./body.ts";

export interface JournalEntry {
  readonly id: number;
  /** RFC 3339. */
  readonly at: string;
  readonly vendor: string | null;
  readonly method: string;
  readonly path: string;
  /** Credentials are masked: their first seven and last four characters stay. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Parsed where it is JSON; a form by its names, of files what they are; else the text. Above 1 MB data URLs are
   * replaced by type, length and hash, and what is still above it is `{abbreviated, bytes, start}`.
   */
  readonly body: unknown;
  /** The HTTP status that was sent; null while nothing was. */
  status: number | null;
  /** The client left before the answer was whole. */
  aborted: boolean;
  duration_ms: number | null;
}

export interface JournalFilter {
  /** The upstream model named in the body or the path. */
  readonly model?: string | undefined;
  /** A text anywhere in the entry. */
  readonly contains?: string | undefined;
}

export interface Journal {
  list(filter?: JournalFilter): readonly JournalEntry[];
  clear(): void;
}

/** The side the server writes to. */
export interface JournalWriter extends Journal {
  /** Notes an arrival. The entry returned is completed in place as the answer goes out. */
  add(arrival: Arrival): JournalEntry;
}

export interface Arrival {
  readonly vendor: string | null;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The raw text, and what it parsed to. */
  readonly text: string;
  readonly body: unknown;
}

const entriesMax = 1000;
const bodyCharactersMax = 1024 * 1024;
const allBodiesCharactersMax = 64 * 1024 * 1024;
const credentials = ["authorization", "x-api-key", "x-goog-api-key"];

function mask(value: string): string {
  const [scheme, key] = value.includes(" ") ? value.split(" ", 2) : ["", value];
  const shown = key!.length <= 11 ? key!.slice(0, 7) : `${key!.slice(0, 7)}...${key!.slice(-4)}`;
  return scheme === "" ? shown : `${scheme} ${shown}`;
}

function readableHeaders(headers: Arrival["headers"]): Record<string, string> {
  const readable: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    const text = Array.isArray(value) ? value.join(", ") : value;
    readable[name] = credentials.includes(name) ? mask(text) : text;
  }
  return readable;
}

const maskQuery = (path: string) =>
  path.replace(/([?&]key=)([^&]*)/, (_, start: string, key: string) => start + mask(key));

function keptBody(arrival: Arrival): unknown {
  if (arrival.text.length <= bodyCharactersMax) return arrival.body ?? arrival.text;
  const short = withoutData(arrival.body);
  if (short !== undefined && JSON.stringify(short).length <= bodyCharactersMax) return short;
  return {
    abbreviated: true,
    bytes: Buffer.byteLength(arrival.text),
    start: arrival.text.slice(0, 1000),
  };
}

function namesModel(entry: JournalEntry, model: string): boolean {
  const body = entry.body as { model?: unknown } | null;
  return body?.model === model || entry.path.includes(`/models/${model}:`);
}

export function createJournal(): JournalWriter {
  let entries: JournalEntry[] = [];
  let sizes: number[] = [];
  let size = 0;
  let lastId = 0;

  /** Drops the oldest beyond a thousand entries or 64 MB of bodies, a batch at a time. */
  function trim(): void {
    let drop = entries.length > entriesMax * 1.1 ? entries.length - entriesMax : 0;
    let left = size - sizes.slice(0, drop).reduce((sum, one) => sum + one, 0);
    while (left > allBodiesCharactersMax && drop < entries.length - 1) left -= sizes[drop++]!;
    if (drop === 0) return;
    entries = entries.slice(drop);
    sizes = sizes.slice(drop);
    size = left;
  }

  return {
    add(arrival) {
      lastId += 1;
      const entry: JournalEntry = {
        id: lastId,
        at: new Date().toISOString(),
        vendor: arrival.vendor,
        method: arrival.method,
        path: maskQuery(arrival.path),
        headers: readableHeaders(arrival.headers),
        body: keptBody(arrival),
        status: null,
        aborted: false,
        duration_ms: null,
      };
      const kept = Math.min(arrival.text.length, bodyCharactersMax);
      entries.push(entry);
      sizes.push(kept);
      size += kept;
      if (entries.length > entriesMax * 1.1 || size > allBodiesCharactersMax) trim();
      return entry;
    },
    list: ({ model, contains } = {}) =>
      entries
        .slice(-entriesMax)
        .filter((entry) => model === undefined || namesModel(entry, model))
        .filter((entry) => contains === undefined || JSON.stringify(entry).includes(contains)),
    clear() {
      entries = [];
      sizes = [];
      size = 0;
    },
  };
}
