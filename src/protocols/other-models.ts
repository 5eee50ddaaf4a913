/**
 * Parts of a request by which a vendor would run further models within the call. The key's allowlist does not hold for them, and their
 * tokens cost another price than the call's. They are removed on every route. docs/decisions.md "Dropped parameters".
 */
import { exactTwinOf } from "../base/exact-numbers.ts";
import { isObject } from "../base/json.ts";
import type { Note } from "../base/notes.ts";
import type { Json, JsonObject } from "./canonical/request.ts";
import { isSet } from "./read.ts";

/** Tools of Anthropic and OpenRouter that call a model of the caller's choice. */
const toolTypes = /^(?:advisor_\d+|openrouter:(?:advisor|fusion|image_generation|subagent))$/;

const callsModel = (tool: unknown): boolean =>
  isObject(tool) && typeof tool["type"] === "string" && toolTypes.test(tool["type"]);

/**
 * Fields that take models of the caller's choice: LiteLLM's for prompts that are too long or filtered, and for its whole routing, and Orq's
 * for its shares of calls.
 */
const fallbackFields: ReadonlySet<string> = new Set([
  "context_window_fallbacks",
  "context_window_fallback_dict",
  "content_policy_fallbacks",
  "user_config",
  "load_balancer",
]);

/** True for such a field of the caller's protocol, or such a tool or member as one: `tools[2]`, `generationConfig.routingConfig`. */
export const isOtherModel = (param: string, value: unknown): boolean =>
  fallbackFields.has(param) ||
  namingMembers.some((path) => path.join(".") === param) ||
  (/^tools\[\d+\]$/.test(param) && callsModel(value));

/** OpenRouter's plugin by which a panel of models answers. */
const isPanel = (plugin: Json): boolean => isObject(plugin) && plugin["id"] === "fusion";

export const otherModelDetail =
  "runs another model, which neither the key's allowlist nor the price covers, dropped";

/** Removes these parts from `body`, a copy of the caller's, and notes each. */
export function removeOtherModels(body: JsonObject): Note[] {
  const notes = [
    ...removeFrom(body, "tools", callsModel),
    ...removeFrom(body, "plugins", isPanel),
    ...removeMembers(body),
    ...removeFallbacks(body),
  ];
  const { tools } = body;
  if (notes.length === 0 || !Array.isArray(tools) || tools.length > 0) return notes;
  return [...notes, ...removeChoice(body)];
}

/** The choice among tools without any tool is an error at vendors. Without tools, `auto` and `none` have no effect. */
function removeChoice(body: JsonObject): Note[] {
  const { tool_choice: choice } = body;
  const kind = isObject(choice) ? choice["type"] : choice;
  delete body["tools"];
  delete body["tool_choice"];
  if (!isSet(kind) || kind === "auto" || kind === "none") return [];
  return [{ param: "tool_choice", kind: "dropped", detail: "sent only with tools, dropped" }];
}

function removeFrom(body: JsonObject, param: string, isOther: (entry: Json) => boolean): Note[] {
  const list = body[param];
  if (!Array.isArray(list) || !list.some(isOther)) return [];
  body[param] = exactTwinOf(list).filter((entry) => !isOther(entry));
  return list.flatMap((entry, index) =>
    isOther(entry)
      ? [{ param: `${param}[${index}]`, kind: "dropped" as const, detail: otherModelDetail }]
      : [],
  );
}

function removeFallbacks(body: JsonObject): Note[] {
  return [...fallbackFields].flatMap((param): Note[] => {
    const { [param]: value } = body;
    delete body[param];
    return isSet(value) ? [{ param, kind: "dropped", detail: otherModelDetail }] : [];
  });
}

/** Vertex AI's routing, which names the model, and its selection between quality and cost. Google's servers read either spelling. */
const vertexMembers = ["routingConfig", "routing_config", "modelConfig", "model_config"];

/**
 * Members of objects that name such models: those of which Groq's systems consist, ZenMux's fallback (false means none there), Orq's, and
 * those of Vertex AI.
 */
const namingMembers: readonly (readonly [param: string, member: string])[] = [
  ["compound_custom", "models"],
  ["provider", "fallback"],
  ["orq", "fallbacks"],
  ["orq", "load_balancer"],
  ...["generationConfig", "generation_config"].flatMap((param) =>
    vertexMembers.map((member) => [param, member] as const),
  ),
];

function removeMembers(body: JsonObject): Note[] {
  return namingMembers.flatMap(([param, member]): Note[] => {
    const holder = exactTwinOf(body[param]);
    if (!isObject(holder) || !Object.hasOwn(holder, member)) return [];
    const { [member]: named, ...rest } = holder;
    if (typeof named === "boolean") return [];
    body[param] = rest;
    // Null is not noted, as in filter.ts.
    if (named === null) return [];
    return [{ param: `${param}.${member}`, kind: "dropped", detail: otherModelDetail }];
  });
}
