/** The openai-like vendor's error body: `{error: {message, type, param, code}}`, with the types and codes it uses. */
import { asObject, asText, type Json } from "../json.ts";
import type { Failure } from "../refusal.ts";

const types: Readonly<Record<number, string>> = {
  403: "permission_error",
  409: "conflict",
  429: "rate_limit_error",
};

export function openaiError(status: number, failure: Failure): Json {
  const usual = types[status] ?? (status >= 500 ? "server_error" : "invalid_request_error");
  return {
    error: {
      message: failure.message,
      type: failure.type ?? usual,
      param: failure.param ?? null,
      code: failure.code ?? (status === 429 ? "rate_limit_exceeded" : null),
    },
  };
}

/** The failures both endpoints of the vendor word alike. */
export const missingParameter = (param: string): Failure => ({
  message: `Missing required parameter: '${param}'.`,
  param,
  code: "missing_required_parameter",
});

export function unknownParameter(param: string | undefined): Failure | undefined {
  if (param === undefined) return undefined;
  return { message: `Unknown parameter: '${param}'.`, param, code: "unknown_parameter" };
}

/** A name the vendor takes for no function. `place` is where the function stands. */
export function wrongFunctionName(declared: Json, place: string): Failure | undefined {
  if (/^[a-zA-Z0-9_-]{1,64}$/.test(asText(declared["name"]))) return undefined;
  return {
    message: `Invalid '${place}.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
    param: `${place}.name`,
    code: "invalid_value",
  };
}

/** Parameters that are no schema of an object. Whether null is one of them is each endpoint's own affair. */
export function wrongFunctionSchema(declared: Json, place: string): Failure | undefined {
  const type = asObject(declared["parameters"])["type"];
  if (type === "object") return unreadPattern(declared, place);
  return {
    message: `Invalid schema for function '${asText(declared["name"])}': schema must be a JSON Schema of 'type: "object"', got 'type: "${asText(type) || "None"}"'.`,
    param: `${place}.parameters`,
    code: "invalid_function_parameters",
  };
}

/** A regular expression that the vendor's validator does not compile: it is Python's, and takes no lookaround. */
function unreadPattern(declared: Json, place: string): Failure | undefined {
  const patterns: string[] = [];
  JSON.stringify(declared["parameters"], (key, value: unknown) => {
    if (key === "pattern" && typeof value === "string") patterns.push(value);
    return value;
  });
  if (patterns.some((pattern) => /\(\?<?[=!]/.test(pattern)))
    return { message: "Invalid JSON schema: regex lookaround is not supported.", param: "tools" };
  const unread = patterns.find((pattern) => /\\[pP]\{/.test(pattern));
  if (unread === undefined) return undefined;
  return {
    message: `Invalid schema for function '${asText(declared["name"])}': '${unread}' is not a 'regex'.`,
    param: `${place}.parameters`,
    code: "invalid_function_parameters",
  };
}

/** An end-user id longer than this is refused. */
const userMax = 64;

export function userTooLong(body: Json): Failure | undefined {
  const user = body["user"];
  return typeof user === "string" ? textTooLong(user, "user", userMax) : undefined;
}

/** The ids of calls have the same bound, wherever they stand. */
export const callIdTooLong = (id: unknown, param: string): Failure | undefined =>
  typeof id === "string" ? textTooLong(id, param, userMax) : undefined;

/** As the vendor counts them: code points. */
export const charactersOf = (text: string): number => Array.from(text).length;

function textTooLong(text: string, param: string, max: number): Failure | undefined {
  const length = charactersOf(text);
  if (length <= max) return undefined;
  return {
    message: `Invalid '${param}': string too long. Expected a string with maximum length ${max}, but got a string with length ${length} instead.`,
    param,
    code: "string_above_max_length",
  };
}

type NumberLimits = ReadonlyMap<string, readonly [low: number, high: number]>;

export const numberLimits = (
  limits: Readonly<Record<string, readonly [number, number]>>,
): NumberLimits => new Map(Object.entries(limits));

/** The first number of the body that is outside its limits. */
export function outOfRange(body: Json, limits: NumberLimits): Failure | undefined {
  for (const [param, [low, high]] of limits) {
    const value = body[param];
    if (value === undefined || value === null) continue;
    if (typeof value !== "number") {
      return {
        message: `Invalid type for '${param}': expected a number.`,
        param,
        code: "invalid_type",
      };
    }
    if (value >= low && value <= high) continue;
    const kind =
      Number.isInteger(value) && Number.isInteger(low) && high > 2 ? "integer" : "decimal";
    const [side, word, sign, bound] =
      value < low ? ["below", "min", ">=", low] : ["above", "max", "<=", high];
    return {
      message: `Invalid '${param}': ${kind} ${side} ${word}imum value. Expected a value ${sign} ${bound}, but got ${value} instead.`,
      param,
      code: `${kind}_${side}_${word}_value`,
    };
  }
  return undefined;
}
