/** Repairs messages to what every vendor requires of a conversation, in any protocol. CONV-601 to CONV-604; traps T20, T21, T25. */
import type { Note } from "../base/notes.ts";
import type {
  CanonicalRequest,
  Message,
  Part,
  ProtocolName,
  ToolCallPart,
  ToolResultPart,
} from "./canonical/request.ts";
import { withBlankReasoning } from "./blank-reasoning.ts";
import { contentFieldNames } from "./caller-names.ts";
import type { Fitted } from "./fit-fields.ts";
import type { Limits } from "./limits.ts";
import { withUniqueCallIds } from "./call-id-allocator.ts";
import { joinPieces } from "./join-pieces.ts";
import { splitByRole } from "./split-by-role.ts";
import { systemOnTop } from "./late-system.ts";

/** The name of the caller's messages, for notes. */
export const messagesField: Readonly<Record<ProtocolName, string>> = {
  chat: "messages",
  responses: "input",
  messages: "messages",
  generate_content: "contents",
};

/** The text of otherwise empty content, which vendors refuse. */
export const placeholderText = "(no content)";
const placeholder: Part = { type: "text", text: placeholderText };

/**
 * Pairs calls with results, merges neighbours of one role and fills empty messages. Results move directly after their calls, which end
 * their turn where the vendor requires it. Results without a call, calls without a result, and white space that the upstream refuses are
 * removed and noted. System turns that change are noted. Merging and filling lose nothing, so they are not noted.
 */
export function tidy(request: CanonicalRequest, limits: Limits): Fitted {
  const messages = splitByRole(request.messages);
  const { results, notes } = pairResults({ ...request, messages });
  const pairs = withUniqueCallIds(results, limits);
  const ordered = limits.systemOnTop ? systemOnTop(messages, request.protocol) : { messages };
  if (ordered.detail !== undefined) {
    const param = messagesField[request.protocol];
    notes.push({ param, kind: "rewritten", detail: ordered.detail });
  }
  const placed = ordered.messages.flatMap((message) => placeResults(message, pairs, limits));
  const merged = joinPieces(mergeNeighbours(placed, limits), request.protocol);
  const filled = merged.flatMap(fillEmpty);
  const prefillTrim =
    limits.trimsPrefill === true ? trimPrefill(filled, request.protocol) : undefined;
  if (prefillTrim) notes.push(prefillTrim.note);
  const said = withBlankReasoning(
    prefillTrim?.messages ?? filled,
    limits,
    (request.tools ?? []).length > 0,
  );
  return { request: { ...request, messages: withUserTurn(said, limits) }, notes };
}

/** By the caller's call: the call and its result as sent. Calls without a result are left out. */
type Pairs = ReturnType<typeof withUniqueCallIds>;

/**
 * A result belongs to the nearest earlier call with its id: callers that count anew in every turn repeat ids (T21). If calls of one turn
 * share an id, the first result belongs to the first call.
 */
function pairResults({ messages, protocol }: CanonicalRequest) {
  const results = new Map<ToolCallPart, ToolResultPart>();
  const open = new Map<string, { turn: number; calls: ToolCallPart[]; next: number }>();
  const names = contentFieldNames[protocol];
  const orphans: string[] = [];
  const calls: ToolCallPart[] = [];
  for (const [turn, { content }] of messages.entries()) {
    for (const part of content) {
      if (part.type === "tool_call") {
        calls.push(part);
        const known = open.get(part.id);
        if (known?.turn === turn) known.calls.push(part);
        else open.set(part.id, { turn, calls: [part], next: 0 });
      } else if (part.type === "tool_result") {
        const known = open.get(part.callId);
        const call = known?.calls[known.next];
        if (known && call) {
          known.next += 1;
          results.set(call, part);
        } else orphans.push(part.callId);
      }
    }
  }
  const unanswered = calls.filter((call) => !results.has(call)).map(({ name }) => name);
  const notes = [
    ...removed(names.result, orphans, "tool results without a matching call removed"),
    ...removed(names.call, unanswered, "tool calls without a result removed"),
  ];
  return { results, notes };
}

const namedMax = 3;

/** One short note for any number: a conversation may be long, and so may its ids. */
function removed(param: string, which: readonly string[], what: string): Note[] {
  if (which.length === 0) return [];
  const named = which.slice(0, namedMax).map((name) => name.slice(0, 64));
  const more = which.length > namedMax ? `, and ${which.length - namedMax} more` : "";
  return [{ param, kind: "dropped", detail: `${what}: ${named.join(", ")}${more}` }];
}

/** Returns a turn with its answered calls, followed by their results in the order of the calls (T20). */
function placeResults(message: Message, pairs: Pairs, { callsLast }: Limits): Message[] {
  const results: ToolResultPart[] = [];
  const said: Part[] = [];
  const calls: Part[] = callsLast ? [] : said;
  for (const part of message.content) {
    const pair = part.type === "tool_call" ? pairs.get(part) : undefined;
    if (pair) {
      calls.push(pair.call);
      results.push(pair.result);
    } else if (part.type !== "tool_call" && part.type !== "tool_result") said.push(part);
  }
  const content = callsLast ? [...said, ...calls] : said;
  // A turn of only results is dropped: its results moved to the turn after their calls.
  const stays = content.length > 0 || message.content.length === 0;
  const turn = stays ? [{ ...message, content }] : [];
  return results.length > 0 ? [...turn, { role: "user", content: results }] : turn;
}

/** Merges neighbouring turns of one role (CONV-601). */
function mergeNeighbours(messages: readonly Message[], { supportedMembers }: Limits): Message[] {
  const alike = (left: Message, right: Message): boolean =>
    left.role === right.role &&
    left.name === right.name &&
    (left.developer === right.developer || !supportedMembers.includes("developer"));
  const groups: Message[][] = [];
  for (const message of messages) {
    const group = groups.at(-1);
    if (group && alike(group[0]!, message)) group.push(message);
    else groups.push([message]);
  }
  return groups.map((group) => ({
    ...group[0]!,
    content: group.length === 1 ? group[0]!.content : group.flatMap(({ content }) => content),
  }));
}

/** Removes blank texts, also in tool results. An empty message gets the placeholder (CONV-604, T25); an empty system turn is removed. */
function fillEmpty(message: Message): Message[] {
  const content = message.content.some(holdsBlank)
    ? message.content.filter((part) => !isBlank(part)).map(withoutBlank)
    : message.content;
  const says = content.some((part) => part.type !== "reasoning");
  if (says) return [content === message.content ? message : { ...message, content }];
  return message.role === "system" ? [] : [{ ...message, content: [...content, placeholder] }];
}

/** Refusals count too: they become text in protocols without refusals. */
export const isBlank = (part: Part): boolean =>
  (part.type === "text" || part.type === "refusal") && !/\S/u.test(part.text);

const holdsBlank = (part: Part): boolean =>
  isBlank(part) ||
  (part.type === "tool_result" && (isBareError(part) || part.content.some(isBlank)));

const isBareError = ({ isError, content }: ToolResultPart): boolean =>
  isError === true && content.length === 0;

/** Claude refuses a result that is an error and says nothing. */
function withoutBlank(part: Part): Part {
  if (part.type !== "tool_result") return part;
  const result = { ...part, content: part.content.filter((one) => !isBlank(one)) };
  return isBareError(result) ? { ...result, content: [placeholder] } : result;
}

/** Trims white space at the end of an answer that the model should continue; undefined if there is none. */
function trimPrefill(messages: readonly Message[], protocol: ProtocolName) {
  const last = messages.at(-1);
  const end = last?.content.at(-1);
  if (last?.role !== "assistant" || end?.type !== "text") return undefined;
  const text = end.text.trimEnd();
  if (text === end.text) return undefined;
  const detail =
    "white space at the end of the answer that has begun left out: the upstream refuses it";
  const note: Note = { param: messagesField[protocol], kind: "rewritten", detail };
  const trimmed = { ...last, content: [...last.content.slice(0, -1), { ...end, text }] };
  return { messages: [...messages.slice(0, -1), trimmed], note };
}

/** Adds a user turn if the conversation has no turn, or the vendor requires the user to begin. */
function withUserTurn(messages: readonly Message[], { systemOnTop }: Limits): Message[] {
  const at = messages.findIndex(({ role }) => role !== "system");
  const user: Message = { role: "user", content: [placeholder] };
  if (at === -1) return [...messages, user];
  const begins = !systemOnTop || messages[at]!.role === "user";
  return begins ? [...messages] : [...messages.slice(0, at), user, ...messages.slice(at)];
}
