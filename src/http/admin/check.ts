/** Checks bodies and queries of the management API against their schemas. The first violation becomes an error that names the field. */
import type { Compile } from "typebox/schema";
import { engine, type TSchema } from "../../base/json-schema.ts";
import { GatewayError, type ErrorCode } from "../../base/errors.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import { suggest } from "../../base/suggest.ts";

type Validator = ReturnType<typeof Compile>;
type Breach = ReturnType<Validator["Errors"]>[1][number];

/**
 * Returns a check that is compiled at its first use: a start must not compile forty of them. @throws GatewayError, from the returned
 * check
 */
export function checker(schema: TSchema): (value: unknown) => void {
  let compiled: Validator | undefined;
  return (value) => {
    compiled ??= engine().Compile(schema);
    if (compiled.Check(value)) return;
    const [, breaches] = compiled.Errors(value);
    const breach = breaches.findLast(isSpecific) ?? breaches[0]!;
    // For an unknown field, the path names the rule that refuses it: its parent object lists the allowed fields.
    const path = breach.schemaPath.replace(/\/(?:additional|unevaluated)Properties$/, "");
    throw errorOf(breach, value, nodeAt(schema, path));
  };
}

/**
 * False for violations that tell little. With `anyOf`, each branch reports one and `anyOf` itself reports last: an inner violation
 * tells most. Each unknown field first reports `boolean`, and at most eight violations are listed.
 */
const isSpecific = ({ keyword }: Breach): boolean =>
  !["anyOf", "boolean", "const", "type"].includes(keyword);

/** Converts the pointer `/routing/sort` to `routing.sort`. */
const dotted = (pointer: string): string =>
  pointer.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");

const codes: Readonly<Record<string, ErrorCode>> = {
  type: "invalid_type",
  anyOf: "invalid_type",
  maxLength: "string_above_max_length",
  maximum: "integer_above_max_value",
  minimum: "integer_below_min_value",
};

function errorOf(breach: Breach, value: unknown, node: WireObject): GatewayError {
  const { keyword, instancePath, message } = breach;
  const at = dotted(instancePath);
  const params = breach.params as WireObject;
  if (keyword === "required") {
    const param = join(at, first(params["requiredProperties"]));
    return new GatewayError("missing_required_parameter", `\`${param}\` is required.`, { param });
  }
  if (keyword === "boolean") return unknownField(at, node);
  if (keyword === "additionalProperties" || keyword === "unevaluatedProperties") {
    const found = first(params["additionalProperties"] ?? params["unevaluatedProperties"]);
    return unknownField(join(at, found), node);
  }
  const code = codes[keyword] ?? "invalid_value";
  const given = isObject(value) && at === "" ? "The body" : `\`${at}\``;
  const fault =
    ruleText(keyword, node) ?? typeText(keyword, node, valueAt(value, at)) ?? `${message}.`;
  return new GatewayError(code, `${given} ${fault}`, { param: at === "" ? undefined : at });
}

const unknownField = (param: string, node: WireObject): GatewayError =>
  new GatewayError(
    "unknown_parameter",
    `There is no field \`${param}\` here${suggestion(param, node)}`,
    { param },
  );

/** Returns the violated schema: its list of values and its description tell more than the name of a rule. */
function nodeAt(schema: TSchema, schemaPath: string): WireObject {
  let node: unknown = schema;
  for (const step of schemaPath.split("/").slice(1))
    node = isObject(node) || Array.isArray(node) ? (node as WireObject)[step] : undefined;
  return isObject(node) ? node : {};
}

/** The end of the error for an unknown field: a similar field, else the known fields. */
function suggestion(param: string, { properties }: WireObject): string {
  if (!isObject(properties)) return ".";
  const hint = suggest(param.slice(param.lastIndexOf(".") + 1), Object.keys(properties));
  return hint === "" ? "." : /[?.]$/.test(hint) ? `; ${hint}` : `; ${hint}.`;
}

const wordsShown = 24;

/** The text of an enum, a pattern or a minimal length; undefined where the validator's own message is enough. */
function ruleText(keyword: string, node: WireObject): string | undefined {
  const { enum: words } = node;
  if (keyword === "enum" && Array.isArray(words) && words.length <= wordsShown)
    return `must be one of: ${words.join(", ")}.`;
  if (keyword === "const") return `must be ${JSON.stringify(node["const"])}.`;
  const { description, minLength } = node;
  // A field's description does not explain that it is empty.
  if (keyword === "minLength" && minLength === 1) return "must not be empty.";
  const isForm = keyword === "pattern" || keyword === "minLength";
  return isForm && typeof description === "string" ? `does not fit: ${description}` : undefined;
}

const typeNames: Readonly<Record<string, string>> = {
  string: "a string",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  array: "a list",
};

/** The text of a wrong type. Amounts of money are strings: for a number it shows the string to send. */
function typeText(keyword: string, node: WireObject, given: unknown): string | undefined {
  const { type } = node;
  const kind = typeof type === "string" ? typeNames[type] : undefined;
  if (keyword !== "type" || kind === undefined) return undefined;
  const written =
    type === "string" && typeof given === "number" ? `, such as "${sampleFor(node, given)}"` : "";
  return `must be ${kind}${written}.`;
}

/** A text to send in place of a number: the number in quotes where that fits the field, else the field's own example. */
function sampleFor({ pattern, examples }: WireObject, given: number): string {
  const [example] = Array.isArray(examples) ? (examples as readonly string[]) : [];
  const fits = typeof pattern === "string" ? new RegExp(pattern).test(String(given)) : !example;
  return fits || example === undefined ? String(given) : example;
}

const valueAt = (value: unknown, at: string): unknown =>
  at
    .split(".")
    .reduce<unknown>((found, step) => (isObject(found) ? found[step] : undefined), value);

const first = (names: unknown): string => (Array.isArray(names) ? String(names[0]) : "");

const join = (at: string, name: string): string => (at === "" ? name : `${at}.${name}`);
