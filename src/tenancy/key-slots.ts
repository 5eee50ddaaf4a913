/** Turns the text of a key into its lookup value. Only this file judges the format of a credential. AUTH-03. */
import { GatewayError } from "../base/errors.ts";
import type { KeyValue } from "./caller.ts";
import { keyLength, keyScheme, parseKey } from "./key-format.ts";
import type { Secrets } from "./secrets.ts";
import { isTemporary, readTemporary } from "./temporary-key.ts";

/** The lookup value of a key, and the cache key of its caller. */
export interface Slot {
  readonly value: KeyValue;
  readonly slot: string;
}

/** @throws GatewayError if the text is neither a key with a valid checksum nor a temporary value with a valid signature */
function slotOfText(secrets: Secrets, text: string): Slot {
  if (isTemporary(text)) {
    const value = readTemporary(secrets, text);
    if (value === undefined) throw notATemporaryKey();
    return { value, slot: text };
  }
  if (parseKey(text) === undefined) throw notAKey(text);
  const lookup = secrets.lookup(text);
  return { value: { lookup }, slot: lookup.toString("base64") };
}

/** The same error whatever is wrong, so that a caller cannot learn which part of a key is right. */
export const unknownKey = () =>
  new GatewayError(
    "invalid_api_key",
    "The API key is not valid. Keys of this gateway begin with gw_; a vendor's own key does not work here.",
  );

const notATemporaryKey = () =>
  new GatewayError(
    "invalid_api_key",
    "The temporary key is incomplete or altered, or another gateway made it. Copy the whole key again, or make a new one.",
  );

/** Explains mistakes visible in the format: quotes, which docker's --env-file leaves in, and tokens of the management API. */
function notAKey(text: string): GatewayError {
  const why = /^["'`]|["'`]$/.test(text)
    ? "The API key was sent in quotes: leave them out."
    : /^gw_(?:admin|pat)_/.test(text)
      ? "This is a token of the management API (/admin/v1). Calls take an API key, which begins with gw_live_."
      : text.startsWith(keyScheme)
        ? badCopyOf(text)
        : undefined;
  return why === undefined ? unknownKey() : new GatewayError("invalid_api_key", why);
}

/** Explains a key that was not copied as it is. Length and checksum are public, so this reveals nothing about other keys. */
function badCopyOf({ length }: string): string {
  if (length === keyLength)
    return "The API key is not valid: a character of it is wrong. Copy the whole key again.";
  const what = length < keyLength ? "incomplete" : "too long";
  return `The API key is ${what}: it has ${length} characters instead of ${keyLength}. Copy the whole key again.`;
}

/**
 * Creates a bounded cache of lookup values: hashing the key is the most expensive part of recognising it. A text without a valid
 * checksum or signature is refused before it takes a place.
 */
export function createSlots(secrets: Secrets, sizeMax: number): (key: string) => Slot {
  const slots = new Map<string, Slot>();
  return (key) => {
    const known = slots.get(key);
    if (known !== undefined) return known;
    const made = slotOfText(secrets, key);
    if (slots.size >= sizeMax) slots.clear();
    slots.set(key, made);
    return made;
  };
}
