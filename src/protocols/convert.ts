/**
 * Any protocol to any other: decode, fit, tidy, name the tools, encode; and back. The only file that holds two codecs.
 * Requirements: CONV (CONV, TXT-05, STREAM-03 to STREAM-05).
 */
import type { GatewayError } from "../base/errors.ts";
import { inRequestOrder, type Note } from "../base/notes.ts";
import type { SseEvent } from "../base/sse.ts";
import type { Usage } from "../base/usage.ts";
import { explode } from "./canonical/collect.ts";
import type { CanonicalEvent } from "./canonical/events.ts";
import type { CanonicalRequest, JsonObject } from "./canonical/request.ts";
import type { CanonicalResponse } from "./canonical/response.ts";
import type { AnswerContext, Codec, StreamTap, WireError } from "./codec.ts";
import { withDropped } from "./dropped-params.ts";
import { fit } from "./fit.ts";
import { PassThroughRoute, type Route, type RouteInput } from "./route.ts";
import { viewOf } from "./stream-tap.ts";
import { createTextLog } from "./text-log.ts";
import { tidy } from "./tidy.ts";
import { renameTools } from "./tool-names.ts";
import { collectFrames } from "./whole.ts";

/**
 * The route of one call: direct between the same protocol, unless conversion is forced (tests do, to show that the
 * canonical form loses nothing), else converted. @throws GatewayError as `convertedRoute` does
 */
export function createRoute(input: RouteInput, forceConversion: boolean = false): Route {
  return input.caller === input.upstream && !forceConversion
    ? new PassThroughRoute(input)
    : convertedRoute(input);
}

/**
 * A route through the canonical form.
 * @throws GatewayError the caller's mistake, or `unsupported_content` for what the upstream cannot take.
 */
function convertedRoute(input: RouteInput): Route {
  const { caller, body } = input;
  const request = caller.decodeRequest(body, { model: input.requestedModel, stream: input.stream });
  const { fitted, notes, upstream } = prepare(request, input);
  const context: AnswerContext = { ...input, request };
  const { direct } = upstream;
  const encode = (response: CanonicalResponse, usage: Usage): JsonObject =>
    caller.encodeResponse({ ...response, usage: response.usage ?? usage }, context);
  return {
    kind: "converted",
    body: upstream.encodeRequest(fitted, input.upstreamModel),
    notes: inRequestOrder(notes, body),
    askedOutputTokens: fitted.maxOutputTokens,
    failure: (answer) => direct.failure(answer),
    usage: (answer) => direct.usage(answer),
    text: (answer) => direct.text(answer),
    answer: (answer, droppedParams, usage) =>
      withDropped(encode(upstream.decodeResponse(answer), usage), droppedParams),
    tap: () => convertedTap(upstream, caller, context),
    framesOf(answer) {
      const encoder = caller.encodeStream(context);
      const frames = explode(upstream.decodeResponse(answer)).flatMap((event) =>
        encoder.push(event),
      );
      return [...frames, ...encoder.end({ kind: "complete" })];
    },
    // Still the upstream's own words: `answer` reads them.
    wholeOf: (frames) => wholeOf(input.upstream, frames),
  };
}

/** What a request has become for its target, what that took, and the codec that reads the answer. */
interface Prepared {
  readonly fitted: CanonicalRequest;
  readonly notes: readonly Note[];
  readonly upstream: Codec;
}

/** On its own protocol a request is neither repaired nor fitted: that is how the canonical form is shown to lose nothing. */
function prepare(
  request: CanonicalRequest,
  { caller, upstream, body, upstreamModel, stream, maxOutputTokens }: RouteInput,
): Prepared {
  if (caller === upstream) {
    return {
      fitted: request,
      upstream,
      notes: upstream.direct.request(body, { model: upstreamModel, stream }).notes,
    };
  }
  const fitted = fit(request, { limits: upstream.limits, maxOutputTokens });
  const tidied = tidy(fitted.request, upstream.limits);
  const renamed = renameTools(tidied.request, upstream);
  return {
    fitted: renamed.request,
    notes: [...fitted.notes, ...tidied.notes, ...renamed.notes],
    upstream: renamed.upstream,
  };
}

/** A complete stream as a whole answer of the upstream's own protocol; undefined when it broke off. */
function wholeOf(upstream: Codec, frames: readonly SseEvent[]): JsonObject | undefined {
  const response = collectFrames(upstream, frames);
  return response && upstream.encodeResponse(response, emptyContext(response));
}

/** For an answer that only the gateway reads, on its way to the caller's protocol. */
function emptyContext(response: CanonicalResponse): AnswerContext {
  const { protocol, id, createdAt } = response;
  const request: CanonicalRequest = {
    protocol,
    model: "",
    stream: false,
    messages: [],
    native: [],
    names: {},
  };
  return { model: "", id, createdAt, request, inputEstimate: 0 };
}

/** What a converted stream has shown so far. */
interface Seen {
  usage: Usage | undefined;
  ended: boolean;
  error: WireError | undefined;
}

/**
 * A stream in passing between two protocols. The upstream's finish is kept back until `release`, with the last usage
 * told by then: some protocols tell it before the finish and some after.
 */
function convertedTap(upstream: Codec, caller: Codec, context: AnswerContext): StreamTap {
  const decoder = upstream.decodeStream();
  const encoder = caller.encodeStream(context);
  const text = createTextLog();
  const seen: Seen = { usage: undefined, ended: false, error: undefined };
  let finish: CanonicalEvent | undefined;

  const take = (events: readonly CanonicalEvent[]): SseEvent[] => {
    const frames: SseEvent[] = [];
    for (const event of events) {
      observe(event, seen, (piece) => text.add(piece));
      if (event.type === "finish") finish = event;
      else if (event.type !== "usage" && event.type !== "error")
        frames.push(...encoder.push(event));
    }
    return frames;
  };
  return {
    push: (event) => take(decoder.push(event)),
    end: () => take(decoder.end({ kind: "complete" })),
    release(usage) {
      // An upstream that has said why it stopped need not have closed.
      const rest = finish ? [] : take(decoder.end({ kind: "complete" }));
      const told = seen.usage ?? usage;
      const last: CanonicalEvent[] = told ? [{ type: "usage", usage: told }] : [];
      if (finish) last.push(finish);
      return [
        ...rest,
        ...last.flatMap((event) => encoder.push(event)),
        ...encoder.end({ kind: "complete" }),
      ];
    },
    fail: (error) => [
      ...encoder.push(errorEvent(error)),
      ...encoder.end({ kind: "cut", message: error.message }),
    ],
    seen: viewOf({
      usage: () => seen.usage,
      text: () => text.read(),
      ended: () => seen.ended || (seen.error === undefined && decoder.ending?.() === true),
      error: () => seen.error,
    }),
  };
}

const errorEvent = (error: GatewayError): CanonicalEvent => ({
  type: "error",
  message: error.message,
  code: error.code,
});

function observe(event: CanonicalEvent, seen: Seen, add: (text: string) => void): void {
  switch (event.type) {
    case "text_delta":
    case "refusal_delta":
    case "reasoning_delta":
      add(event.text);
      return;
    case "tool_call_delta":
      add(event.arguments);
      return;
    case "usage":
      seen.usage = event.usage;
      return;
    case "finish":
      seen.ended = true;
      return;
    case "error":
      seen.error = { message: event.message, code: event.code };
      return;
    default:
  }
}
