/**
 * Fits the history of a conversation on the direct route. A caller that changes its model sends the answers of other vendors. Conversions
 * have the same rules. RESP-27; traps T21, T39.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import { hashedId } from "../call-id-allocator.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import type { UpstreamAddress } from "../codec.ts";
import { nonEmpty } from "../read.ts";
import { asUserMessage } from "./agent-message.ts";
import { isOurReasoning } from "./encode-response.ts";
import { idStarts } from "./complete-item.ts";
import { conversionLimits } from "./limits.ts";

/**
 * Fits the input of `body`, a copy of the caller's body. Changed items are copied, the others shared. `checksHistory`: the upstream is OpenAI's,
 * which refuses ids and reasoning of other vendors, and any reasoning at models that do not reason. It alone knows messages between agents.
 */
export function fitHistory(body: JsonObject, upstream: UpstreamAddress): Note[] {
  const checksHistory = upstream.checksHistory === true;
  const unwanted = checksHistory && upstream.neverReasons ? removeReasoning(body) : [];
  return [
    ...unwanted,
    ...removeForeignReasoning(body, checksHistory),
    ...(checksHistory
      ? [
          ...fitCallIds(body),
          ...removeForeignIds(body),
          ...removeOpenReasoning(body),
          ...renameSearches(body),
        ]
      : sayAgents(body)),
  ];
}

const encryptedReasoning = "reasoning.encrypted_content";

/** Removes earlier reasoning, and the wish for it, for a model that does not reason. */
function removeReasoning(body: JsonObject): Note[] {
  const detail = "the model does not reason, and its vendor refuses this, dropped";
  const notes: Note[] = [];
  const { include } = body;
  if (Array.isArray(include) && include.includes(encryptedReasoning)) {
    body["include"] = include.filter((what) => what !== encryptedReasoning);
    notes.push({ param: "include", kind: "dropped", detail });
  }
  const input = exactTwinOf(body["input"]);
  const isReasoning = (item: Json): boolean => isObject(item) && item["type"] === "reasoning";
  if (Array.isArray(input) && input.some(isReasoning)) {
    body["input"] = input.filter((item) => !isReasoning(item));
    notes.push({ param: "input.reasoning", kind: "dropped", detail });
  }
  return notes;
}

/**
 * Removes reasoning items that the gateway made: no upstream knows their ids, and without encryption they have no use. OpenAI also refuses
 * those of other vendors: it does not know their ids, and Codex 0.169 sends items without ids.
 */
function removeForeignReasoning(body: JsonObject, checksHistory: boolean): Note[] {
  const input = exactTwinOf(body["input"]);
  const keepsNothing = isStateless(body);
  const isForeign = (item: Json): boolean =>
    isOurReasoning(item) || (checksHistory && isUnproven(item, keepsNothing));
  if (!Array.isArray(input) || !input.some(isForeign)) return [];
  body["input"] = input.filter((item) => !isForeign(item));
  const detail = "the upstream takes its own earlier reasoning only, dropped";
  return [{ param: "input.reasoning", kind: "dropped", detail }];
}

/** True if the caller keeps all reasoning itself, encrypted, and the vendor none. */
const isStateless = ({ store, include }: JsonObject): boolean =>
  store === false && Array.isArray(include) && include.includes(encryptedReasoning);

/** True for reasoning that is neither encrypted nor kept at the vendor under its id. */
const isUnproven = (item: Json, keepsNothing: boolean): boolean =>
  isObject(item) &&
  item["type"] === "reasoning" &&
  nonEmpty(item["encrypted_content"]) === undefined &&
  (keepsNothing || nonEmpty(item["id"]) === undefined || hasForeignId(item));

type Call = JsonObject & { call_id: string };

const hasLongCallId = (item: Json): item is Call =>
  isObject(item) &&
  typeof item["call_id"] === "string" &&
  item["call_id"].length > conversionLimits.callIdMax;

/** Replaces ids that are too long, in calls and their results. The same id always gets the same replacement. */
function fitCallIds(body: JsonObject): Note[] {
  const input = exactTwinOf(body["input"]);
  if (!Array.isArray(input) || !input.some(hasLongCallId)) return [];
  body["input"] = input.map((item) =>
    hasLongCallId(item) ? { ...item, call_id: hashedId(item.call_id) } : item,
  );
  const detail =
    "ids of calls that the upstream refuses went under others, and so did their results";
  return [{ param: "input.call_id", kind: "rewritten", detail }];
}

const idForm = /^[\w-]{1,64}$/;

function hasForeignId(item: Json): item is JsonObject {
  if (!isObject(item) || typeof item["id"] !== "string") return false;
  const { id, type = "role" in item ? "message" : undefined } = item;
  const start = idStarts.get(type);
  return start !== undefined && !(idForm.test(id) && id.startsWith(start));
}

/** Removes the ids of other vendors' items. They only matter in the store of their vendor. */
const removeForeignIds = (body: JsonObject): Note[] =>
  removeMember(body, "id", {
    isWrong: hasForeignId,
    detail: "ids of items that another vendor made, dropped: the upstream refuses them",
  });

/** Removes the text of reasoning that another vendor gave beside its encryption. OpenAI takes no content of reasoning. */
const removeOpenReasoning = (body: JsonObject): Note[] =>
  removeMember(body, "content", {
    isWrong: hasOpenReasoning,
    detail: "the text of reasoning, dropped: the upstream takes it encrypted or as a summary",
  });

function hasOpenReasoning(item: Json): item is JsonObject {
  if (!isObject(item) || item["type"] !== "reasoning") return false;
  const { content } = item;
  return Array.isArray(content) && content.length > 0;
}

interface WrongMember {
  readonly isWrong: (item: Json) => item is JsonObject;
  readonly detail: string;
}

/** Removes a member of the items where it is wrong. */
function removeMember(body: JsonObject, name: string, { isWrong, detail }: WrongMember): Note[] {
  const input = exactTwinOf(body["input"]);
  if (!Array.isArray(input) || !input.some(isWrong)) return [];
  body["input"] = input.map((item) => {
    if (!isWrong(item)) return item;
    const { [name]: _wrong, ...rest } = item;
    return rest;
  });
  return [{ param: `input.${name}`, kind: "dropped", detail }];
}

/** True for a search whose kind Codex did not know when it read it: it sends `other` back, which OpenAI refuses. */
const isUnknownSearch = (item: Json): item is JsonObject =>
  isObject(item) &&
  item["type"] === "web_search_call" &&
  isObject(item["action"]) &&
  item["action"]["type"] === "other";

/** Gives searches of an unknown kind a known one. They stay, because reasoning may belong to them. */
function renameSearches(body: JsonObject): Note[] {
  const input = exactTwinOf(body["input"]);
  if (!Array.isArray(input) || !input.some(isUnknownSearch)) return [];
  body["input"] = input.map((item) =>
    isUnknownSearch(item) ? { ...item, action: { type: "search" } } : item,
  );
  const detail = "searches of a kind that the upstream refuses went as plain ones";
  return [{ param: "input.action", kind: "rewritten", detail }];
}

/** Turns messages between agents that can be read into a user's. */
function sayAgents(body: JsonObject): Note[] {
  const input = exactTwinOf(body["input"]);
  if (!Array.isArray(input) || !input.some((item) => asUserMessage(item))) return [];
  body["input"] = input.map((item) => asUserMessage(item) ?? item);
  const detail = "messages between agents, which only OpenAI knows, went as messages of the user";
  return [{ param: "input.agent_message", kind: "rewritten", detail }];
}
