/**
 * The session of Claude Code as OpenAI's `prompt_cache_key`. From GPT-5.6 on, OpenAI and Azure find a cached prompt reliably by this key only.
 * The messages protocol has no such key, and Claude Code names its session within `metadata.user_id`.
 */
import { isObject } from "../base/json.ts";
import { jsonOrText } from "../base/json-text.ts";
import type { CanonicalRequest } from "./canonical/request.ts";
import { nonEmpty } from "./read.ts";

/** Longest key that OpenAI takes. */
const keyMax = 64;

/** Matches OpenAI's models. Azure also serves others, which may refuse the key (T31). */
const ofOpenAi = /gpt(?!-oss)|codex|^o\d/i;

/** Returns a messages request to a model at OpenAI or Azure with its session as its key; unchanged if it names none. */
export function withSessionKey(request: CanonicalRequest, model: string): CanonicalRequest {
  if (request.protocol !== "messages" || !ofOpenAi.test(model)) return request;
  const session = sessionIn(request.endUserId ?? "");
  return session === undefined || session.length > keyMax
    ? request
    : { ...request, promptCacheKey: session };
}

/** Versions before 2.1 join the parts of the id with `_`, later ones send them as JSON. */
function sessionIn(userId: string): string | undefined {
  if (!userId.startsWith("{")) return /_session_([\w-]+)$/.exec(userId)?.[1];
  const parts = jsonOrText(userId);
  return isObject(parts) ? nonEmpty(parts["session_id"]) : undefined;
}
