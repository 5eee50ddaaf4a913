/** Describes the allowed values of a parameter. Pure. */
import { readWhole } from "../../base/numbers.ts";
import type { Model } from "./filters.ts";

export type Domain = NonNullable<Model["supported_parameters"]>[string];

function boundsOf({ min, max, type }: Domain): string {
  const what = type === "array" ? " items" : type === "string" ? " characters" : "";
  if (min !== undefined && max !== undefined)
    return ` from ${readWhole(min)} to ${readWhole(max)}${what}`;
  if (min !== undefined) return ` from ${readWhole(min)} up`;
  return max === undefined ? "" : ` of up to ${readWhole(max)}${what}`;
}

const names: Readonly<Record<Domain["type"], string>> = {
  string: "text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  enum: "one of",
  array: "a list",
  object: "an object",
};

/** "one of low, medium, high; 16 if absent". */
export function domainText(domain: Domain): string {
  const { type, values = [], multiple_of: step, pattern, default: given } = domain;
  const parts = [
    type === "enum"
      ? `one of ${values.join(", ")}${pattern === undefined ? "" : ", or width x height"}`
      : `${names[type]}${boundsOf(domain)}`,
    step === undefined ? "" : `in steps of ${step}`,
    given === undefined
      ? ""
      : `${typeof given === "string" ? given : JSON.stringify(given)} if absent`,
  ];
  return parts.filter((part) => part !== "").join("; ");
}
