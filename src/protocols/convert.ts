/**
 * Converts any protocol to any other: decode, fit, tidy, rename tools, encode; and back. Only this file and converted-tap.ts use two
 * codecs. Requirements: CONV (CONV, TXT-05, STREAM-03 to STREAM-05).
 */
import { inRequestOrder, type Note } from "../base/notes.ts";
import type { SseEvent } from "../base/sse.ts";
import type { Usage } from "../base/usage.ts";
import { explode } from "./canonical/collect.ts";
import type { CanonicalRequest, JsonObject } from "./canonical/request.ts";
import type { CanonicalResponse } from "./canonical/response.ts";
import type { AnswerContext, StreamTap, UpstreamCodec, WireError } from "./codec.ts";
import { ConvertedTap, errorOf } from "./converted-tap.ts";
import { withDropped } from "./dropped-params.ts";
import { refusePrefill } from "./fit-abilities.ts";
import { fitOwn } from "./fit-own.ts";
import { fit } from "./fit.ts";
import { askForJson } from "./json-word.ts";
import type { Limits } from "./limits.ts";
import {
  answerContext,
  decoded,
  DirectRoute,
  type Route,
  type RouteFacts,
  type RouteInput,
  type Said,
} from "./route.ts";
import { customAsFunctions } from "./custom-as-function.ts";
import { renameArguments } from "./argument-names.ts";
import { applyTurns } from "./tool-changes.ts";
import { outOfNamespaces } from "./tool-namespaces.ts";
import { boxAnswer } from "./boxed-answer.ts";
import { containerOf, tidy } from "./tidy.ts";
import { renameTools } from "./tool-names.ts";
import { collectFrames } from "./whole.ts";

/**
 * Returns the route of one call: direct between equal protocols, otherwise converted. Tests force conversion to show that the canonical
 * form loses nothing. `said` parses the caller's body on each call, so that a route need not keep it.
 * @throws GatewayError the caller's mistake, or `unsupported_content` for content that the upstream does not accept
 */
export function routeOf(facts: RouteFacts, said: Said, forceConversion: boolean = false): Route {
  return facts.caller === facts.upstream && !forceConversion
    ? new DirectRoute(facts, said)
    : new ConvertedRoute(facts, said);
}

/** The same for a body that is kept. @throws GatewayError as there */
export const createRoute = (input: RouteInput, forceConversion?: boolean): Route =>
  routeOf(input, () => input.body, forceConversion);

/** A route through the canonical form. It lives as long as the answer, so of the request it keeps only `body`, until `discardDerived`. */
class ConvertedRoute implements Route {
  readonly kind = "converted";
  readonly notes: readonly Note[];
  readonly askedOutputTokens: number | undefined;
  readonly #facts: RouteFacts;
  readonly #said: Said;
  readonly #upstream: UpstreamCodec;
  readonly #context: AnswerContext;
  #body: JsonObject | undefined;
  /** The last decoded answer: `failure` and `answer` both read it. */
  #read: { readonly answer: JsonObject; readonly response: CanonicalResponse } | undefined;

  constructor(facts: RouteFacts, said: Said) {
    const sent = converted({ ...facts, body: said() });
    this.notes = sent.notes;
    this.askedOutputTokens = sent.askedOutputTokens;
    this.#facts = facts;
    this.#said = said;
    this.#upstream = sent.upstream;
    this.#context = sent.context;
    this.#body = sent.body;
  }

  get body(): JsonObject {
    return (this.#body ??= converted({ ...this.#facts, body: this.#said() }).body);
  }

  discardDerived(): void {
    this.#body = undefined;
  }

  failure(answer: JsonObject): WireError | undefined {
    return this.#upstream.direct.failure(answer) ?? failureIn(this.#decode(answer));
  }

  isUnderWay(): boolean {
    return false;
  }

  usage(answer: JsonObject): Usage | undefined {
    return this.#upstream.direct.usage(answer);
  }

  text(answer: JsonObject): string {
    return this.#upstream.direct.text(answer);
  }

  answer(answer: JsonObject, droppedParams: readonly string[], usage: Usage): JsonObject {
    const response = this.#decode(answer);
    const told = { ...response, usage: response.usage ?? usage };
    return withDropped(this.#facts.caller.encodeResponse(told, this.#context), droppedParams);
  }

  tap(): StreamTap {
    return new ConvertedTap(this.#upstream, this.#facts.caller, this.#context);
  }

  framesOf(answer: JsonObject, usage: Usage): SseEvent[] {
    const encoder = this.#facts.caller.encodeStream(this.#context);
    const events = explode({ usage, ...this.#decode(answer) });
    const frames = events.flatMap((event) => encoder.push(event));
    return [...frames, ...encoder.end({ kind: "complete" })];
  }

  /** The result is in the upstream's protocol; `answer` converts it. */
  wholeOf(frames: readonly SseEvent[]): JsonObject | undefined {
    return wholeOf(this.#facts.upstream, frames);
  }

  #decode(answer: JsonObject): CanonicalResponse {
    if (this.#read?.answer !== answer)
      this.#read = { answer, response: this.#upstream.decodeResponse(answer) };
    return this.#read.response;
  }
}

/** A request as sent to an upstream of another protocol, and the codec and context to read its answer. */
interface Converted extends Pick<Route, "body" | "notes" | "askedOutputTokens"> {
  readonly upstream: UpstreamCodec;
  readonly context: AnswerContext;
}

/** @throws GatewayError as `routeOf` */
function converted(given: RouteInput): Converted {
  const { caller, body: said } = given;
  const own = caller === given.upstream ? fitOwn(given) : undefined;
  const input = { ...given, body: own?.body ?? said };
  const request = decoded(input);
  const { fitted, notes, upstream } = prepare(request, input);
  const body = upstream.encodeRequest(fitted, input.upstreamModel);
  const added = upstream.addedTo?.(body);
  const addition: Note[] =
    added === undefined
      ? []
      : [{ param: containerOf[caller.name], kind: "rewritten", detail: added }];
  return {
    body,
    notes: inRequestOrder([...(own?.notes ?? []), ...notes, ...addition], said),
    askedOutputTokens: fitted.maxOutputTokens,
    upstream,
    context: answerContext(input, request),
  };
}

/**
 * Returns the error of an answer that ended in one: a call that cannot be parsed, or an empty answer. Callers of other protocols have no
 * word for that and would take it for a normal end. Content without any finish reason counts as an answer.
 */
function failureIn({ finish, content }: CanonicalResponse): WireError | undefined {
  const isNone = finish.raw !== undefined || content.length === 0;
  return finish.reason === "error" && isNone ? errorOf(finish) : undefined;
}

/** Encodes a request for an upstream of another protocol, if no answer to it will be read. @throws as `createRoute` */
export function convertedBody(request: CanonicalRequest, input: RouteInput): JsonObject {
  const { fitted, upstream } = prepare(request, input);
  return upstream.encodeRequest(fitted, input.upstreamModel);
}

/** The request fitted to its target, the notes about the changes, and the codec that reads the answer. */
interface Prepared {
  readonly fitted: CanonicalRequest;
  readonly notes: readonly Note[];
  readonly upstream: UpstreamCodec;
}

/** On its own protocol a request is neither repaired nor fitted: this shows that the canonical form loses nothing. */
function prepare(request: CanonicalRequest, input: RouteInput): Prepared {
  const { caller, upstream: any, body, upstreamModel, stream } = input;
  const { maxOutputTokens, outputTokensMax, abilities } = input;
  if (caller === any) {
    return {
      fitted: request,
      upstream: caller,
      notes: caller.direct.request(body, { model: upstreamModel, stream }).notes,
    };
  }
  const upstream = any.forModel?.(upstreamModel) ?? any;
  const limits = limitsOf(upstream, input);
  const turned = applyTurns(request);
  const flat = outOfNamespaces(turned.request);
  const fitted = fit(flat.request, { limits, maxOutputTokens, outputTokensMax, abilities });
  const tidied = tidy(fitted.request, limits);
  if (abilities) refusePrefill(tidied.request, abilities);
  const asked = askForJson(tidied.request, limits);
  const boxed = boxAnswer(asked.request, limits);
  const plain = customAsFunctions(boxed.request, limits);
  const legal = renameArguments(plain.request, limits);
  const renamed = renameTools(legal.request, upstream);
  return {
    fitted: renamed.request,
    notes: [turned, flat, fitted, tidied, asked, boxed, plain, legal, renamed].flatMap(
      ({ notes }) => notes,
    ),
    upstream: flat.restored(boxed.restored(plain.restored(legal.restored(renamed.upstream)))),
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
  const { refusedMembers = [], customTools, maximumField, formatOrTools, abilities } = input;
  const reasons = (abilities?.reasoning?.kind ?? "none") !== "none";
  const refusesReasoning = refusedMembers.includes("reasoning_content");
  return {
    ...limits,
    unsignedReasoning: limits.unsignedReasoning && !refusesReasoning,
    ...(customTools ? { customTools } : {}),
    ...(formatOrTools ? { formatOrTools } : {}),
    ...(maximumField && reasons ? { maximumField } : {}),
  };
}

function limitsOfClaude(limits: Limits, input: RouteInput): Limits {
  const { inlineMedia, strictByRecord, abilities } = input;
  const isLoose = strictByRecord && abilities?.structuredOutputs !== true;
  if (!inlineMedia && !isLoose) return limits;
  return {
    ...limits,
    ...(inlineMedia ? { takesUrl: () => false } : {}),
    ...(isLoose ? { carries: limits.carries.filter((extra) => extra !== "strict") } : {}),
  };
}

/** Returns a complete stream as a whole answer in the upstream's own protocol; undefined if it broke off. */
function wholeOf(upstream: UpstreamCodec, frames: readonly SseEvent[]): JsonObject | undefined {
  const response = collectFrames(upstream, frames);
  if (!response || response.finish.reason === "error") return undefined;
  return upstream.encodeResponse(response, emptyContext(response));
}

/** A context for an answer that only the gateway reads, on its way to the caller's protocol. */
function emptyContext(response: CanonicalResponse): AnswerContext {
  const { id, createdAt } = response;
  const request = { protocol: "chat", model: "", stream: false, native: [], names: {} } as const;
  return { model: "", id, createdAt, request, inputEstimate: 0 };
}
