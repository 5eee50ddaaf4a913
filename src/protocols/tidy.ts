/**
 * Message repair: what every vendor asks of a conversation, whatever protocol it came in.
 * CONV-601 to CONV-604; traps T20, T21, T25.
 */
import type { Note } from "../base/notes.ts";
import type {
  CanonicalRequest,
  Message,
  Part,
  ProtocolName,
  ToolCallPart,
  ToolResultPart,
} from "./canonical/request.ts";
import { withReasoning } from "./blank-reasoning.ts";
import { innerNames } from "./caller-names.ts";
import type { Fitted } from "./fit-fields.ts";
import type { Limits } from "./limits.ts";
import { withOwnIds } from "./own-ids.ts";
import { joinPieces } from "./pieces.ts";
import { bySpeaker } from "./speakers.ts";

/** Where the caller's messages stand, for notes. */
export const containerOf: Readonly<Record<ProtocolName, string>> = {
  chat: "messages",
  responses: "input",
  messages: "messages",
  generate_content: "contents",
};

/** What stands where a message would be empty: vendors refuse empty content. */
const placeholder: Part = { type: "text", text: "(no content)" };

/**
 * Pairs calls with their results, merges neighbours of one role, fills what is empty.
 * Results are put directly after their calls, wherever the caller had them; results without a call and calls without a
 * result are removed and noted, and so is white space that the upstream refuses. System turns that leave their place are noted.
 * Merging and filling lose nothing, and are not.
 */
export function tidy(request: CanonicalRequest, limits: Limits): Fitted {
  const messages = bySpeaker(request.messages);
  const { results, notes } = pairResults({ ...request, messages });
  const pairs = withOwnIds(results, limits);
  const ordered = limits.systemOnTop ? systemFirst(messages) : messages;
  if (ordered.some((message, index) => message !== messages[index])) {
    const detail =
      "system turns within the conversation went to its top, the one place the upstream has";
    notes.push({ param: containerOf[request.protocol], kind: "rewritten", detail });
  }
  const placed = ordered.flatMap((message) => placeResults(message, pairs));
  const merged = joinPieces(mergeNeighbours(placed, limits), request.protocol);
  const filled = merged.flatMap(fillEmpty);
  const begun = limits.trimsBegun === true ? trimBegun(filled, request.protocol) : undefined;
  if (begun) notes.push(begun.note);
  const said = withReasoning(begun?.messages ?? filled, limits);
  return { request: { ...request, messages: withUserTurn(said, limits) }, notes };
}

const systemFirst = (messages: readonly Message[]): Message[] => [
  ...messages.filter(({ role }) => role === "system"),
  ...messages.filter(({ role }) => role !== "system"),
];

/** By the caller's call: the call and its result as they go on. Calls without a result are not among them. */
type Pairs = ReturnType<typeof withOwnIds>;

/**
 * A result belongs to the nearest call before it with its id: ids may come again, where a caller counts them anew in
 * every turn (T21). Of calls with one id in one turn the first result is the first call's.
 */
function pairResults({ messages, protocol }: CanonicalRequest) {
  const results = new Map<ToolCallPart, ToolResultPart>();
  const open = new Map<string, { turn: number; calls: ToolCallPart[]; next: number }>();
  const names = innerNames[protocol];
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

/** One note, whatever the number: a conversation may be long, and its ids too. */
function removed(param: string, which: readonly string[], what: string): Note[] {
  if (which.length === 0) return [];
  const named = which.slice(0, namedMax).map((name) => name.slice(0, 64));
  const more = which.length > namedMax ? `, and ${which.length - namedMax} more` : "";
  return [{ param, kind: "dropped", detail: `${what}: ${named.join(", ")}${more}` }];
}

/** A turn with the calls that have a result, and right after it those results, in the order of the calls (T20). */
function placeResults(message: Message, pairs: Pairs): Message[] {
  const results: ToolResultPart[] = [];
  const content: Part[] = [];
  for (const part of message.content) {
    const pair = part.type === "tool_call" ? pairs.get(part) : undefined;
    if (pair) {
      content.push(pair.call);
      results.push(pair.result);
    } else if (part.type !== "tool_call" && part.type !== "tool_result") content.push(part);
  }
  // A turn of nothing else has become part of the turn after its calls.
  const stays = content.length > 0 || message.content.length === 0;
  const turn = stays ? [{ ...message, content }] : [];
  return results.length > 0 ? [...turn, { role: "user", content: results }] : turn;
}

/** Neighbouring turns of one role as one (CONV-601). */
function mergeNeighbours(messages: readonly Message[], { carries }: Limits): Message[] {
  const alike = (left: Message, right: Message): boolean =>
    left.role === right.role &&
    left.name === right.name &&
    (left.developer === right.developer || !carries.includes("developer"));
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

/**
 * Texts of nothing go, also within results of tools; a message of nothing gets the placeholder (CONV-604, T25), but a system
 * turn of nothing goes.
 */
function fillEmpty(message: Message): Message[] {
  const content = message.content.some(holdsBlank)
    ? message.content.filter((part) => !isBlank(part)).map(withoutBlank)
    : message.content;
  const says = content.some((part) => part.type !== "reasoning");
  if (says) return [content === message.content ? message : { ...message, content }];
  return message.role === "system" ? [] : [{ ...message, content: [...content, placeholder] }];
}

/** A refusal is a text where a protocol has no word for it. */
export const isBlank = (part: Part): boolean =>
  (part.type === "text" || part.type === "refusal") && !/\S/u.test(part.text);

const holdsBlank = (part: Part): boolean =>
  isBlank(part) || (part.type === "tool_result" && part.content.some(isBlank));

const withoutBlank = (part: Part): Part =>
  part.type === "tool_result"
    ? { ...part, content: part.content.filter((one) => !isBlank(one)) }
    : part;

/** An answer that the model is to go on with, without white space at its end; undefined where there is nothing to trim. */
function trimBegun(messages: readonly Message[], protocol: ProtocolName) {
  const last = messages.at(-1);
  const end = last?.content.at(-1);
  if (last?.role !== "assistant" || end?.type !== "text") return undefined;
  const text = end.text.trimEnd();
  if (text === end.text) return undefined;
  const detail =
    "white space at the end of the answer that has begun left out: the upstream refuses it";
  const note: Note = { param: containerOf[protocol], kind: "rewritten", detail };
  const trimmed = { ...last, content: [...last.content.slice(0, -1), { ...end, text }] };
  return { messages: [...messages.slice(0, -1), trimmed], note };
}

/** A conversation needs a turn, and at some vendors the user has the first one. */
function withUserTurn(messages: readonly Message[], { systemOnTop }: Limits): Message[] {
  const at = messages.findIndex(({ role }) => role !== "system");
  const user: Message = { role: "user", content: [placeholder] };
  if (at === -1) return [...messages, user];
  const begins = !systemOnTop || messages[at]!.role === "user";
  return begins ? [...messages] : [...messages.slice(0, at), user, ...messages.slice(at)];
}
