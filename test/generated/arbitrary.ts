/** Random values that fit a schema of a vendor's OpenAPI document. fast-check makes and shrinks them. */
import * as fc from "fast-check";

export type Schema = Readonly<Record<string, unknown>>;
export type Schemas = Readonly<Record<string, Schema>>;

/** Replacements for a schema, or for one member of it (`Name.member`), whose value must also be meaningful. */
export type Overrides = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Beyond this depth optional members and items are left out, so that recursion ends. */
const depthMax = 9;

/** A word that occurs nowhere else, so that a test can find it again. */
export const word = fc.nat(0xfff_ffff).map((count) => `w${count.toString(36)}`);

/** Mostly a plain word, sometimes an unusual text. */
const someText = fc.oneof(
  { weight: 14, arbitrary: word },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "",
      " ",
      "\n",
      " x ",
      "null",
      "{",
      "\u{1F600}",
      "a".repeat(300),
      "é\u2028",
      "\0",
      "\ud800",
      "\ufeff",
      "\r\n",
      "data:,",
      "__proto__",
    ),
  },
);

/** A small JSON object. */
export const someJson = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,6}$/),
  fc.oneof(word, fc.integer({ min: -9, max: 99 }), fc.boolean(), fc.array(word, { maxLength: 2 })),
  { maxKeys: 3 },
);

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const schemaList = (value: unknown): Schema[] =>
  Array.isArray(value) ? value.filter((one) => isSchema(one)) : [];

const nameIn = (reference: string): string => reference.slice(reference.lastIndexOf("/") + 1);

/** Makes the arbitraries of one document's schemas. */
export class Generator {
  readonly #schemas: Schemas;
  readonly #overrides: Overrides;
  readonly #known = new Map<string, fc.Arbitrary<unknown>>();

  constructor(schemas: Schemas, overrides: Overrides) {
    this.#schemas = schemas;
    this.#overrides = overrides;
  }

  /** Values of a schema by its name. */
  named(name: string, depth: number = 0): fc.Arbitrary<unknown> {
    const override = this.#overrides[name];
    if (override) return override;
    const key = `${name} ${depth}`;
    const known = this.#known.get(key) ?? this.#of(this.#schemas[name] ?? {}, name, depth);
    this.#known.set(key, known);
    return known;
  }

  #of(schema: Schema, name: string, depth: number): fc.Arbitrary<unknown> {
    const { $ref: reference, nullable } = schema;
    if (typeof reference === "string") return this.named(nameIn(reference), depth + 1);
    const own = this.#plain(schema, name, depth);
    if (nullable !== true) return own;
    return fc.oneof({ arbitrary: own, weight: 9 }, { arbitrary: fc.constant(null), weight: 1 });
  }

  #plain(schema: Schema, name: string, depth: number): fc.Arbitrary<unknown> {
    const { enum: values, anyOf, oneOf, type } = schema;
    if ("const" in schema) return fc.constant(schema["const"]);
    if (Array.isArray(values)) return fc.constantFrom(...(values as unknown[]));
    const choices = schemaList(oneOf ?? anyOf);
    if (choices.length > 0) return this.#choice(choices, name, depth);
    if (isSchema(schema["properties"]) || schema["allOf"]) return this.#object(schema, name, depth);
    if (type === "array") return this.#array(schema, name, depth);
    if (type === "string") return stringOf(schema);
    if (type === "boolean") return fc.boolean();
    if (type === "null") return fc.constant(null);
    if (type === "integer" || type === "number") return numberOf(schema);
    return this.#map(schema["additionalProperties"], name, depth);
  }

  #choice(choices: readonly Schema[], name: string, depth: number): fc.Arbitrary<unknown> {
    const isNull = ({ type }: Schema): boolean => type === "null";
    const some = depth < depthMax ? choices : choices.slice(0, 1);
    return fc.oneof(
      ...some.map((choice) => ({
        arbitrary: this.#of(choice, name, depth + 1),
        weight: isNull(choice) ? 1 : 6,
      })),
    );
  }

  #array({ items, minItems, maxItems }: Schema, name: string, depth: number) {
    const least = Number(minItems ?? 0);
    const most = Math.min(Number(maxItems ?? 3), Math.max(least, 3));
    if (depth >= depthMax && least === 0) return fc.constant([]);
    const item = isSchema(items) ? this.#of(items, name, depth + 1) : someJson;
    return fc.array(item, { minLength: least, maxLength: most });
  }

  #map(values: unknown, name: string, depth: number): fc.Arbitrary<unknown> {
    if (!isSchema(values) || Object.keys(values).length === 0) return someJson;
    return fc.dictionary(word, this.#of(values, name, depth + 1), { maxKeys: 2 });
  }

  #object(schema: Schema, name: string, depth: number): fc.Arbitrary<unknown> {
    const { properties, required } = this.#merged(schema);
    const members = Object.entries(properties).map(([key, member]) => {
      const value =
        this.#overrides[`${name}.${key}`] ?? this.#of(member, `${name}.${key}`, depth + 1);
      if (required.has(key)) return value.map((one) => [key, one] as const);
      if (depth >= depthMax) return fc.constant(undefined);
      const present = value.map((one) => [key, one] as const);
      return fc.oneof(
        { arbitrary: fc.constant(undefined), weight: depth < 2 ? 5 : 1 },
        { arbitrary: present, weight: depth < 2 ? 2 : 1 },
      );
    });
    return fc
      .tuple(...members)
      .map((entries) => Object.fromEntries(entries.filter((entry) => entry !== undefined)));
  }

  /** The members of an object, including those of its `allOf` parts. */
  #merged(schema: Schema): { properties: Record<string, Schema>; required: Set<string> } {
    const { $ref: reference, allOf, properties, required } = schema;
    if (typeof reference === "string") return this.#merged(this.#schemas[nameIn(reference)] ?? {});
    const parts = schemaList(allOf).map((part) => this.#merged(part));
    return {
      properties: Object.assign(
        {},
        ...parts.map((part) => part.properties),
        isSchema(properties) ? properties : {},
      ) as Record<string, Schema>,
      required: new Set([
        ...parts.flatMap((part) => [...part.required]),
        ...(Array.isArray(required) ? (required as string[]) : []),
      ]),
    };
  }
}

function stringOf({ format, pattern, minLength, maxLength }: Schema): fc.Arbitrary<unknown> {
  if (format === "uri") return word.map((one) => `https://example.com/${one}.png`);
  if (typeof pattern === "string" && maxLength !== undefined)
    return word.map((one) => one.slice(0, Number(maxLength)));
  if (Number(minLength ?? 0) > 12) return word.map((one) => one.padEnd(Number(minLength), "_"));
  return Number(minLength ?? 0) === 0 && maxLength === undefined ? someText : word;
}

function numberOf({ type, minimum, maximum }: Schema): fc.Arbitrary<number> {
  const min = Math.max(Number(minimum ?? 1), -1e6);
  const max = Math.min(Number(maximum ?? min + 3000), 1e6);
  if (type === "integer") return fc.integer({ min: Math.ceil(min), max: Math.floor(max) });
  return fc
    .integer({ min: Math.ceil(min * 10), max: Math.floor(max * 10) })
    .map((tenths) => tenths / 10);
}
