/**
 * Reads one field's value in its domain. Text of multipart bodies becomes the number or boolean that it spells; the domain
 * is the same in both encodings. docs/media.md; ERR-13; docs/decisions.md "Unknown fields and bad values".
 */
import type { ErrorCode } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { registeredDataUrl } from "../base/media-types.ts";
import type { Domain, MediaItem } from "./family.ts";
import { parseSize, sizeFault } from "./sizes.ts";

/** A mistake in a value. `outside`: right type, but not in the domain. */
export interface Fault {
  readonly code: ErrorCode;
  /** A clause without the field's name. */
  readonly why: string;
  readonly outside: boolean;
  /** Follows the field's name: `[3].url`. */
  readonly at?: string;
}

/** A value, with the paths of its unknown members; or its mistake. */
export type ReadValue =
  | { readonly value: unknown; readonly unread?: readonly string[] }
  | { readonly fault: Fault };

const wrongType = (why: string, at?: string): ReadValue => ({
  fault: { code: "invalid_type", why, outside: false, ...(at === undefined ? {} : { at }) },
});
const outside = (why: string, code: ErrorCode = "invalid_value"): ReadValue => ({
  fault: { code, why, outside: true },
});

/** Longer values are not quoted in messages. */
const quotedMax = 60;
const quote = (value: string) => (value.length > quotedMax ? "" : `, not "${value}"`);

/** Reads `value`, which is neither undefined nor null. `asText`: it comes from a multipart body. */
export function readValue(domain: Domain, value: unknown, asText: boolean): ReadValue {
  switch (domain.type) {
    case "string":
      return typeof value === "string" ? readText(value, domain.max) : wrongType("must be text");
    case "enum":
    case "size":
      if (typeof value !== "string") return wrongType("must be text");
      return domain.type === "enum" ? readChoice(domain, value) : readSize(domain, value);
    case "integer":
      return readInteger(domain, value, asText);
    case "boolean":
      return readBoolean(value, asText || domain.textToo === true);
    case "material":
      return readMaterial(value, "");
    case "materials":
      return readList(value, domain.max, readMaterial);
    case "media":
      return readList(value, Number.POSITIVE_INFINITY, readMediaItem);
  }
}

function readText(value: string, max: number | undefined): ReadValue {
  if (max === undefined || value.length <= max) return { value };
  // A character is a code point, which takes at most two of the UTF-16 units that `length` counts.
  if (value.length <= max * 2 && Array.from(value).length <= max) return { value };
  return outside(`must have at most ${max} characters`, "string_above_max_length");
}

function readChoice(
  { values, forwarded = [] }: Extract<Domain, { type: "enum" }>,
  value: string,
): ReadValue {
  if (values.includes(value) || forwarded.includes(value)) return { value };
  return outside(`must be one of ${values.join(", ")}${quote(value)}`);
}

function readSize(domain: Extract<Domain, { type: "size" }>, value: string): ReadValue {
  if (domain.presets.includes(value)) return { value };
  if (!domain.custom) return outside(`must be one of ${domain.presets.join(", ")}${quote(value)}`);
  if (domain.presets.includes("auto") && !parseSize(value))
    return outside(`must be auto or <width>x<height>${quote(value)}`);
  const fault = sizeFault(value);
  return fault === undefined ? { value } : outside(`${fault}${quote(value)}`);
}

function readInteger(
  domain: Extract<Domain, { type: "integer" }>,
  value: unknown,
  asText: boolean,
): ReadValue {
  const spelled = (asText || domain.textToo === true) && typeof value === "string";
  const number = spelled && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isSafeInteger(number)) {
    return wrongType("must be a whole number");
  }
  if (number > domain.max)
    return outside(`must be at most ${domain.max}`, "integer_above_max_value");
  if (number < domain.min)
    return outside(`must be at least ${domain.min}`, "integer_below_min_value");
  return { value: number };
}

function readBoolean(value: unknown, asText: boolean): ReadValue {
  if (typeof value === "boolean") return { value };
  if (asText && (value === "true" || value === "false")) return { value: value === "true" };
  return wrongType("must be true or false");
}

const form = '{url}, as in {"url": "https://..."}';

/** True for an address that can be fetched, or a picture as a data URL. Whether the address is public is checked later. */
function isAddress(url: string): boolean {
  if (/^https?:\/\//i.test(url)) return URL.canParse(url);
  return /^data:image\/[a-z0-9.+-]+;base64,./i.test(url);
}

function readMaterial(value: unknown, at: string): ReadValue {
  if (typeof value === "string") {
    const why = `must be an object ${form}, not a bare string`;
    return { fault: { code: "media_must_be_object", why, outside: false, at } };
  }
  if (!isObject(value)) return wrongType(`must be an object ${form}`, at);
  const fault = urlFault(value["url"], at);
  if (fault) return fault;
  return {
    value: registeredDataUrl(value["url"] as string),
    unread: membersBeside(value, ["url"], at),
  };
}

function urlFault(url: unknown, at: string): ReadValue | undefined {
  const place = `${at}.url`;
  if (url === undefined || url === null) {
    const why = `is missing; material has the form ${form}`;
    return { fault: { code: "missing_required_parameter", why, outside: false, at: place } };
  }
  if (typeof url !== "string") return wrongType("must be text", place);
  if (isAddress(url)) return undefined;
  const why = "must be an https address, or a data URL of an image in base64";
  return { fault: { code: "invalid_value", why, outside: false, at: place } };
}

const mediaTypes: readonly MediaItem["type"][] = ["first_frame", "last_frame", "reference_image"];

function readMediaItem(value: unknown, at: string): ReadValue {
  if (!isObject(value)) {
    const why = 'must be an object {"type": "first_frame", "url": "https://..."}';
    const code = typeof value === "string" ? "media_must_be_object" : "invalid_type";
    return { fault: { code, why, outside: false, at } };
  }
  const type = mediaTypes.find((one) => one === value["type"]);
  if (type === undefined) {
    const code = value["type"] === undefined ? "missing_required_parameter" : "invalid_value";
    const why = `must be one of ${mediaTypes.join(", ")}`;
    return { fault: { code, why, outside: false, at: `${at}.type` } };
  }
  const fault = urlFault(value["url"], at);
  if (fault) return fault;
  const item = { type, url: registeredDataUrl(value["url"] as string), param: `${at}.url` };
  return { value: item, unread: membersBeside(value, ["type", "url"], at) };
}

const membersBeside = (object: object, known: readonly string[], at: string): string[] =>
  Object.keys(object)
    .filter((key) => !known.includes(key))
    .map((key) => `${at}.${key}`);

function readList(
  value: unknown,
  max: number,
  readItem: (value: unknown, at: string) => ReadValue,
): ReadValue {
  if (!Array.isArray(value)) return wrongType("must be a list of objects");
  if (value.length > max) return outside(`must have at most ${max} items`, "too_many_images");
  const items: unknown[] = [];
  const unread: (readonly string[])[] = [];
  for (const [index, item] of value.entries()) {
    const read = readItem(item, `[${index}]`);
    if ("fault" in read) return read;
    items.push(read.value);
    unread.push(read.unread ?? []);
  }
  return { value: items, unread: unread.flat() };
}
