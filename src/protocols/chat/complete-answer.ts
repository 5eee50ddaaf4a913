/**
 * Adds to a whole direct answer the members that typed clients require and some vendors leave out. GitHub Copilot's answers have no `object`
 * and no numbers of choices, and some servers no `created`, `id` or finish reason. Spring AI, pydantic-ai, async-openai and OpenAI's SDKs for
 * Java and .NET fail at that, and clients with a closed list of words at a vendor's own finish reason. LangChain for JavaScript, and n8n with
 * it, fail at calls that are null, and loops of hand-written agents at an empty list. TXT-10.
 */
import { callIdIn } from "../call-id.ts";
import type { JsonObject } from "../canonical/request.ts";
import { isEmptyList, nonEmpty, objectOf, objects, wholeSeconds } from "../read.ts";
import { hasForeignTier } from "../service-tiers.ts";
import { completeCall, isCompleteCall, isOwnCall } from "./complete-call.ts";
import { ownReason } from "./finish.ts";
import { idText } from "./id-text.ts";
import { withPlainContent } from "./plain-content.ts";

/** The facts of the call that complete a whole answer. */
interface Given {
  /** True if the caller named the tool to call. */
  readonly namesTool: boolean;
  /** Counts if the vendor reported no time. */
  readonly createdAt: number;
}

/** Changes the answer. */
export function completeAnswer(answer: JsonObject, { namesTool, createdAt }: Given): void {
  answer["id"] = idText(answer) ?? `chatcmpl-${crypto.randomUUID()}`;
  answer["object"] ??= "chat.completion";
  answer["created"] = wholeSeconds(answer["created"], createdAt);
  if (hasForeignTier(answer)) delete answer["service_tier"];
  for (const [at, choice] of (objects(answer["choices"]) as JsonObject[]).entries()) {
    const message = withPlainContent(objectOf(choice["message"]) as JsonObject);
    choice["index"] ??= at;
    const { tool_calls: calls } = message;
    if (calls === null || isEmptyList(calls)) delete message["tool_calls"];
    const role = nonEmpty(message["role"]) ?? "assistant";
    choice["message"] = message["role"] === role ? message : { ...message, role };
    const reason = choice["finish_reason"];
    const own = ownReason(reason, !namesTool && objects(calls).some(isOwnCall));
    if (own !== undefined) {
      choice["native_finish_reason"] ??= reason!;
      choice["finish_reason"] = own;
    } else if (nonEmpty(reason) === undefined) choice["finish_reason"] = reasonOf(message);
    const answerId = nonEmpty(answer["id"]) ?? "";
    completeCalls(objects(message["tool_calls"]) as JsonObject[], (place) =>
      callIdIn(answerId, choice["index"], place),
    );
  }
}

/** Completes the calls in their places. LocalAI gives all calls of an answer one id: clients match results by it. */
function completeCalls(calls: JsonObject[], idAt: (place: number) => string): void {
  const ids = new Set<string>();
  for (const [at, call] of calls.entries()) {
    const told = idText(call);
    const isRepeated = told !== undefined && ids.has(told);
    if (isRepeated || !isCompleteCall(call)) {
      const id = isRepeated ? undefined : told;
      Object.assign(
        call,
        completeCall({ ...call, id: id ?? "" }, () => idAt(at), "{}"),
      );
    }
    ids.add(idText(call)!);
  }
}

/** The finish reason that an answer without one has, as at the end of a stream. */
function reasonOf({ tool_calls: calls, function_call: called }: JsonObject): string {
  if (objects(calls).length > 0) return "tool_calls";
  return (called ?? null) === null ? "stop" : "function_call";
}
