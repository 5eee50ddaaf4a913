/**
 * The way of one call from the caller's protocol to the upstream's and back: direct where both are the same,
 * converted where they are not. The calls layer knows routes, not codecs. TXT-05 to TXT-10.
 */
import { exactly } from "../base/exact-numbers.ts";
import type { Note } from "../base/notes.ts";
import type { SseEvent } from "../base/sse.ts";
import type { Usage } from "../base/usage.ts";
import type { CanonicalRequest, JsonObject } from "./canonical/request.ts";
import type { AnswerContext, StreamTap, StreamWishes, UpstreamCodec, WireError } from "./codec.ts";
import { withDropped } from "./dropped-params.ts";
import { fitOwn, type Own, type OwnInput } from "./fit-own.ts";
import { collectFrames } from "./whole.ts";

/** What the upstream's vendor has otherwise than its protocol says. Absent: nothing. */
interface VendorWays {
  /** Members of a chat request's messages that it refuses. */
  readonly refusedMembers?: readonly string[] | undefined;
  /** It refuses a form for the answer beside tools in chat. */
  readonly formatOrTools?: boolean | undefined;
  /** It has custom tools in chat. Absent: they go to it as functions. */
  readonly customTools?: true | undefined;
  /** What its chat calls the maximum of output tokens at models that reason. */
  readonly maximumField?: "max_completion_tokens" | undefined;
  /** It reads no media at addresses in messages. */
  readonly inlineMedia?: true | undefined;
  /** It refuses `strict` in messages, but of models whose record says that answers are held to a schema. */
  readonly strictByRecord?: true | undefined;
}

/** What a route is made from. */
export interface RouteInput extends OwnInput, VendorWays {
  readonly upstream: UpstreamCodec;
  /** The model as the caller reads it. */
  readonly model: string;
  readonly inputEstimate: number;
  /** The gateway's id of the call. */
  readonly id: string;
  /** Unix seconds. */
  readonly createdAt: number;
}

/** The same without the body, as long as the answer takes. */
export type RouteFacts = Omit<RouteInput, "body">;

/** Reads the caller's body, again each time. */
export type Said = () => JsonObject;

export interface Route {
  readonly kind: "direct" | "converted";
  /** The body for the upstream; made again where it is asked for after `discardDerived`. */
  readonly body: JsonObject;
  /** Frees the body, once it is sent. */
  discardDerived(): void;
  /** What was dropped or rewritten on the way there. */
  readonly notes: readonly Note[];
  /** The maximum of output tokens that the upstream is asked for; undefined where it is asked for none. */
  readonly askedOutputTokens: number | undefined;
  /** Why a body that came as a success is no answer (T60). */
  failure(answer: JsonObject): WireError | undefined;
  /** Whether the vendor still works at what it answered with: nothing of it is told, or counted, yet. */
  isUnderWay(answer: JsonObject): boolean;
  /** What a whole answer of the upstream used, and the text it holds. */
  usage(answer: JsonObject): Usage | undefined;
  text(answer: JsonObject): string;
  /** The upstream's whole answer as the caller gets it. `usage` is what was billed, for answers that tell none. */
  answer(answer: JsonObject, droppedParams: readonly string[], usage: Usage): JsonObject;
  /** A stream in passing. */
  tap(): StreamTap;
  /** A whole answer as the stream its caller asked for (T14), and a stream as the whole answer (T15; undefined: none). */
  framesOf(answer: JsonObject, usage: Usage): SseEvent[];
  wholeOf(frames: readonly SseEvent[]): JsonObject | undefined;
}

/** The same protocol on both sides: the caller's body goes on as it is but for what must change. */
export class DirectRoute implements Route {
  readonly kind = "direct";
  readonly notes: readonly Note[];
  readonly askedOutputTokens: number | undefined;
  readonly #facts: RouteFacts;
  readonly #said: Said;
  readonly #streaming: StreamWishes;
  #body: JsonObject | undefined;
  /** The last whole answer that the upstream streamed without telling its usage. */
  #untold: JsonObject | undefined;

  /** @throws GatewayError as `fitOwn` */
  constructor(facts: RouteFacts, said: Said) {
    this.#facts = facts;
    this.#said = said;
    const input = this.#input();
    const { n, stream_options, background } = input.body;
    const { body, notes, askedOutputTokens } = sentDirectly(input);
    this.#body = body;
    this.notes = notes;
    this.askedOutputTokens = askedOutputTokens;
    this.#streaming = { n, stream_options, background };
  }

  get body(): JsonObject {
    return (this.#body ??= sentDirectly(this.#input()).body);
  }

  discardDerived(): void {
    this.#body = undefined;
  }

  failure(answer: JsonObject): WireError | undefined {
    return this.#facts.caller.direct.failure(answer);
  }

  isUnderWay(answer: JsonObject): boolean {
    return this.#facts.caller.direct.isUnderWay?.(answer) === true;
  }

  usage(answer: JsonObject): Usage | undefined {
    return this.#facts.caller.direct.usage(answer);
  }

  text(answer: JsonObject): string {
    return this.#facts.caller.direct.text(answer);
  }

  answer(answer: JsonObject, droppedParams: readonly string[], usage: Usage): JsonObject {
    const { caller, model } = this.#facts;
    // A vendor tells a stream's usage where it was asked to, and a whole answer was asked for: what is billed stands in.
    const exact = exactly(answer);
    const whole = answer === this.#untold ? caller.direct.withUsage(exact, usage) : exact;
    return withDropped(caller.direct.answer(whole, model), droppedParams);
  }

  tap(): StreamTap {
    const { caller, model, inputEstimate } = this.#facts;
    return caller.direct.tap({ model, request: this.#streaming, inputEstimate });
  }

  framesOf(answer: JsonObject, usage: Usage): SseEvent[] {
    const { direct } = this.#facts.caller;
    const exact = exactly(answer);
    const told = direct.usage(answer) ? exact : direct.withUsage(exact, usage);
    return direct.framesOf(told, this.#answerContext());
  }

  wholeOf(frames: readonly SseEvent[]): JsonObject | undefined {
    const { caller } = this.#facts;
    const told = caller.direct.wholeOf(frames) ?? this.#collected(frames);
    if (told && !caller.direct.usage(told)) this.#untold = told;
    return told;
  }

  /** As the canonical form has it. */
  #collected(frames: readonly SseEvent[]): JsonObject | undefined {
    const { caller } = this.#facts;
    const collected = collectFrames(caller, frames);
    return collected && caller.encodeResponse(collected, this.#answerContext());
  }

  #input(): RouteInput {
    return { ...this.#facts, body: this.#said() };
  }

  /** The request is read again, because few answers need it. */
  #answerContext(): AnswerContext {
    const input = this.#input();
    return answerContext(input, decoded(input));
  }
}

/** The caller's body as its own protocol's upstream gets it. @throws GatewayError as `fitOwn` */
function sentDirectly(input: RouteInput): Own {
  const { caller, upstreamModel: model, stream, refusedMembers } = input;
  const own = fitOwn(input);
  const { body, notes } = caller.direct.request(own.body, { model, stream, refusedMembers });
  return { ...own, body, notes: own.notes.length === 0 ? notes : [...own.notes, ...notes] };
}

/** The caller's request in the canonical form. @throws GatewayError as the codec does */
export const decoded = ({ caller, body, requestedModel: model, stream }: RouteInput) =>
  caller.decodeRequest(body, { model, stream });

/** What an answer needs to know beside its content. It keeps nothing of the request that its answer does not repeat. */
export function answerContext(
  { caller, model, id, createdAt, inputEstimate }: RouteInput,
  { messages: _said, ...request }: CanonicalRequest,
): AnswerContext {
  const nothing = { tools: undefined, outputFormat: undefined, native: [] };
  const repeated = caller.echoes === true ? request : { ...request, ...nothing };
  return { model, id, createdAt, inputEstimate, request: repeated };
}
