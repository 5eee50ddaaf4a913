/**
 * JSON Schema in the vendor's own dialect of it: what that refuses is taken out, and reported, and local references are put in place
 * (T23). The other way is in from-schema.ts.
 */
import { isObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { targetOf } from "../schema-walk.ts";

/** Keywords the vendor reads; any other makes it refuse the request. */
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
/** How many schemas references may unfold to: a few lines of them, one within the other, could make billions. */
const schemasMax = 10_000;
/** How many members and items may be put together on the way there: lists of references in lists of references multiply. */
const stepsMax = 50_000;
/** The same of all tools of a request together: each of hundreds could unfold to as much. */
const togetherMax = { schemas: 50_000, steps: 250_000 } as const;
/** Characters of a value that are compared with another's in one step. */
const stepCharacters = 64;

/** Where definitions stand: what refers to them is put in place, so nothing goes with them. */
const definitionPlaces = new Set(["$defs", "definitions"]);

/** What the schemas of one request may still unfold to, and the steps that may be taken for them. */
interface Unfolding {
  schemas: number;
  steps: number;
}

/** For the schemas of one request. */
export const unfolding = (): Unfolding => ({ ...togetherMax });

interface Cleaning {
  readonly root: JsonObject;
  readonly together: Unfolding;
  /** How many schemas may still be written, and how many steps be taken. */
  left: number;
  steps: number;
  /** What references point at, each looked up once: one may be as long as a request, and be met wherever it unfolds. */
  readonly targets: Map<string, JsonObject | undefined>;
  /** Keywords whose meaning the cleaned schema does not have any more. */
  readonly lost: Set<string>;
}

const cleaningOf = (schema: JsonObject, together: Unfolding): Cleaning => ({
  root: schema,
  together,
  left: schemasMax,
  steps: stepsMax,
  targets: new Map(),
  lost: new Set(),
});

/**
 * A JSON Schema as the vendor takes it. Where a reference goes round in a circle, or references unfold without end,
 * stands a schema that allows anything. `together` is shared by the schemas of a request.
 */
export function toVendorSchema(schema: JsonObject, together = unfolding()): JsonObject {
  return clean(schema, cleaningOf(schema, together), new Set());
}

/**
 * The keywords that `toVendorSchema` takes out of the schemas of a request, sorted; a reference counts where nothing could take its
 * place.
 */
export function schemaLosses(schemas: readonly JsonObject[]): string[] {
  const together = unfolding();
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
 * Whether the schema that comes next may be written; where it may not, what it refers to is lost. What the request itself spells out
 * is as long as the request, and takes nothing from what others may unfold to.
 */
function mayGoOn(cleaning: Cleaning, isUnfolded: boolean): boolean {
  cleaning.left -= 1;
  if (isUnfolded) cleaning.together.schemas -= 1;
  const mayBe = isUnfolded ? !isSpent(cleaning) : cleaning.left >= 0 && cleaning.steps >= 0;
  if (!mayBe) cleaning.lost.add("$ref");
  return mayBe;
}

/** `within` are the references that are being put in place. */
function clean(schema: JsonObject, cleaning: Cleaning, within: ReadonlySet<string>): JsonObject {
  if (!mayGoOn(cleaning, within.size > 0)) return {};
  let { own, parts } = partsOf(schema);
  let inside = within;
  while (parts.length > 0) {
    const { schemas, names } = inPlace(parts, cleaning, inside);
    spend(cleaning, inside.size);
    inside = new Set([...inside, ...names]);
    ({ own, parts } = partsOf(mergeAll([...schemas, own], cleaning)));
    if (!mayGoOn(cleaning, true)) return {};
  }
  const result: JsonObject = {};
  for (const key of Object.keys(own)) {
    if (keptKeywords.has(key)) {
      result[key] = cleanMember(key, own[key]!, (member) => cleanAny(member, cleaning, inside));
    } else if (!definitionPlaces.has(key)) cleaning.lost.add(key);
  }
  return result;
}

/** What a schema says itself, and the schemas that it is made of besides. */
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

/** Schemas with each reference replaced by what it points at, one step deep, and the names of these references. */
function inPlace(
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
      Object.entries(value).map(([name, member]) => [name, cleanOne(member)]),
    );
  }
  if (schemaLists.has(key) && Array.isArray(value)) return value.map(cleanOne);
  return schemaMembers.has(key) ? cleanOne(value) : value;
}

const cleanAny = (value: Json, cleaning: Cleaning, within: ReadonlySet<string>): Json =>
  isJsonObject(value) ? clean(value, cleaning, within) : value;

const isJsonObject = (value: Json | undefined): value is JsonObject => isObject(value);

/**
 * Parts of an `allOf` as one schema: properties, required names and parts within them together, of other keywords the
 * last. Where two parts speak of one property, or say different things with one keyword, that is a loss of `allOf`.
 */
function mergeAll(parts: readonly Json[], cleaning: Cleaning): JsonObject {
  const merged: JsonObject = {};
  for (const part of parts) {
    if (isSpent(cleaning)) break;
    const members = isJsonObject(part) ? Object.entries(part) : [];
    spend(cleaning, 1 + members.length);
    for (const [key, value] of members) {
      if (key !== "__proto__") merged[key] = mergeMember(key, merged[key], value, cleaning);
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

/** Whether two values are written differently. Asked until it is known that something is lost. */
function differs(first: Json, second: Json, cleaning: Cleaning): boolean {
  if (cleaning.lost.has("allOf")) return false;
  const [left, right] = [JSON.stringify(first), JSON.stringify(second)];
  spend(cleaning, Math.floor((left.length + right.length) / stepCharacters));
  return left !== right;
}

/** What says nothing about values. */
const annotations = new Set(["title", "description", "default", "example", "$comment"]);
