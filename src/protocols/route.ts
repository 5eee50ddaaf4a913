/**
 * The route of one call from the caller's protocol to the upstream's and back: direct if both are equal, otherwise converted. The calls
 * layer knows routes, not codecs. TXT-05 to TXT-10.
 */
import { exactTwinOf } from "../base/exact-numbers.ts";
import type { Note } from "../base/notes.ts";
import type { SseEvent } from "../base/sse.ts";
import { tokenCount, type Usage } from "../base/usage.ts";
import type { CanonicalRequest, JsonObject, MaximumField } from "./canonical/request.ts";
import type {
  AnswerContext,
  StreamTap,
  AnswerSettings,
  UpstreamCodec,
  VendorOfModel,
  WireError,
} from "./codec.ts";
import { withDropped } from "./dropped-params.ts";
import { fitDirect, type DirectFit, type DirectFitInput } from "./fit-direct.ts";
import { collectFrames } from "./collect-frames.ts";

/** Differences of the upstream's vendor from its protocol. Absent: none. */
interface VendorQuirks extends VendorOfModel {
  /** Members of chat messages that the vendor refuses. */
  readonly refusedMembers?: readonly string[] | undefined;
  /** True if the vendor refuses an output format beside tools in chat. */
  readonly formatOrTools?: boolean | undefined;
  /** True if the vendor refuses `null` as the content of a chat message, also beside calls. */
  readonly refusesNullContent?: boolean | undefined;
  /** True if the vendor refuses the role `developer` in chat. */
  readonly refusesDeveloper?: boolean | undefined;
  /** Matches the vendor's models that refuse to answer as a whole: they are asked for a stream. */
  readonly streamsOnly?: RegExp | undefined;
  /** True if the vendor refuses a tool choice that names a tool in chat. */
  readonly refusesNamed?: boolean | undefined;
  /** True if the vendor has custom tools in chat. Absent: they are sent as functions. */
  readonly customTools?: true | undefined;
  /** True if the vendor refuses a choice among allowed tools in chat. */
  readonly refusesAllowed?: boolean | undefined;
  /** The only chat name for the maximum of output tokens that the vendor reads. Absent: it reads both. */
  readonly onlyMaximumField?: MaximumField | undefined;
  /** The same for its reasoning models. */
  readonly maximumField?: MaximumField | undefined;
  /** True if the vendor fetches no media from addresses in messages. */
  readonly inlineMedia?: true | undefined;
  /** True if the vendor refuses `strict` in messages, except for models whose record says that they enforce schemas. */
  readonly strictByRecord?: true | undefined;
  /** True if the vendor refuses what another vendor put into the history: long ids, and reasoning without its own proof. */
  readonly checksHistory?: true | undefined;
  /** True if a session that the caller names elsewhere goes to the vendor as `prompt_cache_key`. */
  readonly sessionKeys?: boolean | undefined;
}

/** The data that a route is made from. */
export interface RouteInput extends DirectFitInput, VendorQuirks {
  readonly upstream: UpstreamCodec;
  /** The model's name for the caller. */
  readonly model: string;
  /** True if a conversion replaces `prompt_cache_key` by cache markers (session-markers.ts). */
  readonly marksSessions?: boolean | undefined;
  /** True if conversations without a key get them too. */
  readonly marksConversations?: boolean | undefined;
  readonly inputEstimate: number;
  /** The gateway's id of the call. */
  readonly id: string;
  /** Unix seconds. */
  readonly createdAt: number;
}

/** The same without the body, kept until the answer ends. */
export type RouteFacts = Omit<RouteInput, "body">;

/** Parses the caller's body, again on each call. */
export type ReadBody = () => JsonObject;

export interface Route {
  readonly kind: "direct" | "converted";
  /** The body for the upstream; rebuilt if it is read after `discardDerived`. */
  readonly body: JsonObject;
  /** Frees the body once it is sent. */
  discardDerived(): void;
  /** The parameters that were dropped or rewritten for the upstream. */
  readonly notes: readonly Note[];
  /** The maximum of output tokens in the upstream's request; undefined if it has none. */
  readonly askedOutputTokens: number | undefined;
  /** True if the upstream is asked for a stream. Some vendors have only the form that the caller did not ask for (T14, T15). */
  readonly streams: boolean;
  /** Returns why a body with a success status is no answer (T60); undefined for an answer. */
  failure(answer: JsonObject): WireError | undefined;
  /** True if the vendor is still working on this answer: it reports no content and no usage yet. */
  isInProgress(answer: JsonObject): boolean;
  /** Returns the usage, the text and the number of pictures of an upstream's whole answer. */
  usage(answer: JsonObject): Usage | undefined;
  text(answer: JsonObject): string;
  pictures(answer: JsonObject): number;
  /** Converts the upstream's whole answer for the caller. `usage` is the billed usage, for answers that report none. */
  answer(answer: JsonObject, droppedParams: readonly string[], usage: Usage): JsonObject;
  /** Creates the tap for a stream. */
  tap(): StreamTap;
  /** Converts a whole answer to the stream that the caller asked for (T14), and a stream to the whole answer (T15; undefined: none). */
  framesOf(answer: JsonObject, usage: Usage): SseEvent[];
  answerFromFrames(frames: readonly SseEvent[]): JsonObject | undefined;
}

/** The same protocol on both sides: the caller's body passes with only the necessary changes. */
export class DirectRoute implements Route {
  readonly kind = "direct";
  readonly notes: readonly Note[];
  readonly askedOutputTokens: number | undefined;
  readonly streams: boolean;
  readonly #facts: RouteFacts;
  readonly #readBody: ReadBody;
  readonly #answerSettings: AnswerSettings;
  #body: JsonObject | undefined;
  /** The last whole answer that the upstream streamed without reporting usage. */
  #answerWithoutUsage: JsonObject | undefined;

  /** @throws GatewayError as `fitDirect` */
  constructor(facts: RouteFacts, readBody: ReadBody) {
    this.#facts = mustStream(facts) ? { ...facts, stream: true } : facts;
    this.streams = this.#facts.stream;
    this.#readBody = readBody;
    const input = this.#input();
    const { n, stream_options, tool_choice, background } = input.body;
    const { body, notes, askedOutputTokens } = directUpstreamRequest(input);
    this.#body = body;
    this.notes = notes;
    this.askedOutputTokens = askedOutputTokens;
    this.#answerSettings = { n, stream_options, tool_choice, background };
  }

  get body(): JsonObject {
    return (this.#body ??= directUpstreamRequest(this.#input()).body);
  }

  discardDerived(): void {
    this.#body = undefined;
  }

  failure(answer: JsonObject): WireError | undefined {
    return this.#facts.caller.direct.failure(answer);
  }

  isInProgress(answer: JsonObject): boolean {
    return this.#facts.caller.direct.isInProgress?.(answer) === true;
  }

  usage(answer: JsonObject): Usage | undefined {
    return this.#facts.caller.direct.usage(answer);
  }

  text(answer: JsonObject): string {
    return this.#facts.caller.direct.text(answer);
  }

  pictures(answer: JsonObject): number {
    return this.#facts.caller.direct.pictures?.(answer) ?? 0;
  }

  answer(answer: JsonObject, droppedParams: readonly string[], usage: Usage): JsonObject {
    const { caller, model, createdAt } = this.#facts;
    const { direct } = caller;
    // Vendors report usage in a stream only on request. If a whole answer was requested but streamed, the billed usage is inserted.
    const exact = exactTwinOf(answer);
    const isReplaced =
      answer === this.#answerWithoutUsage ||
      ((direct.alwaysHasUsage === true || direct.misreportsUsage(answer)) &&
        direct.usage(answer) === undefined);
    const whole = isReplaced ? direct.withUsage(exact, usage) : exact;
    const told = direct.answer(whole, model, this.#answerSettings, createdAt);
    return withDropped(told, droppedParams);
  }

  tap(): StreamTap {
    const { caller, model, inputEstimate, id, createdAt } = this.#facts;
    const request = this.#answerSettings;
    return caller.direct.tap({ model, request, inputEstimate, id, createdAt });
  }

  framesOf(answer: JsonObject, usage: Usage): SseEvent[] {
    const { direct } = this.#facts.caller;
    const exact = exactTwinOf(answer);
    const told = direct.usage(answer) ? exact : direct.withUsage(exact, usage);
    return direct.framesOf(told, this.#answerContext());
  }

  answerFromFrames(frames: readonly SseEvent[]): JsonObject | undefined {
    const { caller } = this.#facts;
    const told = caller.direct.answerFromFrames(frames) ?? this.#collectCanonical(frames);
    if (told && !caller.direct.usage(told)) this.#answerWithoutUsage = told;
    return told;
  }

  /** Collects the answer by the canonical form. It has one choice only: of several, the others would be lost. */
  #collectCanonical(frames: readonly SseEvent[]): JsonObject | undefined {
    if (tokenCount(this.#answerSettings.n, 1) > 1) return undefined;
    const { caller } = this.#facts;
    const collected = collectFrames(caller, frames);
    return collected && caller.encodeResponse(collected, this.#answerContext());
  }

  #input(): RouteInput {
    return { ...this.#facts, body: this.#readBody() };
  }

  /** Decodes the request again, because few answers need it. */
  #answerContext(): AnswerContext {
    const input = this.#input();
    return answerContext(input, decodeCallerRequest(input));
  }
}

/** Returns the caller's body for an upstream of the same protocol. @throws GatewayError as `fitDirect` */
function directUpstreamRequest(input: RouteInput): DirectFit {
  const { caller, upstreamModel: model, stream, refusedMembers, refusesNullContent } = input;
  const direct = fitDirect(input);
  const maximumField = maximumFieldOf(input);
  const { refusesNamed, refusesDeveloper, checksHistory } = input;
  const neverReasons = input.abilities?.reasoning?.kind === "none";
  const members = { refusedMembers, refusesNullContent, refusesDeveloper };
  const quirks = { ...members, refusesNamed, checksHistory, neverReasons };
  const upstream = { model, stream, ...quirks, maximumField };
  const { body, notes } = caller.direct.request(direct.body, upstream);
  return {
    ...direct,
    body,
    notes: direct.notes.length === 0 ? notes : [...direct.notes, ...notes],
  };
}

/** True if the upstream answers only by a stream, and the caller wants a whole answer. */
export const mustStream = ({ stream, streamsOnly, upstreamModel }: RouteFacts): boolean =>
  !stream && streamsOnly?.test(upstreamModel) === true;

/** The only name that the upstream reads for the maximum of output tokens; undefined if it reads both. */
export function maximumFieldOf(input: RouteInput): MaximumField | undefined {
  const reasons = (input.abilities?.reasoning?.kind ?? "none") !== "none";
  return input.onlyMaximumField ?? (reasons ? input.maximumField : undefined);
}

/** Decodes the caller's request into the canonical form. @throws GatewayError as the codec does */
export const decodeCallerRequest = ({ caller, body, requestedModel: model, stream }: RouteInput) =>
  caller.decodeRequest(body, { model, stream });

/** Returns the data that an answer needs beside its content. It keeps only the parts of the request that the answer repeats. */
export function answerContext(
  { caller, model, id, createdAt, inputEstimate }: RouteInput,
  { messages: _said, ...request }: CanonicalRequest,
): AnswerContext {
  const nothing = { tools: undefined, outputFormat: undefined, native: [] };
  const repeated = caller.echoesRequest === true ? request : { ...request, ...nothing };
  return { model, id, createdAt, inputEstimate, request: repeated };
}
