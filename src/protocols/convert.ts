/**
 * Converts any protocol to any other: decode, prepare, encode; and back. Only this file, prepare-request.ts and converted-tap.ts
 * use two codecs. Requirements: CONV (CONV, TXT-05, STREAM-03 to STREAM-05).
 */
import { GatewayError } from "../base/errors.ts";
import { inRequestOrder, type Note } from "../base/notes.ts";
import type { SseEvent } from "../base/sse.ts";
import type { Usage } from "../base/usage.ts";
import { toEvents } from "./canonical/collect.ts";
import type { CanonicalRequest, JsonObject } from "./canonical/request.ts";
import type { CanonicalResponse } from "./canonical/response.ts";
import type { AnswerContext, StreamTap, UpstreamCodec, WireError } from "./codec.ts";
import { ConvertedTap, errorFromFinish } from "./converted-tap.ts";
import { withDropped } from "./dropped-params.ts";
import { fitDirect } from "./fit-direct.ts";
import {
  answerContext,
  decodeCallerRequest,
  DirectRoute,
  mustStream,
  type Route,
  type RouteFacts,
  type RouteInput,
  type ReadBody,
} from "./route.ts";
import { prepare } from "./prepare-request.ts";
import { messagesField } from "./tidy.ts";
import { collectFrames } from "./collect-frames.ts";

/**
 * Returns the route of one call: direct between equal protocols, otherwise converted. Tests force conversion to show that the canonical
 * form loses nothing. `readBody` parses the caller's body on each call, so that a route need not keep it.
 * @throws GatewayError the caller's mistake, or `unsupported_content` for content that the upstream does not accept
 */
export function routeOf(
  facts: RouteFacts,
  readBody: ReadBody,
  forceConversion: boolean = false,
): Route {
  return facts.caller === facts.upstream && !forceConversion
    ? new DirectRoute(facts, readBody)
    : new ConvertedRoute(facts, readBody);
}

/** The same for a body that is kept. @throws GatewayError as there */
export const createRoute = (input: RouteInput, forceConversion?: boolean): Route =>
  routeOf(input, () => input.body, forceConversion);

/** A route through the canonical form. It lives as long as the answer, so of the request it keeps only `body`, until `discardDerived`. */
class ConvertedRoute implements Route {
  readonly kind = "converted";
  readonly notes: readonly Note[];
  readonly askedOutputTokens: number | undefined;
  readonly streams: boolean;
  readonly #facts: RouteFacts;
  readonly #readBody: ReadBody;
  readonly #upstream: UpstreamCodec;
  readonly #context: AnswerContext;
  #body: JsonObject | undefined;
  /** The last answer that the upstream streamed, with the usage of its stream. */
  #lastCollected: { readonly answer: JsonObject; readonly usage: Usage | undefined } | undefined;
  /** The last decoded answer: `failure` and `answer` both read it. */
  #lastDecoded: { readonly answer: JsonObject; readonly response: CanonicalResponse } | undefined;

  constructor(given: RouteFacts, readBody: ReadBody) {
    const facts = mustStream(given) ? { ...given, stream: true } : given;
    const sent = convertRequest({ ...facts, body: readBody() });
    this.notes = sent.notes;
    this.askedOutputTokens = sent.askedOutputTokens;
    this.#facts = facts;
    this.#readBody = readBody;
    this.#upstream = sent.upstream;
    this.#context = sent.context;
    this.#body = sent.body;
    this.streams = facts.stream && sent.upstream.refusesStream?.(sent.body) !== true;
  }

  get body(): JsonObject {
    return (this.#body ??= convertRequest({ ...this.#facts, body: this.#readBody() }).body);
  }

  discardDerived(): void {
    this.#body = undefined;
  }

  failure(answer: JsonObject): WireError | undefined {
    const failure = this.#upstream.direct.failure(answer);
    if (failure) return failure;
    try {
      const { finish } = this.#decode(answer);
      return finish.reason === "error" ? errorFromFinish(finish) : undefined;
    } catch (error) {
      // Another provider may answer.
      if (error instanceof GatewayError) return { message: error.message };
      throw error;
    }
  }

  isInProgress(): boolean {
    return false;
  }

  usage(answer: JsonObject): Usage | undefined {
    const collected = this.#lastCollected;
    if (collected?.answer === answer) return collected.usage;
    return this.#upstream.direct.usage(answer);
  }

  text(answer: JsonObject): string {
    return this.#upstream.direct.text(answer);
  }

  pictures(answer: JsonObject): number {
    return this.#upstream.direct.pictures?.(answer) ?? 0;
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
    const events = toEvents({ usage, ...this.#decode(answer) });
    const frames = events.flatMap((event) => encoder.push(event));
    return [...frames, ...encoder.end({ kind: "complete" })];
  }

  /** The result is in the upstream's protocol; `answer` converts it. */
  answerFromFrames(frames: readonly SseEvent[]): JsonObject | undefined {
    const { upstream } = this.#facts;
    const response = collectFrames(upstream, frames);
    if (!response || response.finish.reason === "error") return undefined;
    const answer = upstream.encodeResponse(response, emptyContext(response));
    // Not every count of a stream has a place in a whole answer, such as the vendor's searches.
    this.#lastCollected = { answer, usage: response.usage };
    return answer;
  }

  #decode(answer: JsonObject): CanonicalResponse {
    if (this.#lastDecoded?.answer !== answer)
      this.#lastDecoded = { answer, response: ended(this.#upstream.decodeResponse(answer)) };
    return this.#lastDecoded.response;
  }
}

/** A request as sent to an upstream of another protocol, and the codec and context to read its answer. */
interface ConvertedRequest extends Pick<Route, "body" | "notes" | "askedOutputTokens"> {
  readonly upstream: UpstreamCodec;
  readonly context: AnswerContext;
}

/** @throws GatewayError as `routeOf` */
function convertRequest(given: RouteInput): ConvertedRequest {
  const { caller, body: callerBody } = given;
  const direct = caller === given.upstream ? fitDirect(given) : undefined;
  const input = { ...given, body: direct?.body ?? callerBody };
  const request = decodeCallerRequest(input);
  const { fitted, notes, upstream } = prepare(request, input);
  const body = upstream.encodeRequest(fitted, input.upstreamModel);
  const added = upstream.describeAddedText?.(body);
  const addition: Note[] =
    added === undefined
      ? []
      : [{ param: messagesField[caller.name], kind: "rewritten", detail: added }];
  return {
    body,
    notes: inRequestOrder([...(direct?.notes ?? []), ...notes, ...addition], callerBody),
    askedOutputTokens: fitted.maxOutputTokens,
    upstream,
    context: answerContext(input, request),
  };
}

/**
 * Returns an answer with its end. Content without any finish reason counts as an answer that stopped. A reason that is an error stays one,
 * as does the end of an empty answer: callers of other protocols would take them for a normal end.
 */
function ended(response: CanonicalResponse): CanonicalResponse {
  const { finish, content } = response;
  const isStop = finish.reason === "error" && finish.raw === undefined && content.length > 0;
  return isStop ? { ...response, finish: { reason: "stop" } } : response;
}

/** Encodes a request for an upstream of another protocol, if no answer to it will be read. @throws as `createRoute` */
export function convertedBody(request: CanonicalRequest, input: RouteInput): JsonObject {
  const { fitted, upstream } = prepare(request, input);
  return upstream.encodeRequest(fitted, input.upstreamModel);
}

/** A context for an answer that only the gateway reads, on its way to the caller's protocol. */
function emptyContext(response: CanonicalResponse): AnswerContext {
  const { id, createdAt } = response;
  const request = { protocol: "chat", model: "", stream: false, native: [], names: {} } as const;
  return { model: "", id, createdAt, request, inputEstimate: 0 };
}
