/**
 * JSON output without a schema at vendors that refuse it unless the conversation asks for it in words: "messages must contain the
 * word 'json'". OpenAI does, DeepSeek and Alibaba too; Google does not, so its callers need not say it. CONV-211, CONV-310.
 */
import type { Note } from "../base/notes.ts";
import type { CanonicalRequest, Message, Part } from "./canonical/request.ts";
import type { Limits } from "./limits.ts";
import { containerOf } from "./tidy.ts";

/** What is added where nobody says it. */
const said = "Answer in JSON.";

/**
 * Asks for JSON in words, at the end of the system prompt: it stands at the same place in each turn, so caches keep. Where
 * instructions do not count it stands behind the first turn. Of a tidied request: turns that go must be gone.
 */
export function askForJson(
  request: CanonicalRequest,
  { jsonWord }: Limits,
): { readonly request: CanonicalRequest; readonly notes: readonly Note[] } {
  const { messages, outputFormat, protocol } = request;
  if (jsonWord === undefined || outputFormat?.type !== "json") return { request, notes: [] };
  // A tidied conversation has a turn.
  const first = messages.findIndex(({ role }) => role !== "system");
  const counted = jsonWord === "input" ? messages.slice(first) : messages;
  if (counted.some(({ content }) => content.some(saysJson))) return { request, notes: [] };
  const detail = `"${said}" added: the upstream refuses JSON output that no words ask for`;
  return {
    request: { ...request, messages: withWord(messages, jsonWord === "input" ? first + 1 : first) },
    notes: [{ param: containerOf[protocol], kind: "rewritten", detail }],
  };
}

const saysJson = (part: Part): boolean => part.type === "text" && /json/i.test(part.text);

/** The words as a system turn at a place, or at the end of the one that stands before it. */
function withWord(messages: readonly Message[], at: number): Message[] {
  const before = messages[at - 1];
  const isSystem = before?.role === "system";
  const asked: Message = {
    ...(isSystem ? before : { role: "system" }),
    content: [...(isSystem ? before.content : []), { type: "text", text: said }],
  };
  return [...messages.slice(0, isSystem ? at - 1 : at), asked, ...messages.slice(at)];
}
