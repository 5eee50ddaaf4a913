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
import type { CanonicalResponse, Finish } from "./canonical/response.ts";
import type {
  AnswerContext,
  Codec,
  StreamSeen,
  StreamTap,
  Transducer,
  UpstreamCodec,
  WireError,
} from "./codec.ts";
import { withDropped } from "./dropped-params.ts";
import { refusePrefill } from "./fit-abilities.ts";
import { fitOwn } from "./fit-own.ts";
import { fit } from "./fit.ts";
import { askForJson } from "./json-word.ts";
import type { Limits } from "./limits.ts";
import { answerContext, decoded, PassThroughRoute, type Route, type RouteInput } from "./route.ts";
import { createTextLog } from "./text-log.ts";
import { containerOf, tidy } from "./tidy.ts";
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
function convertedRoute(given: RouteInput): Route {
  // What the closures below share lives as long as the answer: of the request there is only `body` in it, until its rest.
  const { caller, upstream: asked } = given;
  const { upstream, context, notes, askedOutputTokens, body: sent } = converted(given);
  const { direct } = upstream;
  let body: JsonObject | undefined = sent;
  const decode = decodeOnce(upstream);
  const encode = (response: CanonicalResponse, usage: Usage): JsonObject =>
    caller.encodeResponse({ ...response, usage: response.usage ?? usage }, context);
  return {
    kind: "converted",
    get body() {
      return (body ??= converted(given).body);
    },
    rest: () => void (body = undefined),
    notes,
    askedOutputTokens,
    failure: (answer) => direct.failure(answer) ?? failureIn(decode(answer)),
    isUnderWay: () => false,
    usage: (answer) => direct.usage(answer),
    text: (answer) => direct.text(answer),
    answer: (answer, droppedParams, usage) =>
      withDropped(encode(decode(answer), usage), droppedParams),
    tap: () => new ConvertedTap(upstream, caller, context),
    framesOf(answer, usage) {
      const encoder = caller.encodeStream(context);
      const events = explode({ usage, ...decode(answer) });
      const frames = events.flatMap((event) => encoder.push(event));
      return [...frames, ...encoder.end({ kind: "complete" })];
    },
    // Still the upstream's own words: `answer` reads them.
    wholeOf: (frames) => wholeOf(asked, frames),
  };
}

/** A request as it is sent to an upstream of another protocol, and what its answer is read with. */
interface Converted extends Pick<Route, "body" | "notes" | "askedOutputTokens"> {
  readonly upstream: UpstreamCodec;
  readonly context: AnswerContext;
}

/** @throws GatewayError as `convertedRoute` */
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

/** An answer is asked whether it is one before it is written: it is read for both. */
function decodeOnce(upstream: UpstreamCodec): (answer: JsonObject) => CanonicalResponse {
  let last: { readonly answer: JsonObject; readonly response: CanonicalResponse } | undefined;
  return (answer) => {
    if (last?.answer !== answer) last = { answer, response: upstream.decodeResponse(answer) };
    return last.response;
  };
}

/**
 * Why an answer that ended in an error is none: a call that cannot be read, or nothing at all. Callers of other protocols have no
 * word for that, and would take it for the end of an answer. What was said without any reason counts as said.
 */
function failureIn({ finish, content }: CanonicalResponse): WireError | undefined {
  const isNone = finish.raw !== undefined || content.length === 0;
  return finish.reason === "error" && isNone ? errorOf(finish) : undefined;
}

const errorOf = ({ raw = "no reason", explanation = raw }: Finish): WireError => ({
  message: `The upstream ended the answer with an error: ${explanation}`,
  isModels: true,
});

/** A request as an upstream of another protocol is asked it, for whoever wants no answer to it. @throws as `createRoute` */
export function convertedBody(request: CanonicalRequest, input: RouteInput): JsonObject {
  const { fitted, upstream } = prepare(request, input);
  return upstream.encodeRequest(fitted, input.upstreamModel);
}

/** What a request has become for its target, what that took, and the codec that reads the answer. */
interface Prepared {
  readonly fitted: CanonicalRequest;
  readonly notes: readonly Note[];
  readonly upstream: UpstreamCodec;
}

/** On its own protocol a request is neither repaired nor fitted: that is how the canonical form is shown to lose nothing. */
function prepare(request: CanonicalRequest, input: RouteInput): Prepared {
  const { caller, upstream: any, body, upstreamModel, stream, maxOutputTokens, abilities } = input;
  if (caller === any) {
    return {
      fitted: request,
      upstream: caller,
      notes: caller.direct.request(body, { model: upstreamModel, stream }).notes,
    };
  }
  const upstream = any.forModel?.(upstreamModel) ?? any;
  const limits = limitsOf(upstream, input);
  const fitted = fit(request, { limits, maxOutputTokens, abilities });
  const tidied = tidy(fitted.request, limits);
  if (abilities) refusePrefill(tidied.request, abilities);
  const asked = askForJson(tidied.request, limits);
  const renamed = renameTools(asked.request, upstream);
  return {
    fitted: renamed.request,
    notes: [...fitted.notes, ...tidied.notes, ...asked.notes, ...renamed.notes],
    upstream: renamed.upstream,
  };
}

/** What an upstream's protocol can carry, without earlier reasoning where this one refuses the member that it would stand in. */
const limitsOf = ({ limits }: UpstreamCodec, { refusedMembers = [] }: RouteInput): Limits =>
  limits.protocol === "chat" && refusedMembers.includes("reasoning_content")
    ? { ...limits, unsignedReasoning: false }
    : limits;

/** A complete stream as a whole answer of the upstream's own protocol; undefined when it broke off. */
function wholeOf(upstream: UpstreamCodec, frames: readonly SseEvent[]): JsonObject | undefined {
  const response = collectFrames(upstream, frames);
  if (!response || response.finish.reason === "error") return undefined;
  return upstream.encodeResponse(response, emptyContext(response));
}

/** For an answer that only the gateway reads, on its way to the caller's protocol. */
function emptyContext(response: CanonicalResponse): AnswerContext {
  const { id, createdAt } = response;
  const request = { protocol: "chat", model: "", stream: false, native: [], names: {} } as const;
  return { model: "", id, createdAt, request, inputEstimate: 0 };
}

/**
 * A stream in passing between two protocols. The upstream's finish is kept back until `release`, with the last usage
 * reported by then: some protocols report it before the finish and some after.
 */
class ConvertedTap implements StreamTap, StreamSeen {
  error: WireError | undefined = undefined;
  readonly #decoder: Transducer<SseEvent, CanonicalEvent>;
  readonly #encoder: Transducer<CanonicalEvent, SseEvent>;
  readonly #log = createTextLog();
  #finish: CanonicalEvent | undefined;
  #told: Extract<CanonicalEvent, { type: "usage" }> | undefined;

  constructor(upstream: UpstreamCodec, caller: Codec, context: AnswerContext) {
    this.#decoder = upstream.decodeStream();
    this.#encoder = caller.encodeStream(context);
  }

  get seen(): StreamSeen {
    return this;
  }

  get text(): string {
    return this.#log.read();
  }

  get usage(): Usage | undefined {
    return this.#told?.isSoFar === true && this.ended ? undefined : this.#told?.usage;
  }

  /** An upstream that has said why it stopped need not have closed. */
  get ended(): boolean {
    if (this.#finish) return true;
    return this.error === undefined && this.#decoder.ending?.() === true;
  }

  push(event: SseEvent): SseEvent[] {
    return this.#take(this.#decoder.push(event));
  }

  end(): SseEvent[] {
    return this.#take(this.#decoder.end({ kind: "complete" }));
  }

  release(usage?: Usage): SseEvent[] {
    const frames = this.#finish ? [] : this.end();
    const final = this.usage ?? usage;
    if (final) frames.push(...this.#encoder.push({ type: "usage", usage: final }));
    if (this.#finish) frames.push(...this.#encoder.push(this.#finish));
    return [...frames, ...this.#encoder.end({ kind: "complete" })];
  }

  fail({ message, code }: GatewayError): SseEvent[] {
    return [
      ...this.#encoder.push({ type: "error", message, code }),
      ...this.#encoder.end({ kind: "cut", message }),
    ];
  }

  #take(events: readonly CanonicalEvent[]): SseEvent[] {
    const frames: SseEvent[] = [];
    for (const event of events) {
      if (event.type === "finish" && event.finish.reason === "error")
        this.error = errorOf(event.finish);
      else if (event.type === "finish") this.#finish = event;
      else if (event.type === "usage") this.#told = event;
      else if (event.type === "error") this.error = { message: event.message, code: event.code };
      else {
        if ("text" in event) this.#log.add(event.text);
        else if ("arguments" in event) this.#log.add(event.arguments);
        for (const frame of this.#encoder.push(event)) frames.push(frame);
      }
    }
    return frames;
  }
}
