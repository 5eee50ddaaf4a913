/**
 * The single table of losses: the handling of fields that only the caller's protocol knows, when a request is converted.
 * - refused: the loss would remove content and change the question; the caller gets 400 with the field's name.
 * - dropped: a nuance, left out and reported.
 * Unknown fields are dropped (docs/protocols.md), unknown content is refused. CONV-101 to CONV-113, RESP-25 to RESP-31; trap T33.
 */
import { inCamelCase } from "../base/casing.ts";
import { isObject, type WireObject } from "../base/json.ts";
import type { NativeField, ProtocolName } from "./canonical/request.ts";

export interface Loss {
  readonly class: "refused" | "dropped";
  /** The content of the field; for a dropped field, the reason why that is acceptable. */
  readonly what: string;
  /** Advice to the caller after a refusal, if leaving the field out is no solution. */
  readonly remedy?: string;
}

const refused = (what: string, remedy?: string): Loss => ({
  class: "refused",
  what,
  ...(remedy === undefined ? {} : { remedy }),
});
const dropped = (what: string): Loss => ({ class: "dropped", what });

const sampling = dropped("sampling, or counts of tokens");
const safety = dropped("identity of the end user, or moderation settings");
const caching = dropped("settings of prompt caches");
const answerForm = dropped("form of the answer");
const upkeep = dropped("settings of how the vendor runs, bills or traces the call");
// RESP-31.
const ownState = dropped("the vendor's own state, not preserved across protocols");
// CONV-112.
const search = dropped("the vendor's own web search");
// T33: an agent offers all its tools and works with those that remain.
const vendorTool = dropped(
  "a tool that the vendor provides or runs itself; the model does not get it",
);
const ownTool = dropped(
  "a kind of tool that other protocols do not have; the model does not get it",
);
const emptyNamespace = dropped("a namespace without tools that other protocols have");
const toolDetail = dropped("how a tool is offered, not the tool itself");
const record = dropped("record of a step; its result is elsewhere in the conversation");

const content = refused("content of a kind that other protocols do not have");
const earlierStep = refused(
  "an earlier step of the conversation, of a kind that other protocols do not have",
);
const files = refused("files that are kept at the vendor");
const servers = refused("servers that only this vendor's own service calls");
const forcedTool = refused("the choice of a tool that other protocols do not have");
const forcedNone = (list: string): Loss =>
  refused(
    `a required tool call while ${list} is empty`,
    'Name tools in it, set its mode to "auto"',
  );

/**
 * Losses by path without indexes; after a colon, the kind of the value: its `type` without a date. A path with a kind takes precedence over
 * the path alone.
 */
const chat: Readonly<Record<string, Loss>> = {
  "messages[].content[]": content,
  "messages[].tool_calls[]": earlierStep,
  "messages[].audio": refused("an earlier answer, kept at the vendor as sound"),
  "messages[].images[]": refused("what an earlier answer has beside its text, of an unknown kind"),
  "messages[].annotations": dropped("sources of an earlier answer"),
  "tools[]": ownTool,
  "tool_choice:allowed_tools of none": forcedNone("tool_choice.allowed_tools.tools"),
  tool_choice: forcedTool,
  n: sampling,
  logprobs: sampling,
  top_logprobs: sampling,
  logit_bias: sampling,
  max_tokens: dropped("no effect together with its successor"),
  prediction: upkeep,
  moderation: safety,
  safety_identifier: safety,
  prompt_cache_options: caching,
  prompt_cache_retention: caching,
  web_search_options: search,
  modalities: answerForm,
  audio: answerForm,
  response_format: answerForm,
  service_tier: upkeep,
  "stream_options.include_obfuscation": upkeep,
};

const responses: Readonly<Record<string, Loss>> = {
  "input[]": earlierStep,
  "input[]:web_search_call": record,
  "input[]:mcp_list_tools": record,
  "input[]:tool_search_call": record,
  "input[]:item_reference": refused(
    "a part of the conversation that is kept at the vendor",
    "Send the item itself, as SDKs do with store: false",
  ),
  "input[]:agent_message": refused("a message between agents, encrypted for its own vendor"),
  "input[]:compaction": refused("the conversation so far, encrypted for its own vendor"),
  "input[]:compaction_trigger": refused(
    "the wish that the vendor encrypts the conversation so far",
    "In Codex, use a provider of your own instead of the built-in one, so that it sums up itself",
  ),
  "input[].content[]": content,
  "input[].output[]": content,
  "input[].tools[]": vendorTool,
  "input[].tools[]:file_search": files,
  "input[].tools[]:code_interpreter with files": files,
  "input[].tools[]:mcp": servers,
  "input[].tools[].tools[]": ownTool,
  "tools[]": vendorTool,
  "tools[]:namespace": emptyNamespace,
  "tools[].tools[]": ownTool,
  "tools[]:web_search": search,
  "tools[]:web_search_preview": search,
  "tools[]:computer": vendorTool,
  "tools[]:computer_use_preview": vendorTool,
  "tools[]:code_interpreter": vendorTool,
  "tools[]:programmatic_tool_calling": vendorTool,
  "tools[]:image_generation": vendorTool,
  "tools[]:local_shell": vendorTool,
  "tools[]:shell": vendorTool,
  "tools[]:apply_patch": vendorTool,
  "tools[]:tool_search": vendorTool,
  "tools[]:file_search": files,
  "tools[]:code_interpreter with files": files,
  "tools[]:mcp": servers,
  "tool_choice:allowed_tools of none": forcedNone("tool_choice.tools"),
  tool_choice: forcedTool,
  background: ownState,
  background_options: upkeep,
  context_management: ownState,
  conversation: ownState,
  prompt: ownState,
  previous_response_id: dropped("the gateway keeps no state"),
  include: answerForm,
  image: answerForm,
  truncation: upkeep,
  access_programs: upkeep,
  max_tool_calls: upkeep,
  top_logprobs: sampling,
  presence_penalty: sampling,
  frequency_penalty: sampling,
  moderation: safety,
  safety_identifier: safety,
  prompt_cache_options: caching,
  prompt_cache_retention: caching,
  service_tier: upkeep,
  "stream_options.include_obfuscation": upkeep,
};

const messages: Readonly<Record<string, Loss>> = {
  "system[]": content,
  "messages[].content[]": content,
  "messages[].content[]:fallback": record,
  "messages[].content[]:mcp_tool_listing": record,
  "messages[].content[].content[]": content,
  "messages[].content[].source.content[]": content,
  "messages[].content[].content[].content[]": content,
  "messages[].content[].content[].source.content[]": content,
  "tools[]": vendorTool,
  "tools[]:bash": vendorTool,
  "tools[]:text_editor": vendorTool,
  "tools[]:computer": vendorTool,
  "tools[]:computer_toolset": vendorTool,
  "tools[]:browser_toolset": vendorTool,
  "tools[]:memory": vendorTool,
  "tools[]:code_execution": vendorTool,
  "tools[]:advisor": vendorTool,
  "tools[]:tool_search_tool_bm25": vendorTool,
  "tools[]:tool_search_tool_regex": vendorTool,
  "tools[]:web_search": search,
  "tools[]:web_fetch": search,
  "tools[]:mcp_toolset": servers,
  "tools[].allowed_callers": toolDetail,
  "tools[].defer_loading": toolDetail,
  "tools[].eager_input_streaming": toolDetail,
  "tools[].input_examples": toolDetail,
  tool_choice: forcedTool,
  thread: refused("a conversation that is kept at the vendor"),
  container: refused("a container with files and skills of its own"),
  mcp_servers: servers,
  compaction: refused("the wish that the conversation is summed up instead of answered"),
  context_management: ownState,
  thinking: dropped("when the model reasons"),
  output_format: answerForm,
  cache_control: caching,
  diagnostics: upkeep,
  fallbacks: upkeep,
  fallback_credit_token: upkeep,
  billing_policy: upkeep,
  speed: upkeep,
  service_tier: upkeep,
  inference_geo: upkeep,
  user_profile_id: upkeep,
  workspace_id: upkeep,
  betas: upkeep,
};

const secondData = refused("a second kind of data in one part", "Give it a part of its own");

const generateContent: Readonly<Record<string, Loss>> = {
  "contents[].parts[]": content,
  "contents[].parts[].inlineData": secondData,
  "contents[].parts[].fileData": secondData,
  "contents[].parts[].functionResponse": secondData,
  "contents[].parts[].functionResponse.parts[]": content,
  "systemInstruction.parts[]": content,
  "tools[].fileSearch": files,
  "tools[].retrieval": files,
  "tools[].mcpServers": servers,
  "tools[].googleSearch": search,
  "tools[].googleSearchRetrieval": search,
  "tools[].enterpriseWebSearch": search,
  "tools[].exaAiSearch": search,
  "tools[].parallelAiSearch": search,
  "tools[].urlContext": search,
  "tools[].googleMaps": vendorTool,
  "tools[].codeExecution": vendorTool,
  "tools[].computerUse": vendorTool,
  cachedContent: refused("instructions and content that are kept at the vendor"),
  continuationToken: refused("a conversation that is kept at the vendor"),
  automaticContinuation: upkeep,
  safetySettings: safety,
  modelArmorConfig: safety,
  labels: upkeep,
  serviceTier: upkeep,
};

const tables: Readonly<Record<ProtocolName, ReadonlyMap<string, Loss>>> = {
  chat: new Map(Object.entries(chat)),
  responses: new Map(Object.entries(responses)),
  messages: new Map(Object.entries(messages)),
  generate_content: new Map(Object.entries(generateContent)),
};

/** Returns every path of a protocol with its own loss, for the documentation and its test. */
export const lossesOf = (protocol: ProtocolName): ReadonlyMap<string, Loss> => tables[protocol];

const unknown = dropped("unknown to every other protocol");
/** The loss of an empty object. */
const nothing = dropped("it says nothing");

/** Returns the loss of a native field of this protocol in any other protocol. */
export function lossOf(protocol: ProtocolName, { param, value }: NativeField): Loss {
  const table = tables[protocol];
  const place = placeOf(protocol, param);
  if (place.endsWith("]") && isObject(value) && Object.keys(value).length === 0) return nothing;
  const kind = kindOf(value);
  return (
    (kind === undefined ? undefined : table.get(`${place}:${kind}`)) ?? table.get(place) ?? unknown
  );
}

/** A field's path without indexes; Google's callers may use either spelling. */
function placeOf(protocol: ProtocolName, param: string): string {
  const place = param.replace(/\[\d+\]/g, "[]");
  return protocol === "generate_content" ? inCamelCase(place) : place;
}

/** Returns the `type` of an item, part or tool, without the date that vendors append. */
export function kindOf(value: unknown): string | undefined {
  if (!isObject(value) || typeof value["type"] !== "string") return undefined;
  const kind = value["type"].replace(/_(?:\d{8}|\d{4}_\d{2}_\d{2})$/, "");
  if (kind === "code_interpreter" && holdsFiles(value["container"])) return `${kind} with files`;
  return kind === "allowed_tools" && allowsNone(value) ? `${kind} of none` : kind;
}

/** Chat completions nests the list one level deeper. */
function allowsNone(choice: WireObject): boolean {
  const { tools } = isObject(choice["allowed_tools"]) ? choice["allowed_tools"] : choice;
  return Array.isArray(tools) && tools.length === 0;
}

/** True for a container given by id, or a new one with files. */
const holdsFiles = (container: unknown): boolean =>
  typeof container === "string" ||
  (isObject(container) && Array.isArray(container["file_ids"]) && container["file_ids"].length > 0);
