/**
 * The schema that checks a protocol's request, made readable: the same values are accepted, but conditions stand as
 * `if` and `then`, nullable fields as one type, and the fields that matter carry a description.
 */
import { inCamelCase } from "../../base/casing.ts";
import { isObject } from "../../base/json.ts";
import { condition, type Node } from "./document.ts";

interface Options<Name extends string> {
  readonly title: string;
  /** Of the body's own fields. */
  readonly descriptions: Readonly<Partial<Record<Name, string>>>;
}

/** A copy of `schema` for people to read. */
export function readable<Properties extends object>(
  schema: { readonly properties: Properties },
  { title, descriptions }: Options<keyof Properties & string>,
): Node {
  const copy = rewrite(structuredClone(JSON.parse(JSON.stringify(schema)))) as Record<
    string,
    unknown
  >;
  const properties = copy["properties"] as Record<string, Node>;
  for (const [name, description] of Object.entries<string | undefined>(descriptions)) {
    if (description !== undefined) properties[name] = { description, ...properties[name] };
  }
  return { title, ...copy, properties };
}

function rewrite(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewrite);
  if (!isObject(value)) return value;
  const node = Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, rewrite(inner)]),
  );
  if (isObject(node["properties"])) node["properties"] = withoutSecondSpellings(node["properties"]);
  return conditional(node) ?? nullable(node) ?? node;
}

/** The branches of a node that is nothing but a choice of two. */
function twoBranches(node: Node): readonly [Node, Node] | undefined {
  const { anyOf, ...others } = node;
  const isPlain = Object.keys(others).length === 0;
  return isPlain && Array.isArray(anyOf) && anyOf.length === 2
    ? [anyOf[0] as Node, anyOf[1] as Node]
    : undefined;
}

/** Either not this, or that: if this, then that. */
function conditional(node: Node): Node | undefined {
  const [first, rule] = twoBranches(node) ?? [{}, {}];
  return isObject(first["not"]) && Object.keys(first).length === 1
    ? condition(first["not"], rule)
    : undefined;
}

/** Keywords that say nothing about null. Beside any other, null must stay a branch of its own. */
const silentOnNull = new Set([
  "type",
  "description",
  "minimum",
  "maximum",
  "minLength",
  "pattern",
  "items",
  "minItems",
  "maxItems",
  "properties",
  "required",
]);

/** This or null: this, of one type or one branch more. */
function nullable(node: Node): Node | undefined {
  const [first, second] = twoBranches(node) ?? [{}, {}];
  if (second["type"] !== "null") return undefined;
  if (Array.isArray(first["anyOf"]) && Object.keys(first).length === 1) {
    return { anyOf: [...first["anyOf"], second] };
  }
  const { enum: values, ...plain } = first;
  if (typeof first["type"] !== "string") return undefined;
  if (!Object.keys(plain).every((key) => silentOnNull.has(key))) return undefined;
  const type = [first["type"], "null"];
  return Array.isArray(values) ? { ...plain, type, enum: [...values, null] } : { ...plain, type };
}

/** generateContent takes camelCase and snake_case; showing one is enough. */
function withoutSecondSpellings(properties: Node): Node {
  return Object.fromEntries(
    Object.entries(properties).filter(
      ([name]) => inCamelCase(name) === name || !(inCamelCase(name) in properties),
    ),
  );
}
