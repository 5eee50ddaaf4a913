/**
 * Ids that are longer than the upstream takes: a coding agent's end-user id is an object of 150 characters, and ids
 * of calls may be made of tool names. A hash stands for them, the same for the same id. Requirements: CONV.
 */
import { createHash } from "node:crypto";
import type { Message, Part } from "./canonical/request.ts";
import type { Fitting } from "./fit-fields.ts";

/** Shortens the end-user id, which is reported, and the ids of calls, which mean nothing beyond their pairing. */
export function fitIds(fitting: Fitting): void {
  const { endUserIdMax, callIdMax } = fitting.target.limits;
  const { endUserId, messages } = fitting.request;
  if (endUserId !== undefined && endUserId.length > endUserIdMax) {
    const why = `longer than the ${endUserIdMax} characters the upstream takes, a hash stands for it`;
    fitting.note("endUserId", "rewritten", why);
    fitting.request = { ...fitting.request, endUserId: hashOf(endUserId) };
  }
  if (!messages.some(({ content }) => content.some((part) => idOf(part).length > callIdMax)))
    return;
  const shorten = (message: Message): Message => ({
    ...message,
    content: message.content.map((part) => withShortId(part, callIdMax)),
  });
  fitting.request = { ...fitting.request, messages: messages.map(shorten) };
}

function idOf(part: Part): string {
  if (part.type === "tool_call") return part.id;
  return part.type === "tool_result" ? part.callId : "";
}

function withShortId(part: Part, max: number): Part {
  const id = idOf(part);
  if (id.length <= max) return part;
  if (part.type === "tool_call") return { ...part, id: `call_${hashOf(id)}` };
  return part.type === "tool_result" ? { ...part, callId: `call_${hashOf(id)}` } : part;
}

/** 32 characters that every vendor takes. */
const hashOf = (id: string): string => createHash("sha256").update(id).digest("hex").slice(0, 32);
