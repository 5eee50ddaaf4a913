/**
 * A request that goes to an upstream of its caller's own protocol, fitted to the model: the direct route's part of what `fit`
 * does in conversion, by the same rules. Only the members that must change are written anew, out of the canonical form.
 */
import type { Abilities } from "../base/abilities.ts";
import { inSnakeCase } from "../base/casing.ts";
import { isObject } from "../base/json.ts";
import type { Note } from "../base/notes.ts";
import type { CanonicalRequest, Json, JsonObject } from "./canonical/request.ts";
import type { Codec } from "./codec.ts";
import { fitOutput, refuseMedia, refusePrefill, refuseToolChoice } from "./fit-abilities.ts";
import { startFitting } from "./fit-fields.ts";
import { fitClaudesBudget, fitReasoning } from "./fit-reasoning.ts";
import { fitLargest } from "./fit-values.ts";
import { wishes } from "./wishes.ts";

/** What of a call decides how its request is fitted. */
export interface OwnInput {
  /** The caller's protocol. */
  readonly caller: Codec;
  /** The caller's body, checked. */
  readonly body: JsonObject;
  readonly stream: boolean;
  /** The model as the caller wrote it, and as the upstream calls it. */
  readonly requestedModel: string;
  readonly upstreamModel: string;
  /** The model's own maximum of output tokens. */
  readonly maxOutputTokens: number;
  /** The most output tokens that may be asked for, where more are; absent: the vendor decides. */
  readonly outputTokensMax?: number | undefined;
  /** What is known of the model; absent: nothing. */
  readonly abilities?: Abilities | undefined;
  /** Images, audio, video and files in the input; absent: none. */
  readonly inputMedia?: number | undefined;
}

/** What a request has become. The same body where nothing had to change. */
export interface Own {
  readonly body: JsonObject;
  readonly notes: readonly Note[];
  /** The maximum of output tokens that is asked for, where it is another one. */
  readonly askedOutputTokens: number | undefined;
}

/**
 * Fits a request to the model that it goes to on its own protocol.
 * @throws GatewayError `unsupported_content` or `unsupported_parameter` for what the request would mean something else without
 */
export function fitOwn(input: OwnInput): Own {
  const { caller: codec, body, abilities, inputMedia = 0 } = input;
  const unchanged: Own = { body, notes: [], askedOutputTokens: undefined };
  if (abilities === undefined) return unchanged;
  if (inputMedia > 0 && abilities.inputModalities) refuseMedia(decode(input, body), abilities);
  const { maxOutputTokens, outputTokensMax } = input;
  if (outputTokensMax === undefined && !concerns(codec, body, abilities)) return unchanged;
  const request = decode(input, wishesOf(codec, body));
  refusePrefill(request, abilities);
  refuseToolChoice({ ...request, tools: [{ name: "any" }] }, abilities);
  const { limits } = codec;
  const target = { limits, maxOutputTokens, outputTokensMax, abilities };
  const fitting = startFitting(request, target, []);
  fitLargest(fitting);
  fitOutput(fitting, abilities);
  if (abilities.reasoning) fitReasoning(fitting);
  else if (outputTokensMax !== undefined) fitClaudesBudget(fitting);
  const { request: fitted, notes } = fitting;
  if (notes.length === 0 && fitted.reasoning === request.reasoning) return unchanged;
  const changed = fitted.maxOutputTokens !== request.maxOutputTokens;
  return {
    body: patched(input, request, fitted),
    notes,
    askedOutputTokens: changed ? fitted.maxOutputTokens : undefined,
  };
}

const decode = ({ caller, requestedModel, stream }: OwnInput, body: JsonObject) =>
  caller.decodeRequest(body, { model: requestedModel, stream });

/** Whether a request holds anything that a record like this decides about. */
function concerns({ name }: Codec, body: JsonObject, can: Abilities): boolean {
  const { members, turns } = wishes[name];
  const decides = can.reasoning ?? can.toolChoice ?? can.structuredOutputs === false;
  if (decides && members.some((member) => body[member] !== undefined)) return true;
  return can.prefill === false && endsWithAnswer(body[turns]);
}

function endsWithAnswer(turns: Json | undefined): boolean {
  const last = Array.isArray(turns) ? turns.at(-1) : turns;
  return isObject(last) && (last["role"] === "assistant" || last["role"] === "model");
}

/** The request without its prompt but for the last turn: a long conversation is not read for its wishes. */
function wishesOf({ name }: Codec, body: JsonObject): JsonObject {
  const { turns: member, prompt } = wishes[name];
  const { [member]: turns, ...slim } = body;
  for (const part of prompt) delete slim[part];
  return { ...slim, [member]: Array.isArray(turns) ? turns.slice(-1) : (turns ?? []) };
}

/**
 * The caller's body with each member that became another: what it was and what it is are both written, and compared. Where the
 * wish for reasoning is another, so are the members that held it, even if they would be written alike: an effort of the
 * caller may be written as the budget it became.
 */
function patched(
  { caller: codec, body, upstreamModel }: OwnInput,
  from: CanonicalRequest,
  to: CanonicalRequest,
): JsonObject {
  const before = codec.encodeRequest(from, upstreamModel);
  const after = codec.encodeRequest(to, upstreamModel);
  const held = changedWishes(from, to);
  const isHeld = (name: string) => held.includes(name) || held.includes(inSnakeCase(name));
  const copy = { ...body };
  for (const name of held) delete copy[name];
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const now = after[name];
    if (name === wishes[codec.name].turns) continue;
    if (!isHeld(name) && JSON.stringify(before[name]) === JSON.stringify(now)) continue;
    // Google's callers spell names in two ways.
    delete copy[inSnakeCase(name)];
    delete copy[name];
    if (now !== undefined) copy[name] = now;
  }
  return copy;
}

/** The members of the caller's body that hold a wish for reasoning which has become another. */
const changedWishes = (from: CanonicalRequest, to: CanonicalRequest): string[] =>
  (["effort", "budget"] as const).flatMap((field) => {
    const [member] = from.names[`reasoning.${field}`]?.split(".") ?? [];
    const isSame = from.reasoning?.[field] === to.reasoning?.[field];
    return isSame || member === undefined ? [] : [member];
  });
