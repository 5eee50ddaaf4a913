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

/**
 * How much is merged of one schema, and of all tools of a request: references to lists of references could make billions of parts, of
 * megabytes each.
 */
const stepsMax = 10_000;
const togetherMax = 50_000;

/** The steps that a request's tools may still take. */
export interface Steps {
  left: number;
}

/** For the tools of one request. */
export const mergingSteps = (): Steps => ({ left: togetherMax });
/** How many references may lead to each other. */
const referencesMax = 100;
/** Characters of a property that are one step. */
const stepCharacters = 64;

interface Merging {
  readonly root: JsonObject;
  readonly lost: Set<string>;
  /** What references point at, each looked up once. */
  readonly targets: Map<string, JsonObject | undefined>;
  left: number;
}

/** The schema with an object at its root; undefined where it says that the arguments are none. */
export function objectRoot(schema: JsonObject, together = mergingSteps()): ObjectRoot | undefined {
  if (!mayBeObject(schema)) return undefined;
  const most = Math.max(0, Math.min(stepsMax, together.left));
  const merging: Merging = { root: schema, lost: new Set(), targets: new Map(), left: most };
  const merged = merge(schema, merging, new Set());
  together.left -= most - merging.left;
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
    if (choice.length > 0) all.push(either(choice, merging));
  }
  // What a reference points at has the type.
  if (all.length === 0 && (own["type"] === "object" || "$ref" in own)) return own;
  const { type: _type, ...others } = own;
  return all.reduce<JsonObject>((first, second) => both([first, second], merging), {
    type: "object",
    ...others,
  });
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
    const target = name === undefined ? item : targetOf(name, merging);
    merging.left -= 1 + (target === undefined ? 0 : namesOf(target).length);
    if (merging.left < 0 || within.size > referencesMax) {
      merging.lost.add("$ref");
      return;
    }
    if (target === undefined || !mayBeObject(target)) continue;
    if (name !== undefined && within.has(name)) continue;
    const inside = name === undefined ? within : new Set([...within, name]);
    yield merge(target, merging, inside);
  }
}

function targetOf(reference: string, { targets, root }: Merging): JsonObject | undefined {
  if (!targets.has(reference)) targets.set(reference, localTarget(reference, root));
  return targets.get(reference);
}

/** What holds for both. */
function both([first, second]: readonly [JsonObject, JsonObject], merging: Merging): JsonObject {
  const required = [...new Set([...namesOf(first), ...namesOf(second)])];
  return {
    ...second,
    ...first,
    properties: joined([first, second], "allOf", merging),
    ...(required.length > 0 ? { required } : {}),
  };
}

/** What holds for each of several: all their properties, of which only those are required that all of them require. */
function either(choice: readonly JsonObject[], merging: Merging): JsonObject {
  const [first, ...others] = choice;
  const needed = others.map((schema) => new Set(namesOf(schema)));
  const required = namesOf(first!).filter((name) => needed.every((names) => names.has(name)));
  const isClosed = choice.every(({ additionalProperties }) => additionalProperties === false);
  return {
    properties: joined(choice, "anyOf", merging),
    ...(required.length > 0 ? { required } : {}),
    ...(isClosed ? { additionalProperties: false } : {}),
  };
}

/** The properties of all; what several say of one stands in a list. */
function joined(
  schemas: readonly JsonObject[],
  keyword: "allOf" | "anyOf",
  merging: Merging,
): JsonObject {
  const said = new Map<string, Map<string, Json>>();
  for (const { properties } of schemas) {
    for (const [name, property] of isObject(properties) ? Object.entries(properties) : []) {
      if (merging.left < 0) {
        merging.lost.add("$ref");
        break;
      }
      const known = said.get(name) ?? new Map<string, Json>();
      const text = JSON.stringify(property);
      merging.left -= 1 + Math.floor(text.length / stepCharacters);
      said.set(name, known.set(text, property));
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
