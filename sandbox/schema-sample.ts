/** A value that fits a JSON Schema: the arguments an unscripted model calls a tool with. Same schema, same value. */
import type { Json } from "./json.ts";
import { asList, asNumber, asObject, asText, isObject } from "./json.ts";

const depthMax = 8;

interface Place {
  /** The whole schema, for local `$ref`s. */
  readonly root: Json;
  /** The name the value goes under, which makes samples readable. */
  readonly name: string;
  readonly depth: number;
}

/** A sample for the schema. Recursive schemas end at a depth of 8. */
export function sampleOf(schema: Json): unknown {
  return sample(schema, { root: schema, name: "value", depth: 0 });
}

function sample(schema: Json, place: Place): unknown {
  if (place.depth > depthMax) return null;
  const chosen = firstAlternative(schema);
  if (chosen) return sample(merge(withoutAlternatives(schema), chosen), deeper(place, place.name));
  if (typeof schema["$ref"] === "string") {
    return sample(resolve(schema["$ref"], place.root), deeper(place, place.name));
  }
  if ("const" in schema) return schema["const"];
  const allowed = asList(schema["enum"]);
  if (allowed.length > 0) return allowed[0];
  if ("default" in schema) return schema["default"];
  switch (typeOf(schema)) {
    case "object":
      return sampleObject(schema, place);
    case "array":
      return sampleArray(schema, place);
    case "integer":
    case "number":
      return sampleNumber(schema);
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return sampleString(schema, place.name);
  }
}

const deeper = (place: Place, name: string): Place => ({ ...place, name, depth: place.depth + 1 });

/** All of `allOf`, or the first of `anyOf` and `oneOf`. */
function firstAlternative(schema: Json): Json | undefined {
  const all = asList(schema["allOf"]);
  if (all.length > 0) return all.map(asObject).reduce(merge, {});
  const first = asList(schema["anyOf"])[0] ?? asList(schema["oneOf"])[0];
  return isObject(first) ? first : undefined;
}

function withoutAlternatives(schema: Json): Json {
  const { allOf: _all, anyOf: _any, oneOf: _one, ...rest } = schema;
  return rest;
}

function merge(left: Json, right: Json): Json {
  return {
    ...left,
    ...right,
    properties: { ...asObject(left["properties"]), ...asObject(right["properties"]) },
    required: [...asList(left["required"]), ...asList(right["required"])],
  };
}

/** Follows a local pointer such as `#/$defs/city`. */
function resolve(pointer: string, root: Json): Json {
  let at: unknown = root;
  for (const step of pointer.replace(/^#\/?/, "").split("/").filter(Boolean)) {
    at = asObject(at)[decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return asObject(at);
}

/** Lower case, because one vendor writes `STRING`; what is not said is read off the keywords. */
function typeOf(schema: Json): string {
  const type = schema["type"];
  const named = Array.isArray(type) ? type.find((one) => one !== "null") : type;
  if (typeof named === "string") return named.toLowerCase();
  if ("properties" in schema || "required" in schema) return "object";
  if ("items" in schema) return "array";
  return "minimum" in schema || "maximum" in schema ? "number" : "string";
}

/** The required properties; all of them when none is required. */
function sampleObject(schema: Json, place: Place): Json {
  const properties = asObject(schema["properties"]);
  const required = asList(schema["required"]).map(asText);
  const names = required.length > 0 ? required : Object.keys(properties);
  return Object.fromEntries(
    names.map((name) => [name, sample(asObject(properties[name]), deeper(place, name))]),
  );
}

function sampleArray(schema: Json, place: Place): unknown[] {
  const most = asNumber(schema["maxItems"]) ?? Infinity;
  const count = Math.min(Math.max(asNumber(schema["minItems"]) ?? 1, 1), most);
  const tuple = asList(schema["prefixItems"]);
  const items = asObject(schema["items"]);
  const choices = asList(items["enum"]);
  return Array.from({ length: Math.max(count, tuple.length) }, (_, index) => {
    if (index < tuple.length) return sample(asObject(tuple[index]), deeper(place, place.name));
    if (choices.length > 0) return choices[index % choices.length];
    const value = sample(items, deeper(place, place.name));
    if (schema["uniqueItems"] !== true || index === 0) return value;
    return typeof value === "number" ? value + index : `${String(value)} ${index + 1}`;
  });
}

/** The first of the likely numbers that keeps all bounds: 1, the bounds and their steps, the middle. */
function sampleNumber(schema: Json): number {
  const step = asNumber(schema["multipleOf"]) ?? (typeOf(schema) === "integer" ? 1 : 0);
  const least = asNumber(schema["minimum"]) ?? -Infinity;
  const above = asNumber(schema["exclusiveMinimum"]) ?? -Infinity;
  const most = asNumber(schema["maximum"]) ?? Infinity;
  const below = asNumber(schema["exclusiveMaximum"]) ?? Infinity;
  const low = Math.max(least, above);
  const high = Math.min(most, below);
  const grid = step || 1;
  const up = Math.ceil(low / grid) * grid;
  const down = Math.floor(high / grid) * grid;
  const likely = [1, step, low, up, up + grid, high, down, down - grid, (low + high) / 2, 0];
  const fits = (value: number) =>
    value >= least &&
    value > above &&
    value <= most &&
    value < below &&
    (step === 0 || Number.isInteger(value / step));
  return likely.find((value) => Number.isFinite(value) && fits(value)) ?? 1;
}

const formats: Readonly<Record<string, string>> = {
  date: "2026-10-01",
  "date-time": "2026-10-01T12:00:00Z",
  time: "12:00:00Z",
  duration: "PT1M",
  email: "someone@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/",
  uuid: "01234567-89ab-4cde-8f01-23456789abcd",
};

/** Tried in turn where a pattern must match; patterns out of their reach get the plain sample. */
const patternGuesses = [
  "a",
  "A",
  "1",
  "abc",
  "ABC",
  "123",
  "a1",
  "AB12",
  "1.0.0",
  "a-b",
  "a_b",
  "#aabbcc",
  "+15550100",
  "/tmp/a",
  ...Object.values(formats),
];

function sampleString(schema: Json, name: string): string {
  const formatted = formats[asText(schema["format"])];
  if (formatted !== undefined) return formatted;
  const least = asNumber(schema["minLength"]) ?? 0;
  const most = asNumber(schema["maxLength"]) ?? Infinity;
  const pattern = schema["pattern"];
  if (typeof pattern === "string") {
    const expression = new RegExp(pattern);
    const match = patternGuesses.find(
      (guess) => expression.test(guess) && guess.length >= least && guess.length <= most,
    );
    if (match !== undefined) return match;
  }
  return `sample ${name}`.padEnd(least, "x").slice(0, most);
}
