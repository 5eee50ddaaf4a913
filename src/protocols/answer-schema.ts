/**
 * Rewrites an answer schema for Claude (`output_config.format`) and Amazon (`outputConfig`): closed objects, typed values, no circular
 * references. Unsupported bounds go into descriptions, as the vendor's SDKs do. CONV-412.
 */
import { isObject } from "../base/json.ts";
import type { Json, JsonObject } from "./canonical/request.ts";
import type { AnswerSchema } from "./limits.ts";
import { localTarget, schemasIn } from "./schema-walk.ts";

/** Results collected while a schema is rewritten. */
interface Cleaning {
  /** Keywords that went into descriptions. */
  readonly describedKeywords: Set<string>;
  /** True if some part of the schema cannot be expressed. */
  fails: boolean;
}

/** Returns the schema as the vendor accepts it; undefined if it cannot be expressed there. */
export function toAnswerSchema(schema: JsonObject): AnswerSchema | undefined {
  if (!refersInOrder(schema, { root: schema, seen: new Map(), depth: 0 })) return undefined;
  const cleaning: Cleaning = { describedKeywords: new Set(), fails: false };
  const clean = cleanOne(schema, cleaning);
  return cleaning.fails
    ? undefined
    : { schema: clean, describedKeywords: [...cleaning.describedKeywords].sort() };
}

/** References to definitions; all move to `#/$defs/`. */
const definition = /^#\/(?:\$defs|definitions)\/([^/]+)$/;

/** Longest chain of references. */
const referencesMax = 200;

interface Referring {
  readonly root: JsonObject;
  /** By reference: true if its target has passed the check. */
  readonly seen: Map<string, boolean>;
  /** Number of references followed so far. */
  readonly depth: number;
}

/** True if every reference points to a definition and none is circular. */
function refersInOrder(schema: JsonObject, referring: Referring): boolean {
  const { $ref: reference } = schema;
  if (typeof reference === "string" && !isTargetInOrder(reference, referring)) return false;
  // Definitions may stand beside a reference.
  return schemasIn(schema).every((inner) => refersInOrder(inner, referring));
}

function isTargetInOrder(reference: string, { root, seen, depth }: Referring): boolean {
  const known = seen.get(reference);
  if (known !== undefined) return known;
  const target = definition.test(reference) ? localTarget(reference, root) : undefined;
  // Until it has passed: a reference back to it is circular.
  seen.set(reference, false);
  if (!target || depth === referencesMax) return false;
  const passes = refersInOrder(target, { root, seen, depth: depth + 1 });
  seen.set(reference, passes);
  return passes;
}

/** Rewrites one schema and everything in it. */
function cleanOne(schema: JsonObject, cleaning: Cleaning): JsonObject {
  const { $schema: _dialect, $defs, definitions, title, description, ...said } = schema;
  const { shape, used } = shapeOf(said, cleaning);
  const hints = Object.entries(said).filter(([keyword]) => !used.has(keyword));
  for (const [keyword] of hints) cleaning.describedKeywords.add(keyword);
  const words = [
    ...(typeof description === "string" ? [description] : []),
    ...(hints.length > 0
      ? [`{${hints.map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join(", ")}}`]
      : []),
  ];
  const named: JsonObject = {
    ...(title === undefined ? {} : { title }),
    ...(words.length > 0 ? { description: words.join("\n\n") } : {}),
  };
  const all = { ...schemaMap(definitions, cleaning), ...schemaMap($defs, cleaning) };
  const defs: JsonObject = Object.keys(all).length > 0 ? { $defs: all } : {};
  // No other keyword may stand beside a `$ref`.
  const isAlone = "$ref" in shape && Object.keys(named).length > 0;
  return { ...(isAlone ? { anyOf: [shape] } : shape), ...named, ...defs };
}

interface Shape {
  readonly shape: JsonObject;
  /** The keywords that the shape expresses in full. */
  readonly used: ReadonlySet<string>;
}

/** Returns the constraint of a schema on values: a reference, a list of values, a choice or a type. */
function shapeOf(schema: JsonObject, cleaning: Cleaning): Shape {
  const { $ref: reference, type } = schema;
  if (typeof reference === "string") {
    const [, name] = definition.exec(reference)!;
    return { shape: { $ref: `#/$defs/${name}` }, used: new Set(["$ref"]) };
  }
  const shape = listedShape(schema) ?? choiceShape(schema, cleaning);
  if (shape) return shape;
  if (!Array.isArray(type)) return shapeOfType(type, schema, cleaning);
  if (type.every((one) => plainTypes.has(one))) return { shape: { type }, used: new Set(["type"]) };
  const each = [...new Set(type)].map((one) => shapeOfType(one, schema, cleaning));
  return {
    shape: { anyOf: each.map((one) => one.shape) },
    used: new Set(each.flatMap(({ used }) => [...used])),
  };
}

/** An `enum` or `const` of primitive values, with the type if it is a plain one. */
function listedShape({ enum: values, const: only, type }: JsonObject): Shape | undefined {
  const isPlain = type !== undefined && [type].flat().every((one) => plainTypes.has(one));
  const typed: JsonObject = isPlain ? { type } : {};
  if (Array.isArray(values) && values.length > 0 && values.every(isPrimitive))
    return { shape: { ...typed, enum: values }, used: new Set(["enum", "type"]) };
  return only !== undefined && isPrimitive(only)
    ? { shape: { ...typed, const: only }, used: new Set(["const", "type"]) }
    : undefined;
}

/** A choice drops `type` beside it. Structural keywords or a second choice beside it cannot be expressed. */
function choiceShape(schema: JsonObject, cleaning: Cleaning): Shape | undefined {
  const { anyOf, oneOf, allOf } = schema;
  const choice = anyOf ?? oneOf ?? allOf;
  if (choice === undefined) return undefined;
  const isOne = choice !== allOf || (Array.isArray(allOf) && allOf.length === 1);
  if (!Array.isArray(choice) || !isOne || isStructured(schema))
    return { shape: fail(cleaning), used: new Set() };
  const schemas = choice.map((one) => (isObject(one) ? cleanOne(one, cleaning) : fail(cleaning)));
  return { shape: { anyOf: schemas }, used: new Set([...choices, "type"]) };
}

const choices = ["anyOf", "oneOf", "allOf"];
const structure = ["properties", "items", "patternProperties", "prefixItems"];
const isStructured = (schema: JsonObject): boolean =>
  structure.some((keyword) => keyword in schema) ||
  choices.filter((keyword) => keyword in schema).length > 1;
const isPrimitive = (value: Json): boolean => typeof value !== "object" || value === null;

function fail(cleaning: Cleaning): JsonObject {
  cleaning.fails = true;
  return {};
}

/** The string formats that the vendor supports. */
const formats: ReadonlySet<Json> = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "uri",
  "ipv4",
  "ipv6",
  "uuid",
]);
const plainTypes: ReadonlySet<Json> = new Set(["integer", "number", "boolean", "null", "string"]);

function shapeOfType(type: Json | undefined, schema: JsonObject, cleaning: Cleaning): Shape {
  const { format, items, minItems } = schema;
  if (type === "object") return objectShape(schema, cleaning);
  if (type === "array" && isObject(items) && !("prefixItems" in schema)) {
    const isKept = minItems === 0 || minItems === 1;
    return {
      shape: { type, items: cleanOne(items, cleaning), ...(isKept ? { minItems } : {}) },
      used: new Set(["type", "items", ...(isKept ? ["minItems"] : [])]),
    };
  }
  if (type === undefined || !plainTypes.has(type))
    return { shape: fail(cleaning), used: new Set() };
  const isKept = type === "string" && format !== undefined && formats.has(format);
  return {
    shape: { type, ...(isKept ? { format } : {}) },
    used: new Set(["type", ...(isKept ? ["format"] : [])]),
  };
}

/** An object with a fixed set of properties. Objects with open or pattern properties cannot be expressed. */
function objectShape(schema: JsonObject, cleaning: Cleaning): Shape {
  const { properties, additionalProperties: others = false, required } = schema;
  const isOpen = others !== false || "patternProperties" in schema || !isObject(properties);
  if (isOpen) return { shape: fail(cleaning), used: new Set() };
  return {
    shape: {
      type: "object",
      properties: schemaMap(properties, cleaning),
      additionalProperties: false,
      ...(Array.isArray(required) ? { required } : {}),
    },
    used: new Set(["type", "properties", "additionalProperties", "required"]),
  };
}

/** Rewrites each schema of a map by name. */
const schemaMap = (map: Json | undefined, cleaning: Cleaning): JsonObject =>
  Object.fromEntries(
    Object.entries(isObject(map) ? map : {}).map(([name, inner]) => [
      name,
      isObject(inner) ? cleanOne(inner, cleaning) : fail(cleaning),
    ]),
  );
