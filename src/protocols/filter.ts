/** Fields that are removed from a request on every route, including direct ones (TXT-17 to TXT-19). */
import { exactTwinOf } from "../base/exact-numbers.ts";
import { isObject } from "../base/json.ts";
import type { Note } from "../base/notes.ts";
import type { JsonObject, NativeField } from "./canonical/request.ts";
import { isOtherModel, otherModelDetail, removeOtherModels } from "./other-models.ts";
import { removeFromOptions } from "./provider-options.ts";

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

const detail = "never forwarded, dropped";

/** The same within the options of a provider, which are in camel case. The last is Vertex AI's tier. */
const filteredOptions: ReadonlySet<string> = new Set([
  ...filteredFields,
  "inferenceGeo",
  "sharedRequestType",
]);

/**
 * Headers that LiteLLM sends to the vendor. They can replace the operator's key and project there, and choose a tier that costs more, such as
 * Vertex AI's `X-Vertex-AI-LLM-Shared-Request-Type`.
 */
const headerFields = ["extra_headers", "headers", "provider_specific_header"] as const;
const headerDetail = "headers for the vendor are the operator's alone, dropped";

const allFields: ReadonlyMap<string, string> = new Map([
  ...filteredFields.map((name): [string, string] => [name, detail]),
  ...headerFields.map((name): [string, string] => [name, headerDetail]),
]);

/** Members that LiteLLM adds to its request to the vendor, and to its own settings for it: there they count before those of the request. */
const addedFields = ["extra_body", "router_settings_override"] as const;

/** Members from which the bound of a call's cost is computed. There they would replace those that it was computed from. */
const boundFields = [
  "messages",
  "input",
  "system",
  "instructions",
  "tools",
  "functions",
  "web_search_options",
  "max_tool_calls",
  "n",
  "max_tokens",
  "max_completion_tokens",
  "max_output_tokens",
] as const;
const boundDetail = "the cost of the call is bounded by the request's own, dropped";

/** Members that are not added, with the reason. */
const neverAdded: readonly (readonly [param: string, why: string])[] = [
  ["model", otherModelDetail],
  ...addedFields.map((param) => [param, detail] as const),
  ...boundFields.map((param) => [param, boundDetail] as const),
];

/** Why a field of the caller's protocol is removed on every route; undefined if it is not. */
export function whyNeverForwarded({ param, value }: NativeField): string | undefined {
  return allFields.get(param) ?? (isOtherModel(param, value) ? otherModelDetail : undefined);
}

/**
 * Removes from `body`, a copy of the caller's, the filtered fields and what would run other models, and notes each. Null is not noted: SDKs
 * send it for unset fields.
 */
export function removeFilteredFields(body: JsonObject): Note[] {
  const notes = [
    ...removeOtherModels(body),
    ...removeFromOptions(body, filteredOptions, detail),
    ...addedFields.flatMap((field) => removeFromAdded(body, field)),
  ];
  for (const [param, why] of allFields) {
    if (!Object.hasOwn(body, param)) continue;
    const isNothing = body[param] === null;
    delete body[param];
    if (isNothing) continue;
    notes.push({ param, kind: "dropped", detail: why });
  }
  return notes;
}

/** The same in members that are added. {@link neverAdded} is removed too, with further such members: any number may be within each other. */
function removeFromAdded(body: JsonObject, field: (typeof addedFields)[number]): Note[] {
  const added = exactTwinOf(body[field]);
  if (!isObject(added)) return [];
  const kept = { ...added };
  const notes = neverAdded.flatMap(([param, why]): Note[] => {
    const { [param]: value = null } = kept;
    delete kept[param];
    return value === null ? [] : [{ param, kind: "dropped", detail: why }];
  });
  notes.push(...removeFilteredFields(kept));
  body[field] = kept;
  return notes.map((note) => ({ ...note, param: `${field}.${note.param}` }));
}
