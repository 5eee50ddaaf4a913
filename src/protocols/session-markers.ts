/**
 * Sets cache markers for models that cache only marked prompts: in place of the `prompt_cache_key` of a session, and where the operator
 * says so (`prompt_caching: auto`) in other conversations. docs/decisions.md "Prompt caches". At most four markers are set (CONV-605): on
 * the last tool, and at the ends of the system prompt and of the last two user turns. The vendor searches only 20 blocks before a marker.
 * The last user turn but one is where the call before ended, so its cache entry is found however many blocks follow. Requirements: CONV-418.
 */
import type { Note } from "../base/notes.ts";
import { isObject } from "../base/json.ts";
import { allowedTools } from "./allowed-tools.ts";
import { countMarkers } from "./cache-marker.ts";
import type { CanonicalRequest, Message, Part, Tool } from "./canonical/request.ts";
import type { Fitted } from "./fit-fields.ts";
import type { Limits } from "./limits.ts";
import { messagesField } from "./tidy.ts";

/** Returns the limits with which `fit` keeps the key in the request, for `markSession` to read. */
export function keepingSession({ unsupportedFields, ...limits }: Limits): Limits {
  const { promptCacheKey: _key, ...others } = unsupportedFields;
  return { ...limits, unsupportedFields: others };
}

/**
 * Returns the fitted request with its markers, without its key.
 * @param asked the request as the caller sent it
 * @param limits those of the upstream
 * @param marksConversations true if conversations without a key are marked too
 */
export function markSession(
  fitted: CanonicalRequest,
  asked: CanonicalRequest,
  limits: Limits,
  marksConversations: boolean,
): Fitted {
  const { promptCacheKey: key, ...request } = fitted;
  const isNamed = key !== undefined && key !== "";
  if (isNamed) return markNamed(request, asked, limits);
  const notes = key === undefined ? [] : keyNotes(asked, "dropped", "it is empty, dropped");
  if (!marksConversations || !isUnmarkedConversation(asked)) return { request, notes };
  const marked = withMarkers(request, asked, limits);
  if (countMarkers(marked) === 0) return { request, notes };
  const param = messagesField[asked.protocol];
  const detail = "cache markers were set, as the gateway's `prompt_caching: auto` says";
  return { request: marked, notes: [...notes, { param, kind: "rewritten", detail }] };
}

function markNamed(request: CanonicalRequest, asked: CanonicalRequest, limits: Limits): Fitted {
  const dropped = (why: string): Fitted => {
    const detail = `the upstream has no cache key, and ${why}`;
    return { request, notes: keyNotes(asked, "dropped", detail) };
  };
  if (countMarkers(asked) > 0) return dropped("the caller set markers, dropped");
  if (asked.native.some(isExplicit))
    return dropped("prompt_cache_options.mode allows no other markers, dropped");
  const marked = withMarkers(request, asked, limits);
  if (countMarkers(marked) === 0)
    return dropped("this call has nothing to mark for its cache yet, dropped");
  const detail = "the upstream has no cache key: cache markers were set instead";
  return { request: marked, notes: keyNotes(asked, "rewritten", detail) };
}

const keyNotes = ({ names }: CanonicalRequest, kind: Note["kind"], detail: string): Note[] => [
  { param: names.promptCacheKey ?? "prompt_cache_key", kind, detail },
];

const isUnmarkedConversation = (asked: CanonicalRequest): boolean =>
  goesOn(asked) && countMarkers(asked) === 0 && !asked.native.some(isExplicit);

const steps = ["user", "assistant", "user"] as const;

/** True if the user replied to an answer. A greeting before the user's first turn is none, nor is the begun answer of a first call (prefill). */
function goesOn({ messages }: CanonicalRequest): boolean {
  let taken = 0;
  for (const { role } of messages) if (role === steps[taken]) taken += 1;
  return taken === steps.length;
}

/** True if the caller wants only its own breakpoints of OpenAI's protocols, which are not converted. */
const isExplicit = ({ param, value }: CanonicalRequest["native"][number]): boolean =>
  param === "prompt_cache_options" && isObject(value) && value["mode"] === "explicit";

/** A conversation without an answer may not continue, and a cache write costs more than input. So its turns are not marked. */
function withMarkers(
  request: CanonicalRequest,
  asked: CanonicalRequest,
  limits: Limits,
): CanonicalRequest {
  const { messages, tools, toolChoice } = request;
  const lastTool = allowedTools(tools ?? [], toolChoice).at(-1);
  const takesMarker = markable(limits);
  const lastOf = (role: Message["role"], count: number): Message[] =>
    messages
      .filter((message) => message.role === role && message.content.some(takesMarker))
      .slice(-count);
  const marked = new Set([...lastOf("system", 1), ...(goesOn(asked) ? lastOf("user", 2) : [])]);
  return {
    ...request,
    messages: messages.map((message) =>
      marked.has(message) ? withMarkedEnd(message, takesMarker) : message,
    ),
    ...(tools && {
      tools: tools.map((tool): Tool => (tool === lastTool ? { ...tool, cache: {} } : tool)),
    }),
  };
}

/** Claude refuses markers on reasoning and on blank texts. */
const markable =
  ({ documentsUnmarked }: Limits) =>
  (part: Part): boolean => {
    if (part.type === "text") return part.text.trim() !== "";
    if (part.type === "media") return !(documentsUnmarked && part.media === "file");
    return part.type === "tool_result";
  };

function withMarkedEnd(message: Message, takesMarker: (part: Part) => boolean): Message {
  const end = message.content.findLastIndex(takesMarker);
  const content = message.content.map((part, at): Part =>
    at === end ? ({ ...part, cache: {} } as Part) : part,
  );
  return { ...message, content };
}
