/** Small readers of wire values, for bodies whose shape was checked or is taken as it comes. */
import { BeyondBoundsError, parseAnswerText } from "../base/answer-json.ts";
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

/** The items of an array; none for anything else. */
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A list of nothing. */
export const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** The objects in an array. */
export const objects = (value: unknown): WireObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

/** A string with something in it. */
export const nonEmpty = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/**
 * The JSON object that a text is, such as a stream frame's data; undefined where it is anything else.
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

/** A table's row for a word from outside; what every object inherits is none. */
export const rowOf = <Row>(table: Readonly<Record<string, Row>>, word: string): Row | undefined =>
  Object.hasOwn(table, word) ? table[word] : undefined;

/** A member's members; none where it is no object. */
export const objectOf = (value: unknown): WireObject => (isObject(value) ? value : {});

/** An object with one member, or without it where there is no value. */
export const member = (key: string, value: Json | undefined): JsonObject =>
  value === undefined ? {} : { [key]: value };

/** True for what a caller really set: null is how SDKs say nothing. */
export const isSet = (value: unknown): boolean => value !== undefined && value !== null;

/** Fields of a canonical request while it is being read. */
export type Fields = Partial<Mutable<CanonicalRequest>>;

export type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** What is gathered on the way beside the fields: the caller's names of them, and what only its protocol knows. */
export interface Gathered {
  readonly names: Partial<Record<NamedField, string>>;
  readonly native: NativeField[];
}

/** Fields that mean the same under another name. `table`: wire name to canonical name. */
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

/** Native fields in the order in which the caller's body has them. */
export function inRequestOrder(body: WireObject, native: readonly NativeField[]): NativeField[] {
  if (native.length < 2) return [...native];
  const order = new Map(Object.keys(body).map((key, index) => [key, index]));
  const place = ({ param }: NativeField): number => order.get(/^[^.[]*/.exec(param)![0]) ?? 0;
  return [...native].sort((a, b) => place(a) - place(b));
}
