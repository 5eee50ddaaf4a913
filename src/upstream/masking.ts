/**
 * Masks the operator's credentials in vendors' texts, before they are stored or shown. Vendors echo a key whole, cut, partly starred
 * ("sk-...abcd"), URL-encoded or escaped. Masking happens only here; every upstream error passes it when it arrives.
 */
import { pushAll } from "../base/push-all.ts";
import { getOrCreate } from "../base/memoize.ts";
import { accessSecrets, type Provider } from "../catalog/index.ts";
import { BadAnswerError } from "./bad-answer.ts";

/** The replacement for a credential. */
const maskedCredential = "[credential]";

/** This many consecutive characters of a credential are recognisable. */
const partMin = 8;
/** Shorter credentials are masked only whole and between word boundaries: otherwise ordinary words would be masked. */
const wholeMin = 4;

/** A text, and the place of each of its characters in the original. */
interface View {
  readonly text: string;
  /** Absent: the same places. Otherwise one element longer than the text. */
  readonly places?: readonly number[];
}

type Span = readonly [from: number, to: number];

/** A credential of at least `partMin` characters, and the places of each of its parts. */
interface LongKey {
  readonly key: string;
  readonly places: ReadonlyMap<string, readonly number[]>;
}

function longKey(key: string): LongKey {
  const places = new Map<string, number[]>();
  for (let at = 0; at + partMin <= key.length; at += 1) {
    const part = key.slice(at, at + partMin);
    places.set(part, [...(places.get(part) ?? []), at]);
  }
  return { key, places };
}

/** Masks the credentials of a provider in texts. */
class Masker {
  readonly #keys: readonly string[];
  readonly #longKeys: readonly LongKey[];
  /** Each part of a credential; true if it goes beyond the public prefix. */
  readonly #parts = new Map<string, boolean>();
  /** The first two characters of each part, as a filter: most places of a text need no further look. */
  readonly #beginnings = new Set<number>();

  constructor(keys: readonly string[]) {
    this.#keys = keys.filter((key) => key.length >= wholeMin);
    this.#longKeys = this.#keys.filter((key) => key.length >= partMin).map(longKey);
    for (const key of this.#keys)
      for (let at = 0; at + partMin <= key.length; at += 1) {
        this.#parts.set(key.slice(at, at + partMin), at + partMin > prefixOf(key));
        this.#beginnings.add(key.charCodeAt(at) * 65_536 + key.charCodeAt(at + 1));
      }
  }

  mask(text: string): string {
    if (this.#keys.length === 0 || text.length < wholeMin) return text;
    const spans = this.#spansIn({ text });
    const decoded = decodedView(text);
    if (decoded) pushAll(spans, this.#spansIn(decoded));
    if (spans.length === 0) return text;
    spans.sort((left, right) => left[0] - right[0]);
    let masked = "";
    let at = 0;
    for (const [from, to] of spans) {
      if (from >= at) masked += text.slice(at, from) + maskedCredential;
      at = Math.max(at, to);
    }
    return masked + text.slice(at);
  }

  #spansIn({ text, places }: View): Span[] {
    const spans = [...this.#partsIn(text), ...this.#shortIn(text), ...this.#starredIn(text)];
    return places ? spans.map(([from, to]) => [places[from]!, places[to]!]) : spans;
  }

  #partsIn(text: string): Span[] {
    const spans: { from: number; to: number; isSecret: boolean }[] = [];
    for (let at = 0; at + partMin <= text.length; at += 1) {
      if (!this.#beginnings.has(text.charCodeAt(at) * 65_536 + text.charCodeAt(at + 1))) continue;
      const isSecret = this.#parts.get(text.slice(at, at + partMin));
      if (isSecret === undefined) continue;
      const to = at + partMin;
      const last = spans.at(-1);
      if (last && at <= last.to) {
        last.to = to;
        last.isSecret ||= isSecret;
      } else spans.push({ from: at, to, isSecret });
    }
    return spans.flatMap(({ from, to, isSecret }) => (isSecret ? [[from, to] as const] : []));
  }

  #shortIn(text: string): Span[] {
    const spans: Span[] = [];
    for (const key of this.#keys) {
      if (key.length >= partMin) continue;
      for (let at = text.indexOf(key); at !== -1; at = text.indexOf(key, at + 1))
        if (!isWord(text[at - 1]) && !isWord(text[at + key.length]))
          spans.push([at, at + key.length]);
    }
    return spans;
  }

  /** Finds runs of stars or dots with the start of a credential before, its end behind, or both. */
  #starredIn(text: string): Span[] {
    const spans: Span[] = [];
    let runs = 0;
    for (const { index, 0: run } of text.matchAll(starred)) {
      if ((runs += 1) > runsMax) break;
      const end = index + run.length;
      for (const long of this.#longKeys) {
        const before = sharedBefore(text, index, long);
        const behind = sharedBehind(text, end, long);
        const isSecret =
          behind >= 4 || before > prefixOf(long.key) + 2 || (before >= 2 && behind >= 2);
        if (isSecret) spans.push([index - before, end + behind]);
      }
    }
    return spans;
  }
}

const starred = /[*•●·…]+|\.{2,}|[xX]{4,}|_{3,}|-{3,}|#{2,}/g;

/** The length of a credential's public prefix, such as `sk-proj-`, which only names its vendor and kind. */
const prefixOf = (key: string): number => /^(?:[a-z]{2,8}[-_]){1,3}/.exec(key)?.[0].length ?? 0;

/** Limits the work for a text of stars alone. */
const runsMax = 1_000;

const isWord = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}_]/u.test(character);

/**
 * Returns how many characters before `index` are the start of a key. Compares only at the places of its parts, because tokens may have
 * thousands of characters.
 */
function sharedBefore(text: string, index: number, { key, places }: LongKey): number {
  const fits = (length: number): boolean =>
    length <= index && text.startsWith(key.slice(0, length), index - length);
  const starts = places.get(text.slice(Math.max(0, index - partMin), index)) ?? [];
  const start = starts.findLast((at) => fits(at + partMin));
  if (start !== undefined) return start + partMin;
  for (let length = partMin - 1; length > 0; length -= 1) if (fits(length)) return length;
  return 0;
}

/** Returns how many characters from `end` on are the end of a key. */
function sharedBehind(text: string, end: number, { key, places }: LongKey): number {
  const fits = (length: number): boolean => text.startsWith(key.slice(-length), end);
  const starts = places.get(text.slice(end, end + partMin)) ?? [];
  const start = starts.find((at) => fits(key.length - at));
  if (start !== undefined) return key.length - start;
  for (let length = partMin - 1; length > 0; length -= 1) if (fits(length)) return length;
  return 0;
}

/** An encoded character: in a URL (encoded once or more), in JSON (escaped once or more) or in HTML. */
const written =
  /%(?:25){0,4}([0-9a-fA-F]{2})|\\{1,8}u([0-9a-fA-F]{4})|\\{1,8}(?=[^u\\])|&#(\d{1,5});|&#x([0-9a-fA-F]{1,4});|&amp;/g;

/** Decodes such characters; undefined if the text has none. */
function decodedView(text: string): View | undefined {
  if (!/[%\\&]/.test(text)) return undefined;
  const places: number[] = [];
  let decoded = "";
  let at = 0;
  /** The place of the first backslash that escapes the next character. */
  let begun: number | undefined;
  const add = (character: string, place: number): void => {
    decoded += character;
    places.push(begun ?? place);
    begun = undefined;
  };
  const copyTo = (end: number): void => {
    for (; at < end; at += 1) add(text[at]!, at);
  };
  for (const { index, 0: match, 1: url, 2: json, 3: decimal, 4: html } of text.matchAll(written)) {
    copyTo(index);
    const hex = url ?? json ?? html;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    if (match === "&amp;") add("&", index);
    else if (Number.isNaN(code)) begun ??= index;
    else add(String.fromCharCode(code), index);
    at = index + match.length;
  }
  copyTo(text.length);
  places.push(begun ?? text.length);
  return { text: decoded, places };
}

const maskers = new WeakMap<Provider, Masker>();

/** Secrets in a provider's requests that are not in its file: the last tokens of each provider. */
const fetched = new WeakMap<Provider, readonly string[]>();
const fetchedMax = 4;

/** Adds a secret to mask in the provider's texts from now on. */
export function maskSecret(provider: Provider, secret: string): void {
  const known = fetched.get(provider) ?? [];
  if (known.includes(secret)) return;
  fetched.set(provider, [secret, ...known].slice(0, fetchedMax));
  maskers.delete(provider);
}

/** The sandbox's key: a word, not a secret. */
const sandboxKey = "sandbox";

/** Returns a vendor's text without any credential of its provider, or any recognisable part of one. */
export function withoutCredentials(provider: Provider, text: string): string {
  return getOrCreate(maskers, provider, () => new Masker(secretsOf(provider))).mask(text);
}

const secretsOf = (provider: Provider): readonly string[] =>
  [
    ...provider.credentials.map(({ apiKey }) => apiKey),
    ...accessSecrets(provider.access),
    ...(fetched.get(provider) ?? []),
  ].filter((key) => key !== sandboxKey);

const causesMax = 8;

/** Masks an error in place, with its message, reason, stack and causes: it may quote the vendor, and is logged. */
export function maskError(provider: Provider, thrown: unknown): void {
  let error = thrown;
  for (let depth = 0; error instanceof Error && depth < causesMax; depth += 1) {
    for (const name of ["message", "stack", "reason"]) {
      const said: unknown = Reflect.get(error, name);
      const masked = typeof said === "string" ? withoutCredentials(provider, said) : said;
      if (masked !== said) Object.defineProperty(error, name, { value: masked });
    }
    if (error instanceof BadAnswerError) maskError(provider, error.refusal);
    error = error.cause;
  }
}
