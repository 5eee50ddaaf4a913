/** From the text of a key to what is looked up: the one place that judges the form of a credential. AUTH-03. */
import { GatewayError } from "../base/errors.ts";
import type { KeyValue } from "./caller.ts";
import { parseKey } from "./key-format.ts";
import type { Secrets } from "./secrets.ts";
import { isTemporary, readTemporary } from "./temporary-key.ts";

/** How a value of a key is looked up, and the name of its caller in the cache. */
export interface Slot {
  readonly value: KeyValue;
  readonly slot: string;
}

/** @throws GatewayError for what is neither a key by its checksum nor a temporary value by its signature */
function slotOfText(secrets: Secrets, text: string): Slot {
  if (isTemporary(text)) {
    const value = readTemporary(secrets, text);
    if (value === undefined) throw unknownKey();
    return { value, slot: text };
  }
  if (parseKey(text) === undefined) throw notAKey(text);
  const lookup = secrets.lookup(text);
  return { value: { lookup }, slot: lookup.toString("base64") };
}

/** The same whatever is wrong with it: nobody learns which part of a key is right. */
export const unknownKey = () =>
  new GatewayError(
    "invalid_api_key",
    "The API key is not valid. Keys of this gateway begin with gw_; a vendor's own key does not work here.",
  );

/** Mistakes that show in the form alone: quotes such as docker's --env-file leaves, and a token of the management API. */
function notAKey(text: string): GatewayError {
  const why = /^["'`]|["'`]$/.test(text)
    ? "The API key was sent in quotes: leave them out."
    : /^gw_(?:admin|pat)_/.test(text)
      ? "This is a token of the management API (/admin/v1). Calls take an API key, which begins with gw_live_."
      : undefined;
  return why === undefined ? unknownKey() : new GatewayError("invalid_api_key", why);
}

/**
 * Lookup values by key: hashing the same key on every call is the dearest part of knowing it. Bounded; what is not a
 * key by its checksum or signature is refused before it could take a place.
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
