/**
 * Tags (names and values) and the end user of a call, for the caller's own accounting. Callers send them in headers, which any client
 * can set, or in the protocol's own field. They are stored in the request log and change neither the answer nor its price.
 * docs/tags.md.
 */
import { GatewayError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { parseJsonText } from "../base/json-text.ts";
import { tagNameMax, type Tags } from "../base/tags.ts";

/** The two headers as received; undefined if absent. */
export interface TagHeaders {
  readonly metadata?: string | undefined;
  readonly endUser?: string | undefined;
}

const tagLimits = { pairs: 16, name: tagNameMax, value: 512, endUser: 256 } as const;
const { pairs: pairsMax, name: nameMax, value: valueMax, endUser: endUserMax } = tagLimits;

const metadataHeader = "x-gw-metadata";
const endUserHeader = "x-gw-end-user";

const noTags: Tags = {};

/** The body fields with the same meaning: an object of tags, and the end user. */
interface Fields {
  readonly tags?: unknown;
  readonly endUser?: unknown;
}

type Body = Readonly<Record<string, unknown>>;

const ofOpenAi = (body: Body): Fields => ({
  tags: body["metadata"],
  endUser: body["safety_identifier"] ?? body["user"],
});
const userOf = (body: Body): Fields => ({ endUser: body["user"] });

const fieldsOf: Readonly<Record<string, (body: Body) => Fields>> = {
  chat: ofOpenAi,
  responses: ofOpenAi,
  messages: ({ metadata }) => ({ endUser: isObject(metadata) ? metadata["user_id"] : undefined }),
  generate_content: ({ labels }) => ({ tags: labels }),
  embeddings: userOf,
  images: userOf,
  tasks: userOf,
};

/**
 * The tags of a call of `protocol`. A header takes precedence over the field with the same meaning. Field values that are not short
 * texts are ignored here and still reach the vendor.
 * @throws GatewayError `invalid_value` for a header, naming it
 */
export function tagsOf(protocol: string, body: Body, headers: TagHeaders): Tags {
  const fields = fieldsOf[protocol]?.(body);
  if (headers.metadata === undefined && headers.endUser === undefined)
    if (fields === undefined || (fields.tags == null && fields.endUser == null)) return noTags;
  const told = headers.metadata === undefined ? [] : pairsIn(headers.metadata);
  const names = new Set(told.map(([name]) => name));
  const ofBody = textPairs(fields?.tags).filter(([name]) => !names.has(name));
  const pairs = [...told, ...ofBody].slice(0, pairsMax);
  return {
    tags: pairs.length === 0 ? undefined : Object.fromEntries(pairs),
    endUser: endUserIn(headers.endUser) ?? shortText(fields?.endUser, endUserMax),
  };
}

const shortText = (value: unknown, most: number): string | undefined =>
  typeof value === "string" && value !== "" && value.length <= most ? value : undefined;

const isPair = ([name, value]: readonly [string, unknown]): boolean =>
  isName(name) && typeof value === "string" && value.length <= valueMax;

/** Values are sanitized when stored. Names must be valid as sent, because filters use them later. */
const isName = (name: string): boolean =>
  name !== "" && name.length <= nameMax && name.isWellFormed() && !name.includes("\0");

/** The pairs of a field that can be tags. */
function textPairs(value: unknown): [string, string][] {
  if (!isObject(value)) return [];
  const found: [string, string][] = [];
  for (const name of Object.keys(value)) {
    if (found.length >= pairsMax) break;
    const pair = [name, value[name]] as const;
    if (isPair(pair)) found.push([name, value[name] as string]);
  }
  return found;
}

/** The pairs of the header. @throws GatewayError `invalid_value` */
function pairsIn(header: string): [string, string][] {
  let value: unknown;
  try {
    value = parseJsonText(utf8(header));
  } catch {
    throw badMetadata();
  }
  if (!isObject(value)) throw badMetadata();
  const pairs = Object.entries(value);
  if (pairs.length > pairsMax || !pairs.every(isPair)) throw badMetadata();
  return pairs as [string, string][];
}

/** @throws GatewayError `invalid_value` */
function endUserIn(header: string | undefined): string | undefined {
  if (header === undefined || header === "") return undefined;
  try {
    const text = utf8(header);
    if (text.length <= endUserMax) return text;
  } catch {
    // Reported below.
  }
  const message = `The header ${endUserHeader} has at most ${endUserMax} characters of UTF-8: send an id or a hash.`;
  throw new GatewayError("invalid_value", message, { param: endUserHeader });
}

const badMetadata = (): GatewayError =>
  new GatewayError(
    "invalid_value",
    `The header ${metadataHeader} must be one JSON object of strings in UTF-8, such as {"team":"search"}: ` +
      `at most ${pairsMax} pairs, names of 1 to ${nameMax} characters, values of at most ${valueMax}.`,
    { param: metadataHeader },
  );

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Decodes a header as UTF-8; Node reads its bytes as Latin-1. @throws TypeError if the bytes are not UTF-8 */
const utf8 = (header: string): string =>
  /[\u0080-\u00ff]/.test(header) ? decoder.decode(Buffer.from(header, "latin1")) : header;
