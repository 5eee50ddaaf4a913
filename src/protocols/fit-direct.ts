/**
 * Fits a request on a direct route to the model, by the same rules as `fit` in conversion. Only changed members are written anew, from the
 * canonical form.
 */
import type { Abilities } from "../base/abilities.ts";
import { inSnakeCase } from "../base/casing.ts";
import { isObject } from "../base/json.ts";
import type { Note } from "../base/notes.ts";
import type { CanonicalRequest, Json, JsonObject } from "./canonical/request.ts";
import type { Codec } from "./codec.ts";
import { fitOutput, refuseMedia, refusePrefill, refuseToolChoice } from "./fit-abilities.ts";
import { startFitting } from "./fit-fields.ts";
import { fitClaudeBudget, fitReasoning } from "./fit-reasoning.ts";
import { capOutputTokens } from "./fit-values.ts";
import { settingMembers } from "./setting-members.ts";

/** The data of a call that decide how its request is fitted. */
export interface DirectFitInput {
  /** The caller's protocol. */
  readonly caller: Codec;
  /** The caller's validated body. */
  readonly body: JsonObject;
  readonly stream: boolean;
  /** The model's name in the request, and its name at the upstream. */
  readonly requestedModel: string;
  readonly upstreamModel: string;
  /** The model's own maximum of output tokens. */
  readonly maxOutputTokens: number;
  /** Cap on the requested output tokens; absent: the vendor decides. */
  readonly outputTokensMax?: number | undefined;
  /** The known abilities of the model; absent: none are known. */
  readonly abilities?: Abilities | undefined;
  /** Images, audio, video and files in the input; absent: none. */
  readonly inputMedia?: number | undefined;
}

/** The fitted request; the same body if nothing changed. */
export interface DirectFit {
  readonly body: JsonObject;
  readonly notes: readonly Note[];
  /** The maximum of output tokens in the fitted request; undefined if it did not change. */
  readonly askedOutputTokens: number | undefined;
}

/**
 * Fits a request to its model on the caller's own protocol.
 * @throws GatewayError `unsupported_content` or `unsupported_parameter` for a part that cannot be dropped without changing the request's
 * meaning
 */
export function fitDirect(input: DirectFitInput): DirectFit {
  const { caller: codec, body, abilities, inputMedia = 0 } = input;
  const unchanged: DirectFit = { body, notes: [], askedOutputTokens: undefined };
  if (abilities === undefined) return unchanged;
  if (inputMedia > 0 && abilities.inputModalities) refuseMedia(decode(input, body), abilities);
  const { maxOutputTokens, outputTokensMax } = input;
  if (outputTokensMax === undefined && !mayAffect(codec, body, abilities)) return unchanged;
  const request = decode(input, withLastTurnOnly(codec, body));
  refusePrefill(request, abilities);
  refuseToolChoice({ ...request, tools: [{ name: "any" }] }, abilities);
  const { limits } = codec;
  const target = { limits, maxOutputTokens, outputTokensMax, abilities };
  const fitting = startFitting(request, target, []);
  capOutputTokens(fitting);
  fitOutput(fitting, abilities);
  if (abilities.reasoning) fitReasoning(fitting);
  else if (outputTokensMax !== undefined) fitClaudeBudget(fitting);
  const { request: fitted, notes } = fitting;
  if (notes.length === 0 && fitted.reasoning === request.reasoning) return unchanged;
  const changed = fitted.maxOutputTokens !== request.maxOutputTokens;
  return {
    body: withChangedMembers(input, request, fitted),
    notes,
    askedOutputTokens: changed ? fitted.maxOutputTokens : undefined,
  };
}

const decode = ({ caller, requestedModel, stream }: DirectFitInput, body: JsonObject) =>
  caller.decodeRequest(body, { model: requestedModel, stream });

/** True if the request has a member that the model's abilities may affect. */
function mayAffect({ name }: Codec, body: JsonObject, can: Abilities): boolean {
  const { members, turns } = settingMembers[name];
  const decides = can.reasoning ?? can.toolChoice ?? can.structuredOutputs === false;
  if (decides && members.some((member) => body[member] !== undefined)) return true;
  return can.prefill === false && endsWithAnswer(body[turns]);
}

function endsWithAnswer(turns: Json | undefined): boolean {
  const last = Array.isArray(turns) ? turns.at(-1) : turns;
  return isObject(last) && (last["role"] === "assistant" || last["role"] === "model");
}

/** Returns the request with only the last turn of its prompt, so that a long conversation is not decoded. */
function withLastTurnOnly({ name }: Codec, body: JsonObject): JsonObject {
  const { turns: member, prompt } = settingMembers[name];
  const { [member]: turns, ...slim } = body;
  for (const part of prompt) delete slim[part];
  return { ...slim, [member]: Array.isArray(turns) ? turns.slice(-1) : (turns ?? []) };
}

/**
 * Returns the caller's body with the changed members replaced. To find them, both requests are encoded and compared. Members of a changed
 * reasoning setting are always replaced: the codec may write a caller's effort as the budget that it became, so that both look equal.
 */
function withChangedMembers(
  { caller: codec, body, upstreamModel }: DirectFitInput,
  from: CanonicalRequest,
  to: CanonicalRequest,
): JsonObject {
  const before = codec.encodeRequest(from, upstreamModel);
  const after = codec.encodeRequest(to, upstreamModel);
  const held = changedReasoningMembers(from, to);
  const isHeld = (name: string) => held.includes(name) || held.includes(inSnakeCase(name));
  const copy = { ...body };
  for (const name of held) delete copy[name];
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const now = after[name];
    if (name === settingMembers[codec.name].turns) continue;
    if (!isHeld(name) && JSON.stringify(before[name]) === JSON.stringify(now)) continue;
    // Google's callers may use either spelling.
    delete copy[inSnakeCase(name)];
    delete copy[name];
    if (now !== undefined) copy[name] = now;
  }
  return copy;
}

/** The caller's members that hold a reasoning setting which has changed. */
const changedReasoningMembers = (from: CanonicalRequest, to: CanonicalRequest): string[] =>
  (["effort", "budget"] as const).flatMap((field) => {
    const [member] = from.names[`reasoning.${field}`]?.split(".") ?? [];
    const isSame = from.reasoning?.[field] === to.reasoning?.[field];
    return isSame || member === undefined ? [] : [member];
  });
