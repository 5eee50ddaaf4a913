/** The events sent to hooks, as JSON. They contain no key and no header of the caller. docs/hooks.md. */
import { exactTwinOf } from "../base/exact-numbers.ts";
import { jsonWithin } from "../base/json-write.ts";
import { formatUsd } from "../base/money.ts";
import { renderUsage } from "../base/usage.ts";
import type { Draft } from "./draft.ts";
import type { CallFacts, EndedCall, AnswerText } from "./types.ts";

/** The limit for bodies and texts in events of ended calls, in characters. */
export const answerCharactersMax = 256 * 1024;

const factsOf = (hook: string, { caller, tags, ...call }: CallFacts) => ({
  id: call.id,
  hook,
  endpoint: call.endpoint,
  model: call.model ?? null,
  stream: call.stream,
  workspace_id: caller.workspaceId,
  key_id: caller.keyId,
  member_id: caller.memberId,
  tags: tags?.tags ?? {},
  end_user: tags?.endUser ?? null,
});

/** The event before a call. */
export function beforeEvent(hook: string, draft: Draft): string {
  const { asked } = draft;
  const facts = {
    type: "call.before",
    ...factsOf(hook, { ...asked, model: draft.model }),
    fallback_models: draft.fallbackModels ?? null,
    ...asked.about,
  };
  return `${JSON.stringify(facts).slice(0, -1)},"body":${draft.text()}}`;
}

/** The event after a call. A part above the limit is left out or cut, and named in `truncated`. */
export function afterEvent(hook: string, ended: EndedCall): string {
  const { body, answer } = ended;
  const truncated: string[] = [];
  const whole = (name: string, value: object | undefined): string => {
    const text = value === undefined ? "null" : jsonWithin(exactTwinOf(value), answerCharactersMax);
    if (text !== undefined) return text;
    truncated.push(name);
    return "null";
  };
  const cut = ({ text, isCut = false }: AnswerText): string => {
    if (!isCut && text.length <= answerCharactersMax) return JSON.stringify(text);
    truncated.push("answer.text");
    return JSON.stringify(text.slice(0, answerCharactersMax).toWellFormed());
  };
  const said = answer && `{"text":${cut(answer)},"body":${whole("answer.body", answer.body)}}`;
  const parts = `"body":${whole("body", body)},"answer":${said ?? "null"}`;
  const facts = {
    type: "call.after",
    ...factsOf(hook, ended),
    status: ended.status,
    http_status: ended.httpStatus,
    error_code: ended.errorCode,
    provider: ended.provider,
    usage: ended.usage === undefined ? null : renderUsage(ended.usage),
    charge_usd: formatUsd(ended.costNano),
    duration_ms: Math.round(ended.durationMs),
    truncated,
  };
  return `${JSON.stringify(facts).slice(0, -1)},${parts}}`;
}
