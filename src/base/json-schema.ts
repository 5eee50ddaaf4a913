/**
 * The builders of JSON Schemas that we use, with TypeBox's types. TypeBox itself would be three hundred modules more in every
 * start, a fifth of its processor time; what it checks with is loaded at its first use.
 */
import type { Static, TObject, TProperties, TSchema, Type as TypeBox } from "typebox";
import type * as Engine from "typebox/schema";
import { later } from "./later.ts";

/** TypeBox's checks of values against schemas. */
export const engine = later<typeof Engine>("typebox/schema");

export type { Static, TObject, TProperties, TSchema };

type Node = Readonly<Record<string, unknown>>;

/** Marks what an object may leave out. It is no part of the JSON. */
const optional = Symbol("optional");

const isOptional = (schema: Node): boolean => optional in schema;

/** As `{ type }`, with the rules and words that are given. */
const plain = (type: string) => (rules?: Node) => ({ type, ...rules });

function object(properties: Readonly<Record<string, Node>>, rules?: Node): Node {
  const required = Object.keys(properties).filter((name) => !isOptional(properties[name]!));
  return { type: "object", ...(required.length > 0 ? { required } : {}), properties, ...rules };
}

const builders = {
  Array: (items: Node, rules?: Node) => ({ type: "array", items, ...rules }),
  Boolean: plain("boolean"),
  Enum: (values: readonly unknown[], rules?: Node) => ({ enum: values, ...rules }),
  Integer: plain("integer"),
  Literal: (value: unknown, rules?: Node) => ({ type: typeof value, const: value, ...rules }),
  Null: plain("null"),
  Number: plain("number"),
  Object: object,
  Optional: (schema: Node) => Object.defineProperty({ ...schema }, optional, { value: true }),
  /** Of texts as keys: nothing of ours has others. */
  Record: (_key: Node, value: Node, rules?: Node) => ({
    type: "object",
    patternProperties: { "^.*$": value },
    ...rules,
  }),
  String: plain("string"),
  Union: (anyOf: readonly Node[], rules?: Node) => ({ anyOf, ...rules }),
  Unknown: (rules?: Node) => ({ ...rules }),
  /** A schema written by hand, with the type that it is said to have. */
  Unsafe: (schema: Node) => ({ ...schema }),
};

/** Makes schemas, each typed as what fits it. Same as TypeBox's `Type`, as far as it goes. */
export const Type = builders as unknown as Pick<typeof TypeBox, keyof typeof builders>;
