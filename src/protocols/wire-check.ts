/**
 * Validates a caller's body against the schema of its protocol. A compiled check accepts valid bodies; a walk finds the fault in others.
 * Both use one schema, so they cannot disagree. Requirements: ERR (400: a value outside its domain).
 */
import { engine, Type, type TSchema } from "../base/json-schema.ts";
import type { Compile } from "typebox/schema";
import { counted } from "../base/counted.ts";
import { GatewayError, type ErrorCode } from "../base/errors.ts";
import { isObject } from "../base/json.ts";

/** The part of JSON Schema that the protocols' schemas use. */
interface Rule {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly properties?: Readonly<Record<string, Rule>>;
  readonly required?: readonly string[];
  readonly items?: Rule;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly anyOf?: readonly Rule[];
  readonly allOf?: readonly Rule[];
  readonly not?: Rule;
}

interface Fault {
  readonly code: ErrorCode;
  readonly param: string;
  readonly message: string;
}

/** An optional field that may also be null: SDKs send null for unset fields. */
export const nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

/** A string from a closed set. */
export const oneOf = (...values: string[]) => Type.Unsafe<string>({ type: "string", enum: values });

/** An object whose members only the upstream checks. */
export const anyObject = Type.Unsafe<object>({ type: "object" });

/** A rule for objects whose field `key` has one of `values`: they must fit `rule`. Other objects always pass. */
export const when = (key: string, values: readonly string[], rule: object): object => ({
  anyOf: [
    { not: { required: [key], properties: { [key]: { enum: values } } } },
    { type: "object", ...rule },
  ],
});

/**
 * Compiles a schema to a check of whole bodies, at first use: few gateways serve all protocols. The check throws GatewayError
 * `missing_required_parameter`, `invalid_type`, `invalid_value` or an integer range code, with the path of the first fault as `param`.
 */
export function compileCheck(schema: TSchema): (body: unknown) => void {
  let compiled: ReturnType<typeof Compile> | undefined;
  return (body) => {
    compiled ??= engine().Compile(schema);
    if (compiled.Check(body)) return;
    const fault = findFault(schema, body, "");
    if (!fault) throw new GatewayError("invalid_value", "The body does not fit this endpoint.");
    throw new GatewayError(fault.code, fault.message, { param: fault.param });
  };
}

function findFault(rule: Rule, value: unknown, param: string): Fault | undefined {
  if (rule.type !== undefined && !hasType(value, rule.type)) return wrongType([rule], value, param);
  return (
    (rule.anyOf ? faultInUnion(rule.anyOf, value, param) : undefined) ??
    faultInValue(rule, value, param) ??
    faultInMembers(rule, value, param) ??
    faultInConditions(rule, value, param)
  );
}

function faultInValue(rule: Rule, value: unknown, param: string): Fault | undefined {
  const allowed = allowedValues(rule);
  if (allowed && !allowed.includes(value)) return wrongValue(allowed, value, param);
  if (typeof value === "number") {
    if (rule.maximum !== undefined && value > rule.maximum) {
      const message = `Invalid '${param}': above the maximum. Expected a value <= ${rule.maximum}, but got ${value} instead.`;
      return { code: "integer_above_max_value", param, message };
    }
    if (rule.minimum !== undefined && value < rule.minimum) {
      const message = `Invalid '${param}': below the minimum. Expected a value >= ${rule.minimum}, but got ${value} instead.`;
      return { code: "integer_below_min_value", param, message };
    }
  }
  if (typeof value === "string" && value.length < (rule.minLength ?? 0)) {
    return { code: "invalid_value", param, message: `Invalid '${param}': empty string.` };
  }
  return undefined;
}

function faultInMembers(rule: Rule, value: unknown, param: string): Fault | undefined {
  if (Array.isArray(value)) return faultInArray(rule, value, param);
  if (!isObject(value)) return undefined;
  const prefix = param === "" ? "" : `${param}.`;
  for (const key of rule.required ?? []) {
    if (!Object.hasOwn(value, key)) {
      const missing = `${prefix}${key}`;
      const message = `Missing required parameter: '${missing}'.`;
      return { code: "missing_required_parameter", param: missing, message };
    }
  }
  for (const [key, member] of Object.entries(rule.properties ?? {})) {
    if (!Object.hasOwn(value, key)) continue;
    const fault = findFault(member, value[key], `${prefix}${key}`);
    if (fault) return fault;
  }
  return undefined;
}

function faultInArray(rule: Rule, value: readonly unknown[], param: string): Fault | undefined {
  const { minItems = 0, maxItems = Infinity, items } = rule;
  if (value.length < minItems || value.length > maxItems) {
    const isShort = value.length < minItems;
    const bound = `${isShort ? "at least" : "at most"} ${counted(isShort ? minItems : maxItems, "item")}`;
    const message = `Invalid '${param}': expected ${bound}, but got ${value.length} instead.`;
    return { code: "invalid_value", param, message };
  }
  if (!items) return undefined;
  for (const [index, item] of value.entries()) {
    const fault = findFault(items, item, `${param}[${index}]`);
    if (fault) return fault;
  }
  return undefined;
}

function faultInConditions(rule: Rule, value: unknown, param: string): Fault | undefined {
  for (const member of rule.allOf ?? []) {
    const fault = findFault(member, value, param);
    if (fault) return fault;
  }
  if (rule.not && !findFault(rule.not, value, param)) return wrongValue([], value, param);
  return undefined;
}

/** Returns the fault of the most likely branch: the last one that accepts the value's JSON type. */
function faultInUnion(branches: readonly Rule[], value: unknown, param: string): Fault | undefined {
  const meant = branches.filter((rule) => rule.type === undefined || hasType(value, rule.type));
  if (meant.length === 0) return wrongType(branches, value, param);
  const faults = meant.map((rule) => findFault(rule, value, param));
  return faults.includes(undefined) ? undefined : faults.at(-1);
}

function allowedValues(rule: Rule): readonly unknown[] | undefined {
  return rule.enum ?? (Object.hasOwn(rule, "const") ? [rule.const] : undefined);
}

function hasType(value: unknown, type: string): boolean {
  if (type === "integer") return Number.isInteger(value);
  return type === jsonType(value);
}

function jsonType(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

const article = (type: string): string => (/^[aio]/.test(type) ? `an ${type}` : `a ${type}`);

function wrongType(rules: readonly Rule[], value: unknown, param: string): Fault {
  const types = new Set(rules.map((rule) => rule.type ?? "value"));
  types.delete("null");
  const expected = [...types].map(article);
  const actual = typeof value === "number" ? "number" : jsonType(value);
  const got = actual === "null" ? "null" : article(actual);
  const message = `Invalid type for '${param}': expected ${expected.join(" or ")}, but got ${got} instead.`;
  return { code: "invalid_type", param, message };
}

const shownMax = 100;
const keysShownMax = 8;

/** Formats a value for a message. An object is shown by its keys: it may be large, and its `toString` is the caller's. */
function describeValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.length} items]`;
  if (typeof value !== "object" || value === null) return String(value);
  return `{${Object.keys(value).slice(0, keysShownMax).join(", ")}}`;
}

function wrongValue(allowed: readonly unknown[], value: unknown, param: string): Fault {
  const shown = describeValue(value).slice(0, shownMax);
  const hint =
    allowed.length > 0
      ? ` Supported values are: ${allowed.map((one) => `'${String(one)}'`).join(", ")}.`
      : "";
  return {
    code: "invalid_value",
    param,
    message: `Invalid value for '${param}': '${shown}'.${hint}`,
  };
}
