/**
 * The JSON Schema builders that we use, with TypeBox's types. TypeBox itself would add three hundred modules to every start, a fifth of its
 * processor time; its checks are loaded at first use.
 */
import type { Static, TObject, TProperties, TSchema, Type as TypeBox } from "typebox";
import type * as Engine from "typebox/schema";
import { lazyRequire } from "./lazy-require.ts";

/** TypeBox's checks of values against schemas. */
export const engine = lazyRequire<typeof Engine>("typebox/schema");

export type { Static, TObject, TProperties, TSchema };

type Node = Readonly<Record<string, unknown>>;

/** Marks optional members. It is not part of the JSON. */
const optional = Symbol("optional");

const isOptional = (schema: Node): boolean => optional in schema;

/** Returns `{ type }` with the given rules and annotations. */
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
  /** Only for keys that are strings: we have no others. */
  Record: (_key: Node, value: Node, rules?: Node) => ({
    type: "object",
    patternProperties: { "^.*$": value },
    ...rules,
  }),
  String: plain("string"),
  Union: (anyOf: readonly Node[], rules?: Node) => ({ anyOf, ...rules }),
  Unknown: (rules?: Node) => ({ ...rules }),
  /** A handwritten schema, with the type that its author declares. */
  Unsafe: (schema: Node) => ({ ...schema }),
};

/** Builds schemas, each typed as the values that match it. A subset of TypeBox's `Type`. */
export const Type = builders as unknown as Pick<typeof TypeBox, keyof typeof builders>;
