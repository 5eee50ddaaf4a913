/**
 * Message repair: what every vendor asks of a conversation, whatever protocol it came in.
 * Spec: "Message structure" (CONV-601 to CONV-604); traps T20, T25.
 */
import type { Note } from "../base/notes.ts";
import type {
  CanonicalRequest,
  Message,
  Part,
  ProtocolName,
  ToolResultPart,
} from "./canonical/request.ts";

/** Where the caller's messages stand, for notes. */
export const containerOf: Readonly<Record<ProtocolName, string>> = {
  chat: "messages",
  responses: "input",
  messages: "messages",
  generate_content: "contents",
};

/** What stands where a message would be empty: vendors refuse empty content. */
const placeholder: Part = { type: "text", text: "(no content)" };

interface Tidied {
  readonly request: CanonicalRequest;
  readonly notes: readonly Note[];
}

/**
 * Pairs calls with their results, merges neighbours of one role, fills what is empty.
 * Results are put directly after their calls, wherever the caller had them; results without a call and calls without a
 * result are removed and noted. Merging and filling lose nothing, and are not.
 */
export function tidy(request: CanonicalRequest): Tidied {
  const notes: Note[] = [];
  const param = containerOf[request.protocol];
  const paired = pairResults(request.messages, (detail) =>
    notes.push({ param, kind: "dropped", detail }),
  );
  const messages = mergeNeighbours(paired).map(fillEmpty);
  return { request: { ...request, messages: messages.length > 0 ? messages : [emptyTurn] }, notes };
}

const emptyTurn: Message = { role: "user", content: [placeholder] };

/** One result for each call of a turn, in the order of the calls, right after the turn. */
function pairResults(messages: readonly Message[], drop: (detail: string) => void): Message[] {
  const results = indexResults(messages);
  const answered = new Set<ToolResultPart>();
  const paired: Message[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role !== "assistant") {
      const others = message.content.filter((part) => part.type !== "tool_result");
      // A turn of results only has become part of the turn after its calls.
      if (others.length > 0 || message.content.length === 0)
        paired.push({ ...message, content: others });
      continue;
    }
    const own: ToolResultPart[] = [];
    const content = message.content.filter((part) => {
      if (part.type !== "tool_call") return true;
      const result = takeResult(results, part.id, index, answered);
      if (result) own.push(result);
      else drop(`the call of the tool ${part.name} has no result, so it was removed`);
      return result !== undefined;
    });
    if (content.length > 0 || message.content.length === 0) paired.push({ ...message, content });
    if (own.length > 0) paired.push({ role: "user", content: own });
  }
  for (const { result } of results) {
    if (!answered.has(result))
      drop(`the tool result ${result.callId} has no matching call, so it was removed`);
  }
  return paired;
}

interface PlacedResult {
  readonly index: number;
  readonly result: ToolResultPart;
}

const indexResults = (messages: readonly Message[]): PlacedResult[] =>
  messages.flatMap(({ content }, index) =>
    content.flatMap((part) => (part.type === "tool_result" ? [{ index, result: part }] : [])),
  );

/** The first result of a call that stands after it and belongs to no earlier call: ids may come again (T21). */
function takeResult(
  results: readonly PlacedResult[],
  callId: string,
  after: number,
  answered: Set<ToolResultPart>,
): ToolResultPart | undefined {
  const found = results.find(
    ({ index, result }) => index > after && result.callId === callId && !answered.has(result),
  );
  if (found) answered.add(found.result);
  return found?.result;
}

/** Neighbouring turns of one role as one (CONV-601). System turns stay apart: they may be of different kinds. */
function mergeNeighbours(messages: readonly Message[]): Message[] {
  const merged: Message[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (
      last &&
      last.role === message.role &&
      message.role !== "system" &&
      last.name === message.name
    ) {
      merged[merged.length - 1] = { ...last, content: [...last.content, ...message.content] };
    } else merged.push(message);
  }
  return merged;
}

/** Empty texts go where something else is there; a message of nothing gets the placeholder (CONV-604, T25). */
function fillEmpty(message: Message): Message {
  const content = message.content.filter((part) => part.type !== "text" || part.text !== "");
  const says = content.some((part) => part.type !== "reasoning");
  return { ...message, content: says ? content : [...content, placeholder] };
}
