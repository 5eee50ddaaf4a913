/**
 * System turns within a conversation, for upstreams that take them only at its top. Claude Code and Codex send one every few turns. At the
 * top, each would change the beginning of the conversation, and the vendor's prompt cache would lose all of it. So theirs stay in place, as
 * marked turns of the user. In chat-completions every system message is the system prompt (CONV-401, CONV-501), and goes to the top.
 */
import type { Message, Part, ProtocolName } from "./canonical/request.ts";

/** Returns the turns with system turns only at the top, and what was changed; the same turns if nothing was. */
export function systemOnTop(
  messages: readonly Message[],
  protocol: ProtocolName,
): { readonly messages: readonly Message[]; readonly detail?: string } {
  const top = messages.findIndex(({ role }) => role !== "system");
  const isFit = top === -1 || messages.slice(top).every(({ role }) => role !== "system");
  if (isFit) return { messages };
  if (protocol === "chat") return { messages: gathered(messages), detail: gatheredDetail };
  return {
    messages: messages.flatMap((message, at) => (at < top ? [message] : inPlace(message))),
    detail: inPlaceDetail,
  };
}

const gatheredDetail =
  "system turns within the conversation went to its top, the one place the upstream has";
export const inPlaceDetail =
  "system turns within the conversation went as marked user turns: the upstream has system turns only at its top";

const gathered = (messages: readonly Message[]): Message[] => [
  ...messages.filter(({ role }) => role === "system"),
  ...messages.filter(({ role }) => role !== "system"),
];

function inPlace(message: Message): Message[] {
  if (message.role !== "system") return [message];
  const content = message.content.flatMap(marked);
  return content.length === 0 ? [] : [{ role: "user", content }];
}

/** The mark that Claude Code itself gives such words in a user turn. */
const [opening, closing] = ["<system-reminder>", "</system-reminder>"];

/** Returns a text of the system as one of the user; undefined for a blank one. */
export function asReminder(said: string): string | undefined {
  const text = said.trim();
  if (text === "") return undefined;
  return text.startsWith(opening) ? said : `${opening}\n${text}\n${closing}`;
}

function marked(part: Part): Part[] {
  if (part.type !== "text") return [part];
  const text = asReminder(part.text);
  return text === undefined ? [] : [{ ...part, text }];
}
