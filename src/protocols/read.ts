/** Small readers of wire values, validated or not. */
import { BeyondBoundsError, parseAnswerText } from "../base/answer-json.ts";
import { exactText } from "../base/exact-numbers.ts";
import type { JsonBounds } from "../base/json-scan.ts";
import { isObject, type WireObject } from "../base/json.ts";
import type {
  CanonicalFieldName,
  CanonicalRequest,
  Json,
  JsonObject,
  NamedField,
  NativeField,
} from "./canonical/request.ts";

/** Returns the items of an array; empty for anything else. */
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** True for an empty array. */
export const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** Returns the objects in an array; empty for anything else. */
export const objects = (value: unknown): WireObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

/** Returns a non-empty string; undefined for anything else. */
export const nonEmpty = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** Returns the number that a text writes, as some vendors do; anything else unchanged. */
export const numberOf = (value: unknown): unknown =>
  typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;

/** Later than any time in seconds: such a time is in milliseconds, or finer. */
const secondsMax = 1e11;

/** True for a time that typed clients read: they refuse fractions, and later times than they can hold. */
export const isWholeSeconds = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < secondsMax;

/** Returns a time as whole seconds, `otherwise` if it is none. SambaNova writes fractions of a second, mistral.rs milliseconds. */
export function wholeSeconds(value: unknown, otherwise: number): number {
  if (!isSet(value) || value === "") return otherwise;
  let seconds = Number(typeof value === "object" ? exactText(value) : value);
  while (seconds >= secondsMax && Number.isFinite(seconds)) seconds /= 1000;
  return seconds >= 0 && Number.isFinite(seconds) ? Math.floor(seconds) : otherwise;
}

/**
 * Parses a text as a JSON object, such as a stream frame's data; undefined for anything else.
 * @throws BeyondBoundsError for more than an answer may hold
 */
export function parseObject(text: string, bounds?: JsonBounds): WireObject | undefined {
  try {
    const value = parseAnswerText(text, bounds && { bounds });
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof BeyondBoundsError) throw error;
    return undefined;
  }
}

/** Looks up an untrusted word in a table, ignoring inherited members. */
export const lookUp = <Row>(table: Readonly<Record<string, Row>>, word: string): Row | undefined =>
  Object.hasOwn(table, word) ? table[word] : undefined;

/** Returns the value if it is an object, otherwise an empty object. */
export const objectOf = (value: unknown): WireObject => (isObject(value) ? value : {});

/** Returns an object with one member, or an empty one if the value is undefined. */
export const member = (key: string, value: Json | undefined): JsonObject =>
  value === undefined ? {} : { [key]: value };

/** True if the caller set the value: SDKs send null for unset fields. */
export const isSet = (value: unknown): boolean => value !== undefined && value !== null;

/** Fields of a canonical request while it is decoded. */
export type Fields = Partial<Mutable<CanonicalRequest>>;

export type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Data collected beside the fields: the caller's names of them, and the native fields. */
export interface Gathered {
  readonly names: Partial<Record<NamedField, string>>;
  readonly native: NativeField[];
}

/** Reads fields that only have another name. `table`: wire name to canonical name. */
export function readRenamed(
  body: WireObject,
  table: Readonly<Record<string, CanonicalFieldName & keyof CanonicalRequest>>,
  names: Gathered["names"],
): Fields {
  const fields: WireObject = {};
  for (const wireName of Object.keys(table)) {
    if (!isSet(body[wireName])) continue;
    const name = table[wireName]!;
    fields[name] = body[wireName];
    names[name] = wireName;
  }
  return fields;
}

/** Sorts native fields in the order of the caller's body. */
export function inRequestOrder(body: WireObject, native: readonly NativeField[]): NativeField[] {
  if (native.length < 2) return [...native];
  const order = new Map(Object.keys(body).map((key, index) => [key, index]));
  const place = ({ param }: NativeField): number => order.get(/^[^.[]*/.exec(param)![0]) ?? 0;
  return [...native].sort((a, b) => place(a) - place(b));
}
