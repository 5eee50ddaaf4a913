/** Tables of what a vendor's request may hold. They report which field is wrong and how; each vendor words it. */
import type { Json } from "./json.ts";
import { isObject } from "./json.ts";

/** What is wrong with a value; undefined when nothing is. */
export type Rule = (value: unknown) => string | undefined;

export interface WrongField {
  readonly kind: "unknown" | "type" | "value";
  readonly field: string;
  /** As "expected one of 1:1, 16:9". */
  readonly fault: string;
}

const typeFault = "invalid type: ";

const typed =
  (name: string, fits: (value: unknown) => boolean): Rule =>
  (value) =>
    fits(value) ? undefined : `${typeFault}expected ${name}`;

export const text = typed("a string", (value) => typeof value === "string");
export const flag = typed("a boolean", (value) => typeof value === "boolean");
export const object = typed("an object", isObject);
export const list = typed("a list", Array.isArray);

export function integer(low: number, high: number): Rule {
  return (value) => {
    if (!Number.isInteger(value)) return `${typeFault}expected an integer`;
    const fits = (value as number) >= low && (value as number) <= high;
    return fits ? undefined : `expected a value from ${low} to ${high}, got ${String(value)}`;
  };
}

export function oneOf(...values: readonly string[]): Rule {
  return (value) => {
    if (typeof value !== "string") return `${typeFault}expected a string`;
    return values.includes(value) ? undefined : `expected one of ${values.join(", ")}`;
  };
}

/** The first field of an object that its table does not know or does not take. Null is no value anywhere. */
export function wrongField(
  given: Json,
  rules: Readonly<Record<string, Rule>>,
): WrongField | undefined {
  for (const [field, value] of Object.entries(given)) {
    if (!Object.hasOwn(rules, field)) return { kind: "unknown", field, fault: "unknown field" };
    const fault = rules[field]!(value);
    if (fault !== undefined) {
      return { kind: fault.startsWith(typeFault) ? "type" : "value", field, fault };
    }
  }
  return undefined;
}

const imageTypes = ["image/png", "image/jpeg", "image/webp"];

/**
 * What is wrong with the address of a picture: `http(s)` with a host, or a base64 data URL of one of the three types.
 * Nothing is fetched.
 */
export function wrongImageAddress(address: unknown): string | undefined {
  if (typeof address !== "string" || address === "") return "an image needs an address";
  const data = /^data:([^;,]*);base64,[A-Za-z0-9+/]/.exec(address.slice(0, 100));
  if (data) return imageTypes.includes(data[1]!) ? undefined : `unsupported image type ${data[1]}`;
  return isWebAddress(address) ? undefined : "an image needs an http(s) or data address";
}

export function isWebAddress(address: string): boolean {
  const url = URL.parse(address);
  return (url?.protocol === "https:" || url?.protocol === "http:") && url.hostname !== "";
}
