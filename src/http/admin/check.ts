/** Bodies and queries of the management API against their schemas: the first breach as an error that names the field. */
import type { Compile } from "typebox/schema";
import { engine, type TSchema } from "../../base/json-schema.ts";
import { GatewayError, type ErrorCode } from "../../base/errors.ts";
import { isObject, type WireObject } from "../../base/json.ts";

type Validator = ReturnType<typeof Compile>;
type Breach = ReturnType<Validator["Errors"]>[1][number];

/** A check, compiled at its first use: a start must not wait for forty of them. @throws GatewayError, from what it returns */
export function checker(schema: TSchema): (value: unknown) => void {
  let compiled: Validator | undefined;
  return (value) => {
    compiled ??= engine().Compile(schema);
    if (compiled.Check(value)) return;
    const [, breaches] = compiled.Errors(value);
    throw errorOf(breaches.findLast(tells) ?? breaches[0]!, value);
  };
}

/** Of a choice of schemas each one complains, and the choice itself last: what tells most is the breach within. */
const tells = ({ keyword }: Breach): boolean => !["anyOf", "const", "type"].includes(keyword);

/** `/routing/sort` as `routing.sort`. */
const dotted = (pointer: string): string =>
  pointer.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");

const codes: Readonly<Record<string, ErrorCode>> = {
  type: "invalid_type",
  anyOf: "invalid_type",
  maxLength: "string_above_max_length",
  maximum: "integer_above_max_value",
  minimum: "integer_below_min_value",
};

function errorOf(breach: Breach, value: unknown): GatewayError {
  const { keyword, instancePath, message } = breach;
  const at = dotted(instancePath);
  const params = breach.params as WireObject;
  if (keyword === "required") {
    const param = join(at, first(params["requiredProperties"]));
    return new GatewayError("missing_required_parameter", `\`${param}\` is required.`, { param });
  }
  if (keyword === "additionalProperties" || keyword === "unevaluatedProperties") {
    const param = join(
      at,
      first(params["additionalProperties"] ?? params["unevaluatedProperties"]),
    );
    return new GatewayError("unknown_parameter", `There is no field \`${param}\` here.`, { param });
  }
  const code = codes[keyword] ?? "invalid_value";
  const given = isObject(value) && at === "" ? "The body" : `\`${at}\``;
  return new GatewayError(code, `${given} ${message}.`, { param: at === "" ? undefined : at });
}

const first = (names: unknown): string => (Array.isArray(names) ? String(names[0]) : "");

const join = (at: string, name: string): string => (at === "" ? name : `${at}.${name}`);
