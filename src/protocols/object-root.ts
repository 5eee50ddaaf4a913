/**
 * Rewrites a tool's argument schema as one object. OpenAI, Anthropic and Google refuse a request if it begins with `anyOf`, `oneOf` or
 * `allOf`, as schemas of MCP servers do. OpenAI also refuses a root `$ref` or missing `properties`. T23, T24.
 */
import { isObject } from "../base/json.ts";
import type { Json, JsonObject } from "./canonical/request.ts";
import { targetOf } from "./schema-walk.ts";

interface ObjectRoot {
  readonly schema: JsonObject;
  /** The keywords whose meaning the schema has lost. */
  readonly lost: readonly string[];
}

/** The remaining budget for all tools of a request; a value below 0 means that it is exceeded. */
interface MergeBudget {
  /** Schemas to visit: references to lists of references could make billions. */
  schemas: number;
  /** Properties and required names to visit. */
  names: number;
  /** Characters of same-named properties to compare; this also bounds the size of the merged schemas. */
  compared: number;
}

/** Creates the budget for the tools of one request. */
export const newMergeBudget = (): MergeBudget => ({
  schemas: 10_000,
  names: 300_000,
  compared: 5_000_000,
});

interface Merging {
  readonly root: JsonObject;
  readonly lost: Set<string>;
  readonly budget: MergeBudget;
  /** Targets of references, each resolved once. */
  readonly targets: Map<string, JsonObject | undefined>;
}

/** Longest chain of references. */
const referencesMax = 100;

const isExceeded = ({ budget }: Merging): boolean =>
  budget.schemas < 0 || budget.names < 0 || budget.compared < 0;

/** Returns the schema with an object at its root; `no_object` if it allows no object, `too_large` if merging would exceed the budget. */
export function objectRoot(
  schema: JsonObject,
  budget = newMergeBudget(),
): ObjectRoot | "no_object" | "too_large" {
  if (!mayBeObject(schema)) return "no_object";
  const merging: Merging = { root: schema, lost: new Set(), budget, targets: new Map() };
  const pointed = "$ref" in schema ? partOf(schema, merging, new Set()) : "unknown";
  const merged = pointed === "unknown" ? merge(schema, merging, new Set()) : pointed;
  if (isExceeded(merging)) return "too_large";
  return merged ? { schema: merged, lost: [...merging.lost].sort() } : "no_object";
}

const mayBeObject = ({ type = "object" }: JsonObject): boolean =>
  type === "object" || (Array.isArray(type) && type.includes("object"));

/** `within` has the references on the way here. */
function merge(schema: JsonObject, merging: Merging, within: ReadonlySet<string>): JsonObject {
  const { anyOf, oneOf, allOf, ...own } = schema;
  const all = partsOf(["allOf", allOf], merging, within);
  for (const list of [["anyOf", anyOf] as const, ["oneOf", oneOf] as const]) {
    const choice = partsOf(list, merging, within);
    if (choice.length > 1) {
      merging.lost.add(list[0]);
      all.push(mergeAlternatives(choice, merging));
    } else all.push(...choice);
  }
  // The target of an unresolved reference has the type.
  if (all.length === 0 && "$ref" in own) return own;
  if (all.length === 0 && own["type"] === "object")
    return "properties" in own ? own : { ...own, properties: {} };
  const { type: _type, ...others } = own;
  return every([{ type: "object", ...others }, ...all], merging);
}

/** Returns the object schemas in a keyword's list, each without choices. A call always has an object, so other schemas are irrelevant. */
function partsOf(
  [keyword, items]: readonly [string, Json | undefined],
  merging: Merging,
  within: ReadonlySet<string>,
): JsonObject[] {
  if (!Array.isArray(items)) return [];
  return items.flatMap((item): JsonObject[] => {
    const part = isObject(item) ? partOf(item, merging, within) : undefined;
    if (part === "unknown") merging.lost.add(keyword);
    if (part === "unknown") return [{}];
    return part === undefined ? [] : [part];
  });
}

/** Returns one of them; undefined if it is no object or circular, `unknown` for an unresolved reference. */
function partOf(
  schema: JsonObject,
  merging: Merging,
  within: ReadonlySet<string>,
): JsonObject | "unknown" | undefined {
  merging.budget.schemas -= 1;
  if (isExceeded(merging) || !mayBeObject(schema)) return undefined;
  const { $ref: reference, ...beside } = schema;
  if (typeof reference !== "string") return merge(schema, merging, within);
  if (within.has(reference)) return undefined;
  if (within.size >= referencesMax) merging.budget.schemas = -1;
  const target = targetOf(reference, merging);
  const pointed = target ? partOf(target, merging, new Set([...within, reference])) : "unknown";
  if (typeof pointed !== "object" || Object.keys(beside).length === 0) return pointed;
  return every([merge(beside, merging, within), pointed], merging);
}

/** Merges schemas that all apply. */
function every(schemas: readonly JsonObject[], merging: Merging): JsonObject {
  const properties = mergeProperties(schemas, "allOf", merging);
  const required = [...new Set(schemas.flatMap((schema) => namesOf(schema, merging)))];
  const said = new Map<string, Json>();
  for (const [keyword, value] of schemas.flatMap((schema) => Object.entries(schema)))
    if (!said.has(keyword)) said.set(keyword, value);
  return {
    ...Object.fromEntries(said),
    properties,
    ...(required.length > 0 ? { required } : {}),
  };
}

/** Merges alternatives: all their properties, and as required those that all of them require. */
function mergeAlternatives(choice: readonly JsonObject[], merging: Merging): JsonObject {
  const [first = new Set<string>(), ...others] = choice.map(
    (schema) => new Set(namesOf(schema, merging)),
  );
  const required = [...first].filter((name) => others.every((names) => names.has(name)));
  const isClosed = choice.every(({ additionalProperties }) => additionalProperties === false);
  return {
    properties: mergeProperties(choice, "anyOf", merging),
    ...(required.length > 0 ? { required } : {}),
    ...(isClosed ? { additionalProperties: false } : {}),
  };
}

/** Joins the properties of all schemas; different schemas of one property become a list. */
function mergeProperties(
  schemas: readonly JsonObject[],
  keyword: "allOf" | "anyOf",
  merging: Merging,
): JsonObject {
  const said = new Map<string, Set<Json>>();
  for (const { properties } of schemas) {
    for (const [name, property] of isObject(properties) ? Object.entries(properties) : []) {
      merging.budget.names -= 1;
      if (isExceeded(merging)) return {};
      said.set(name, (said.get(name) ?? new Set()).add(property));
    }
  }
  return Object.fromEntries(
    [...said].map(([name, known]): [string, Json] => {
      const [only, ...others] = known.size === 1 ? known : distinctSchemas(known, merging);
      return [name, others.length === 0 ? only! : { [keyword]: [only!, ...others] }];
    }),
  );
}

/** Returns the distinct schemas among these. */
function distinctSchemas(properties: ReadonlySet<Json>, merging: Merging): Json[] {
  const known = new Map<string, Json>();
  for (const property of properties) {
    if (isExceeded(merging)) break;
    const text = JSON.stringify(property);
    merging.budget.compared -= text.length;
    if (!known.has(text)) known.set(text, property);
  }
  return [...known.values()];
}

function namesOf({ required }: JsonObject, merging: Merging): string[] {
  const names = Array.isArray(required) ? required : [];
  merging.budget.names -= names.length;
  return isExceeded(merging) ? [] : names.filter((name) => typeof name === "string");
}
