/** What is taken out of a request on every route, direct ones included (TXT-17 to TXT-19). */
import type { Note } from "../base/notes.ts";
import type { JsonObject } from "./canonical/request.ts";

/**
 * Never forwarded: no caller picks a service tier, a region, a dearer speed, a model that the vendor falls back to, or a cheaper hour.
 * The call is charged at the price of its offer. Each vendor's spelling is filtered in every protocol; of chat callers `models` is read before.
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

/** Their names as documents list them: "`a`, `b` and `c`". */
export const filteredNames = filteredFields
  .map((name) => `\`${name}\``)
  .join(", ")
  .replace(/, (?=[^,]*$)/, " and ");

/** Removes the filtered fields from `body` (a copy of the caller's) and notes each one. Null is how SDKs say nothing: it is not noted. */
export function removeFilteredFields(body: JsonObject): Note[] {
  const notes: Note[] = [];
  for (const param of filteredFields) {
    if (!Object.hasOwn(body, param)) continue;
    const isNothing = body[param] === null;
    delete body[param];
    if (isNothing) continue;
    notes.push({ param, kind: "dropped", detail: "never forwarded, dropped" });
  }
  return notes;
}
