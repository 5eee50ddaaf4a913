/** Fields that are removed from a request on every route, including direct ones (TXT-17 to TXT-19). */
import type { Note } from "../base/notes.ts";
import type { JsonObject } from "./canonical/request.ts";
import { removeOtherModels } from "./other-models.ts";

/**
 * Never forwarded: callers do not choose a service tier, a region, a pricier speed, a vendor's fallback model or a cheaper hour. The
 * gateway charges the price of the offer. All protocols filter each vendor's spelling; the gateway reads `models` of chat callers before.
 */
export const filteredFields = [
  "service_tier",
  "serviceTier",
  "inference_geo",
  "speed",
  "fallbacks",
  "models",
  "background_options",
] as const;

/** The names as a list for documents: "`a`, `b` and `c`". */
export const filteredNames = filteredFields
  .map((name) => `\`${name}\``)
  .join(", ")
  .replace(/, (?=[^,]*$)/, " and ");

/**
 * Removes from `body`, a copy of the caller's, the filtered fields and what would run other models, and notes each. Null is not noted: SDKs
 * send it for unset fields.
 */
export function removeFilteredFields(body: JsonObject): Note[] {
  const notes = removeOtherModels(body);
  for (const param of filteredFields) {
    if (!Object.hasOwn(body, param)) continue;
    const isNothing = body[param] === null;
    delete body[param];
    if (isNothing) continue;
    notes.push({ param, kind: "dropped", detail: "never forwarded, dropped" });
  }
  return notes;
}
