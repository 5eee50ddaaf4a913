/**
 * Prepares a decoded request for an upstream of another protocol: each step changes what the upstream would refuse or not understand,
 * and reports it. Requirements: CONV, TXT-05.
 */
import type { Note } from "../base/notes.ts";
import { renameArguments } from "./argument-names.ts";
import type { CanonicalRequest } from "./canonical/request.ts";
import type { UpstreamCodec } from "./codec.ts";
import { customAsFunctions } from "./custom-as-function.ts";
import { refusePrefill } from "./fit-abilities.ts";
import { fit } from "./fit.ts";
import { askForJson } from "./json-word.ts";
import type { Limits } from "./limits.ts";
import { nameLoadedTools } from "./loaded-tools.ts";
import { maximumFieldOf, type RouteInput } from "./route.ts";
import { withSessionKey } from "./session-key.ts";
import { keepingSession, markSession } from "./session-markers.ts";
import { tidy } from "./tidy.ts";
import { applyToolChanges } from "./tool-changes.ts";
import { renameTools } from "./tool-names.ts";
import { flattenNamespaces } from "./tool-namespaces.ts";
import { wrapAnswerSchema } from "./wrap-answer-schema.ts";

/** The request fitted to its target, the notes about the changes, and the codec that reads the answer. */
interface Prepared {
  readonly fitted: CanonicalRequest;
  readonly notes: readonly Note[];
  readonly upstream: UpstreamCodec;
}

/**
 * On its own protocol a request is neither repaired nor fitted: this shows that the canonical form loses nothing.
 * @throws GatewayError the caller's mistake, or `unsupported_content` for content that the upstream does not accept
 */
export function prepare(request: CanonicalRequest, input: RouteInput): Prepared {
  const { caller, upstream: any, body, upstreamModel, stream } = input;
  const { maxOutputTokens, outputTokensMax, abilities } = input;
  if (caller === any) {
    return {
      fitted: request,
      upstream: caller,
      notes: caller.direct.request(body, { model: upstreamModel, stream }).notes,
    };
  }
  const upstream = any.forModel?.(upstreamModel, input) ?? any;
  const ofUpstream = limitsOf(upstream, input);
  const limits = input.marksSessions ? keepingSession(ofUpstream) : ofUpstream;
  const keyed = input.sessionKeys ? withSessionKey(request, upstreamModel) : request;
  const loaded = nameLoadedTools(keyed, body, upstream.limits);
  const turned = applyToolChanges(loaded.request);
  const flat = flattenNamespaces(turned.request);
  const fitted = fit(flat.request, { limits, maxOutputTokens, outputTokensMax, abilities });
  const tidied = tidy(fitted.request, limits);
  if (abilities) refusePrefill(tidied.request, abilities);
  const asked = askForJson(tidied.request, limits);
  const wrapped = wrapAnswerSchema(asked.request, limits);
  const plain = customAsFunctions(wrapped.request, limits);
  const legal = renameArguments(plain.request, limits);
  const renamed = renameTools(legal.request, upstream);
  const marked = input.marksSessions
    ? markSession(renamed.request, request, limits, input.marksConversations === true)
    : { request: renamed.request, notes: [] };
  return {
    fitted: marked.request,
    notes: [
      loaded,
      turned,
      flat,
      fitted,
      tidied,
      asked,
      wrapped,
      plain,
      legal,
      renamed,
      marked,
    ].flatMap(({ notes }) => notes),
    upstream: flat.wrapCodec(wrapped.wrapCodec(plain.wrapCodec(legal.wrapCodec(renamed.upstream)))),
  };
}

/**
 * Returns the limits of an upstream: those of its protocol, adjusted to the vendor. Some chat vendors refuse earlier reasoning, few have
 * custom tools, and some name the maximum differently for reasoning models. Some messages vendors fetch no addresses, or do not know
 * `strict`.
 */
function limitsOf({ limits }: UpstreamCodec, input: RouteInput): Limits {
  if (limits.protocol === "messages") return limitsOfClaude(limits, input);
  if (limits.protocol !== "chat") return limits;
  const { refusedMembers = [], customTools, refusesAllowed, formatOrTools } = input;
  const { refusesNamed, refusesNullContent } = input;
  const maximumField = maximumFieldOf(input);
  const refusesReasoning = refusedMembers.includes("reasoning_content");
  return {
    ...limits,
    unsignedReasoning: limits.unsignedReasoning && !refusesReasoning,
    ...(customTools ? { customTools } : {}),
    ...(refusesAllowed ? { refusesAllowed } : {}),
    ...(formatOrTools ? { formatOrTools } : {}),
    ...(refusesNamed ? { refusesNamed } : {}),
    ...(refusesNullContent ? { refusesNullContent } : {}),
    ...(maximumField ? { maximumField } : {}),
  };
}

function limitsOfClaude(limits: Limits, input: RouteInput): Limits {
  const { inlineMedia, strictByRecord, abilities } = input;
  const isLoose = strictByRecord && abilities?.structuredOutputs !== true;
  if (!inlineMedia && !isLoose) return limits;
  return {
    ...limits,
    ...(inlineMedia ? { fetchesUrl: () => false } : {}),
    ...(isLoose
      ? { supportedMembers: limits.supportedMembers.filter((extra) => extra !== "strict") }
      : {}),
  };
}
