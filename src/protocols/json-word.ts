/**
 * Some vendors refuse JSON output without a schema unless the conversation asks for it: "messages must contain the word 'json'". OpenAI,
 * DeepSeek and Alibaba do; Google does not, so its callers may omit the word. CONV-211, CONV-310.
 */
import type { Note } from "../base/notes.ts";
import type { CanonicalRequest, Message, Part } from "./canonical/request.ts";
import type { Limits } from "./limits.ts";
import { messagesField } from "./tidy.ts";

/** Added if the word is missing. */
const jsonInstruction = "Answer in JSON.";

/**
 * Asks for JSON in words, at the end of the system prompt: the same position in each turn keeps caches valid. If the vendor ignores
 * instructions, it goes after the first turn. Only what stands before the first answer can make the words unnecessary: if a later turn
 * could, they would vanish from the middle of a cached prompt. The request must be tidied, so that only turns that will be sent count.
 */
export function askForJson(
  request: CanonicalRequest,
  { jsonWord }: Limits,
): { readonly request: CanonicalRequest; readonly notes: readonly Note[] } {
  const { messages, outputFormat, protocol } = request;
  if (jsonWord === undefined || outputFormat?.type !== "json") return { request, notes: [] };
  // A tidied conversation has at least one turn.
  const first = messages.findIndex(({ role }) => role !== "system");
  const answer = messages.findIndex(({ role }) => role === "assistant");
  const end = answer === -1 ? messages.length : answer;
  const counted = messages.slice(jsonWord === "input" ? first : 0, end);
  if (counted.some(({ content }) => content.some(saysJson))) return { request, notes: [] };
  const detail = `"${jsonInstruction}" added: the upstream refuses JSON output that no words ask for`;
  return {
    request: { ...request, messages: withWord(messages, jsonWord === "input" ? first + 1 : first) },
    notes: [{ param: messagesField[protocol], kind: "rewritten", detail }],
  };
}

const saysJson = (part: Part): boolean => part.type === "text" && /json/i.test(part.text);

/** Adds the words as a system turn at a position, or to the system turn before it. */
function withWord(messages: readonly Message[], at: number): Message[] {
  const before = messages[at - 1];
  const isSystem = before?.role === "system";
  const asked: Message = {
    ...(isSystem ? before : { role: "system" }),
    content: [...(isSystem ? before.content : []), { type: "text", text: jsonInstruction }],
  };
  return [...messages.slice(0, isSystem ? at - 1 : at), asked, ...messages.slice(at)];
}
