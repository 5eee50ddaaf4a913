/**
 * Converts JSON Schema to the vendor's dialect: unsupported keywords are removed and reported, local references are inlined (T23).
 * from-schema.ts converts back.
 */
import { isObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { targetOf } from "../schema-walk.ts";

/** Keywords that the vendor supports; it refuses a request with any other. */
export const keptKeywords: ReadonlySet<string> = new Set([
  "type",
  "format",
  "title",
  "description",
  "nullable",
  "enum",
  "items",
  "prefixItems",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "pattern",
  "properties",
  "minProperties",
  "maxProperties",
  "required",
  "additionalProperties",
  "anyOf",
  "oneOf",
  "default",
  "example",
  "propertyOrdering",
]);

export const schemaLists: ReadonlySet<string> = new Set(["anyOf", "oneOf", "prefixItems"]);
export const schemaMembers: ReadonlySet<string> = new Set(["items", "additionalProperties"]);
/** Maximum number of schemas that references may expand to: a few lines of nested references could make billions. */
const schemasMax = 10_000;
/** Maximum number of members and items that merging may touch: lists of references in lists of references multiply. */
const stepsMax = 50_000;
/** The same for all tools of a request together: hundreds of tools could each expand to the maximum. */
const togetherMax = { schemas: 50_000, steps: 250_000 } as const;
/** Characters of two values that count as one step when they are compared. */
const stepCharacters = 64;

/** Definitions are dropped: references to them are inlined. */
const definitionPlaces = new Set(["$defs", "definitions"]);

/** The remaining schemas and steps for one request. */
interface UnfoldingBudget {
  schemas: number;
  steps: number;
}

/** Creates the budget for the schemas of one request. */
export const newUnfoldingBudget = (): UnfoldingBudget => ({ ...togetherMax });

interface Cleaning {
  readonly root: JsonObject;
  readonly together: UnfoldingBudget;
  /** Schemas that may still be written, and steps that may still be taken. */
  left: number;
  steps: number;
  /** Targets of references, each resolved once: a target may be as large as the request, and be used many times. */
  readonly targets: Map<string, JsonObject | undefined>;
  /** Keywords whose meaning the cleaned schema has lost. */
  readonly lost: Set<string>;
}

const cleaningOf = (schema: JsonObject, together: UnfoldingBudget): Cleaning => ({
  root: schema,
  together,
  left: schemasMax,
  steps: stepsMax,
  targets: new Map(),
  lost: new Set(),
});

/**
 * Converts a JSON Schema for the vendor. Circular references, and references that exceed the budget, become a schema that allows anything.
 * `together` is shared by the schemas of a request.
 */
export function toVendorSchema(schema: JsonObject, together = newUnfoldingBudget()): JsonObject {
  return clean(schema, cleaningOf(schema, together), new Set());
}

/**
 * Returns the keywords that `toVendorSchema` removes from the schemas of a request, sorted. A reference counts if it could not be inlined.
 */
export function schemaLosses(schemas: readonly JsonObject[]): string[] {
  const together = newUnfoldingBudget();
  const lost = schemas.flatMap((schema) => {
    const cleaning = cleaningOf(schema, together);
    clean(schema, cleaning, new Set());
    return [...cleaning.lost];
  });
  return [...new Set(lost)].sort();
}

const spend = (cleaning: Cleaning, steps: number): void => {
  cleaning.steps -= steps;
  cleaning.together.steps -= steps;
};

const isSpent = ({ left, steps, together }: Cleaning): boolean =>
  left < 0 || steps < 0 || together.schemas < 0 || together.steps < 0;

/**
 * True if the next schema may be written; otherwise its reference counts as lost. Schemas that the request spells out do not use the shared
 * budget, because the request's size bounds them.
 */
function hasBudgetLeft(cleaning: Cleaning, isUnfolded: boolean): boolean {
  cleaning.left -= 1;
  if (isUnfolded) cleaning.together.schemas -= 1;
  const mayBe = isUnfolded ? !isSpent(cleaning) : cleaning.left >= 0 && cleaning.steps >= 0;
  if (!mayBe) cleaning.lost.add("$ref");
  return mayBe;
}

/** `within` has the references that are being inlined. */
function clean(schema: JsonObject, cleaning: Cleaning, within: ReadonlySet<string>): JsonObject {
  if (!hasBudgetLeft(cleaning, within.size > 0)) return {};
  let { own, parts } = partsOf(schema);
  let inside = within;
  while (parts.length > 0) {
    const { schemas, names } = resolveReferences(parts, cleaning, inside);
    spend(cleaning, inside.size);
    inside = new Set([...inside, ...names]);
    ({ own, parts } = partsOf(mergeAll([...schemas, own], cleaning)));
    if (!hasBudgetLeft(cleaning, true)) return {};
  }
  const result: JsonObject = {};
  for (const key of Object.keys(own)) {
    if (keptKeywords.has(key)) {
      result[key] = cleanMember(key, own[key]!, (member) => cleanAny(member, cleaning, inside));
    } else if (!definitionPlaces.has(key)) cleaning.lost.add(key);
  }
  defineRequired(result);
  endList(result);
  return result;
}

/** Says by a number that nothing may follow a list's first items, as TypeBox says of tuples: the vendor refuses `false` for a schema. */
function endList(schema: JsonObject): void {
  const { items, prefixItems, maxItems } = schema;
  if (items !== false) return;
  const length = Array.isArray(prefixItems) ? prefixItems.length : 0;
  schema["maxItems"] = typeof maxItems === "number" ? Math.min(maxItems, length) : length;
  delete schema["items"];
}

/** Adds the required properties that have no schema, which the vendor refuses; without a schema they may be anything. */
function defineRequired(schema: JsonObject): void {
  const { required, properties = {} } = schema;
  if (!Array.isArray(required) || !isJsonObject(properties)) return;
  const anything = required.flatMap((name): [string, Json][] =>
    typeof name === "string" && !Object.hasOwn(properties, name) ? [[name, {}]] : [],
  );
  if (anything.length === 0) return;
  schema["properties"] = { ...properties, ...Object.fromEntries(anything) };
}

/** Splits a schema into its own keywords and the schemas that it combines. */
function partsOf(schema: JsonObject): { own: JsonObject; parts: readonly Json[] } {
  if (!("$ref" in schema || "allOf" in schema || "const" in schema))
    return { own: schema, parts: [] };
  const { $ref: reference, allOf, const: constant, ...own } = schema;
  if (constant !== undefined) own["enum"] = [constant];
  const parts = [
    ...(typeof reference === "string" ? [{ $ref: reference }] : []),
    ...(Array.isArray(allOf) ? allOf : []),
  ];
  return { own, parts };
}

/** Replaces each reference by its target, one level deep. Returns the schemas and the names of these references. */
function resolveReferences(
  parts: readonly Json[],
  cleaning: Cleaning,
  within: ReadonlySet<string>,
): { schemas: Json[]; names: Set<string> } {
  const { lost } = cleaning;
  const names = new Set<string>();
  const schemas = parts.map((part) => {
    const name = isJsonObject(part) ? part["$ref"] : undefined;
    if (typeof name !== "string") return part;
    names.add(name);
    const target = within.has(name) ? undefined : targetOf(name, cleaning);
    if (!target) lost.add("$ref");
    const { $ref: _name, ...beside } = part as JsonObject;
    return mergeAll([target ?? {}, beside], cleaning);
  });
  return { schemas, names };
}

function cleanMember(key: string, value: Json, cleanOne: (member: Json) => Json): Json {
  if (key === "properties" && isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, cleanOne(asObject(member))]),
    );
  }
  if (schemaLists.has(key) && Array.isArray(value))
    return value.map((member) => cleanOne(asObject(member)));
  if (key === "items") return cleanOne(asObject(value));
  return schemaMembers.has(key) ? cleanOne(value) : value;
}

/** The vendor refuses `true`, the schema of anything. */
const asObject = (schema: Json): Json => (schema === true ? {} : schema);

const cleanAny = (value: Json, cleaning: Cleaning, within: ReadonlySet<string>): Json =>
  isJsonObject(value) ? clean(value, cleaning, within) : value;

const isJsonObject = (value: Json | undefined): value is JsonObject => isObject(value);

/**
 * Merges parts of an `allOf` into one schema: properties, required names and nested parts are joined; for other keywords the last wins. If
 * parts share a property, or differ in a keyword, `allOf` counts as lost.
 */
function mergeAll(parts: readonly Json[], cleaning: Cleaning): JsonObject {
  const merged: JsonObject = {};
  for (const part of parts) {
    if (isSpent(cleaning)) break;
    const members = isJsonObject(part) ? Object.entries(part) : [];
    spend(cleaning, 1 + members.length);
    for (const [key, value] of members) {
      if (key === "__proto__") continue;
      // A keyword may have the name of an inherited member, such as `constructor`.
      const known = Object.hasOwn(merged, key) ? merged[key] : undefined;
      merged[key] = mergeMember(key, known, value, cleaning);
    }
  }
  return merged;
}

function mergeMember(key: string, first: Json | undefined, second: Json, cleaning: Cleaning): Json {
  if (first === undefined || first === second || annotations.has(key)) return second;
  if (key === "properties" && isJsonObject(first) && isJsonObject(second)) {
    const names = Object.keys(second);
    spend(cleaning, Object.keys(first).length + names.length);
    if (names.some((name) => Object.hasOwn(first, name))) cleaning.lost.add("allOf");
    return { ...first, ...second };
  }
  if (Array.isArray(first) && Array.isArray(second) && (key === "allOf" || key === "required")) {
    spend(cleaning, first.length + second.length);
    return key === "allOf" ? [...first, ...second] : [...new Set([...first, ...second])];
  }
  if (!definitionPlaces.has(key) && differs(first, second, cleaning)) cleaning.lost.add("allOf");
  return second;
}

/** True if two values differ as JSON. Not compared any more once the loss is known. */
function differs(first: Json, second: Json, cleaning: Cleaning): boolean {
  if (cleaning.lost.has("allOf")) return false;
  const [left, right] = [JSON.stringify(first), JSON.stringify(second)];
  spend(cleaning, Math.floor((left.length + right.length) / stepCharacters));
  return left !== right;
}

/** Keywords that do not constrain values. */
const annotations = new Set(["title", "description", "default", "example", "$comment"]);
