/**
 * The schema of a tool's arguments as one object: OpenAI, Anthropic and Google refuse the whole request where it begins with `anyOf`,
 * `oneOf` or `allOf`, as schemas of MCP servers do. T23, T24.
 */
import { isObject } from "../base/json.ts";
import type { Json, JsonObject } from "./canonical/request.ts";
import { localTarget } from "./schema-walk.ts";

interface ObjectRoot {
  readonly schema: JsonObject;
  /** The keywords whose meaning it does not have any more. */
  readonly lost: readonly string[];
}

/** So many schemas are merged at most: references to lists of references could make billions. */
const mergedMax = 1_000;

interface Merging {
  readonly root: JsonObject;
  readonly lost: Set<string>;
  left: number;
}

/** The schema with an object at its root; undefined where it says that the arguments are none. */
export function objectRoot(schema: JsonObject): ObjectRoot | undefined {
  if (!mayBeObject(schema)) return undefined;
  const merging: Merging = { root: schema, lost: new Set(), left: mergedMax };
  const merged = merge(schema, merging, new Set());
  return { schema: merged, lost: [...merging.lost].sort() };
}

const mayBeObject = ({ type = "object" }: JsonObject): boolean =>
  type === "object" || (Array.isArray(type) && type.includes("object"));

/** `within` are the references that lead here. */
function merge(schema: JsonObject, merging: Merging, within: ReadonlySet<string>): JsonObject {
  const { anyOf, oneOf, allOf, ...own } = schema;
  const all = [...partsOf(allOf, merging, within)];
  for (const [keyword, list] of Object.entries({ anyOf, oneOf })) {
    const choice = [...partsOf(list, merging, within)];
    if (choice.length > 1) merging.lost.add(keyword);
    if (choice.length > 0) all.push(either(choice));
  }
  // What a reference points at has the type.
  if (all.length === 0 && (own["type"] === "object" || "$ref" in own)) return own;
  const { type: _type, ...others } = own;
  return all.reduce(both, { type: "object", ...others });
}

/** The schemas of a list that are objects, each as one without a choice. A call is always an object, so that others say nothing. */
function* partsOf(
  list: Json | undefined,
  merging: Merging,
  within: ReadonlySet<string>,
): Generator<JsonObject> {
  for (const item of Array.isArray(list) ? list : []) {
    if (!isObject(item)) continue;
    const name = typeof item["$ref"] === "string" ? item["$ref"] : undefined;
    const target = name === undefined ? item : localTarget(name, merging.root);
    merging.left -= 1;
    if (target === undefined || merging.left < 0 || !mayBeObject(target)) continue;
    if (name !== undefined && within.has(name)) continue;
    const inside = name === undefined ? within : new Set([...within, name]);
    yield merge(target, merging, inside);
  }
}

/** What holds for both. */
function both(first: JsonObject, second: JsonObject): JsonObject {
  const required = [...new Set([...namesOf(first), ...namesOf(second)])];
  return {
    ...second,
    ...first,
    properties: joined([first, second], "allOf"),
    ...(required.length > 0 ? { required } : {}),
  };
}

/** What holds for each of several: all their properties, of which only those are required that all of them require. */
function either(choice: readonly JsonObject[]): JsonObject {
  const [first, ...others] = choice;
  const required = namesOf(first!).filter((name) =>
    others.every((schema) => namesOf(schema).includes(name)),
  );
  const isClosed = choice.every(({ additionalProperties }) => additionalProperties === false);
  return {
    properties: joined(choice, "anyOf"),
    ...(required.length > 0 ? { required } : {}),
    ...(isClosed ? { additionalProperties: false } : {}),
  };
}

/** The properties of all; what several say of one stands in a list. */
function joined(schemas: readonly JsonObject[], keyword: "allOf" | "anyOf"): JsonObject {
  const said = new Map<string, Map<string, Json>>();
  for (const { properties } of schemas) {
    for (const [name, property] of isObject(properties) ? Object.entries(properties) : []) {
      const known = said.get(name) ?? new Map<string, Json>();
      said.set(name, known.set(JSON.stringify(property), property));
    }
  }
  return Object.fromEntries(
    [...said].map(([name, known]): [string, Json] => {
      const [only, ...others] = known.values();
      return [name, others.length === 0 ? only! : { [keyword]: [only!, ...others] }];
    }),
  );
}

const namesOf = ({ required }: JsonObject): string[] =>
  Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
