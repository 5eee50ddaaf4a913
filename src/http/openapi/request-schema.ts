/**
 * Makes the schema that checks a protocol's request readable. It accepts the same values. But conditions become `if` and `then`,
 * nullable fields get one type, and the important fields get a description.
 */
import { inCamelCase } from "../../base/casing.ts";
import { isObject } from "../../base/json.ts";
import { condition, type Node } from "./document.ts";

interface Options<Name extends string> {
  readonly title: string;
  /** Descriptions of the body's own fields. */
  readonly descriptions: Readonly<Partial<Record<Name, string>>>;
}

/** Returns a copy of `schema` for people to read. */
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

/** Returns the two branches of a node that is only an `anyOf` of two; otherwise undefined. */
function twoBranches(node: Node): readonly [Node, Node] | undefined {
  const { anyOf, ...others } = node;
  const isPlain = Object.keys(others).length === 0;
  return isPlain && Array.isArray(anyOf) && anyOf.length === 2
    ? [anyOf[0] as Node, anyOf[1] as Node]
    : undefined;
}

/** Rewrites "either not A, or B" as "if A, then B"; undefined for other nodes. */
function conditional(node: Node): Node | undefined {
  const [first, rule] = twoBranches(node) ?? [{}, {}];
  return isObject(first["not"]) && Object.keys(first).length === 1
    ? condition(first["not"], rule)
    : undefined;
}

/** Keywords that do not restrict null. With any other keyword, null must stay a branch of its own. */
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

/** Rewrites "A or null" as A with one type or one branch more; undefined for other nodes. */
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

/** Drops the snake_case names: generateContent accepts both spellings, but showing one is enough. */
function withoutSecondSpellings(properties: Node): Node {
  return Object.fromEntries(
    Object.entries(properties).filter(
      ([name]) => inCamelCase(name) === name || !(inCamelCase(name) in properties),
    ),
  );
}
