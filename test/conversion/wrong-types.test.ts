/**
 * Each field with a value of each wrong JSON type. The gateway answers 400 and names the field, or the value reaches the
 * upstream, or its loss is reported. It is never lost silently. ERR-12, TXT-07, RESP-24.
 */
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../src/base/errors.ts";
import { isObject } from "../../src/base/json.ts";
import type { Json, JsonObject } from "../../src/protocols/canonical/request.ts";
import { codecs, protocolNames } from "../../src/protocols/index.ts";
import { faultOf } from "../protocols/chat/support.ts";
import { routeOf } from "./route.ts";
import { wholeBodies } from "./whole-bodies.ts";
import type { Name } from "./world.ts";

const values: Readonly<Record<string, Json>> = {
  string: "qzq",
  number: 987.5,
  boolean: true,
  array: ["qzq"],
  object: { qzq: "qzq" },
};
const typeOf = (value: unknown): string => (Array.isArray(value) ? "array" : typeof value);

type Path = readonly (string | number)[];

/** Fields that hold free JSON of the caller: the gateway does not read what is inside. */
const freeJson =
  /^(?:parameters|parametersJsonSchema|responseSchema|schema|input_schema|input|args|response|logit_bias|metadata|prediction|audio|web_search_options|safetySettings)$/;
const isFreeJson = (at: Path, inner: Json): boolean =>
  freeJson.test(String(at.at(-1))) && isObject(inner) && !Object.hasOwn(inner, "user_id");

function fieldsOf(value: Json, at: Path = []): Path[] {
  const here = at.length === 0 ? [] : [at];
  if (isFreeJson(at, value)) return here;
  if (Array.isArray(value))
    return [...here, ...value.flatMap((item, index) => fieldsOf(item, [...at, index]))];
  if (!isObject(value)) return here;
  return [...here, ...Object.entries(value).flatMap(([key, one]) => fieldsOf(one, [...at, key]))];
}

const nameOf = (path: Path): string =>
  path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .slice(1);

const at = (body: JsonObject, path: Path): Json =>
  path.reduce<Json>((value, step) => (value as JsonObject)[step]!, body);

function changed(body: JsonObject, path: Path, value: Json): JsonObject {
  const copy = structuredClone(body);
  (at(copy, path.slice(0, -1)) as JsonObject)[path.at(-1)!] = value;
  return copy;
}

/** True if two names are the same field, or one field is within the other. */
const isSameOrWithin = (one: string, other: string): boolean =>
  one === other || [one, other].some((name, index) => isWithin(name, [other, one][index]!));
const isWithin = (inner: string, outer: string): boolean =>
  inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);

/** True if a value occurs anywhere within another, as it is or in a text. */
function holds(whole: Json, value: Json): boolean {
  if (isDeepStrictEqual(whole, value)) return true;
  if (typeof whole === "string") return whole.includes(textOf(value));
  return (
    typeof whole === "object" &&
    whole !== null &&
    Object.values(whole).some((inner) => holds(inner, value))
  );
}
const textOf = (value: Json): string => (typeof value === "object" ? "qzq" : String(value));

type Upstream = Name | "converse";
const upstreams: readonly Upstream[] = [...protocolNames, "converse"];

/** True if the upstream's body has the field's value, or a note names the field. Undefined if the gateway refuses the call. */
function isCarriedOrReported(
  from: Name,
  to: Upstream,
  body: JsonObject,
  path: Path,
): boolean | undefined {
  try {
    const { body: sent, notes } = routeOf(from, to, body);
    return (
      holds(sent, at(body, path)) || notes.some(({ param }) => isSameOrWithin(param, nameOf(path)))
    );
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

/** Describes a wrong value that is lost silently. Undefined if it is refused, reported, or not sent even with the right type. */
function silentLoss(from: Name, body: JsonObject, path: Path, type: string): string | undefined {
  const given = changed(body, path, values[type]!);
  const name = nameOf(path);
  const fault = faultOf(() => codecs[from].direct.validate(given));
  if (fault !== "none") {
    return isSameOrWithin(fault.replace(/^\S+ /, ""), name)
      ? undefined
      : `${name} ${type}: ${fault}`;
  }
  const lost = upstreams.filter(
    (to) =>
      isCarriedOrReported(from, to, given, path) === false &&
      isCarriedOrReported(from, to, body, path) !== false,
  );
  return lost.length === 0 ? undefined : `${name} ${type}: lost towards ${lost.join(", ")}`;
}

/** All silent losses of wrong values in one body. */
const lossesOf = (from: Name, body: JsonObject): string[] =>
  fieldsOf(body).flatMap((path) =>
    Object.keys(values)
      .filter((type) => type !== typeOf(at(body, path)))
      .flatMap((type) => silentLoss(from, body, path, type) ?? []),
  );

describe.each(protocolNames)("a value of the wrong type from a %s caller", (from) => {
  it.each(wholeBodies[from].map((body, index) => [index, body] as const))(
    "is refused, forwarded or reported in body %i",
    (_index, body) => {
      expect(faultOf(() => codecs[from].direct.validate(body))).toBe("none");
      expect(lossesOf(from, body)).toEqual([]);
    },
  );
});
