/**
 * Interface of codecs: a codec translates one text protocol to and from the canonical form. Nothing here does I/O, reads a clock or knows
 * HTTP. Requirements: TXT.
 */
import type { GatewayError } from "../base/errors.ts";
import type { Note } from "../base/notes.ts";
import type { SseEvent } from "../base/sse.ts";
import type { ToolUses, Usage } from "../base/usage.ts";
import type { CanonicalEvent } from "./canonical/events.ts";
import type {
  CanonicalRequest,
  JsonObject,
  MaximumField,
  ProtocolName,
  UpstreamProtocol,
} from "./canonical/request.ts";
import type { CanonicalResponse } from "./canonical/response.ts";
import type { Limits } from "./limits.ts";
import type { TextRoom } from "./text-log.ts";

/** Why a stream ends: the upstream completed it, or it was cut. */
export type EndReason =
  | { readonly kind: "complete" }
  | { readonly kind: "cut"; readonly message: string };

/** A stream transform without I/O. `end` closes open blocks, so that a failed upstream still yields a legal stream. */
export interface Transducer<In, Out> {
  push(input: In): Out[];
  end(why: EndReason): Out[];
  /** Decoders only: true if the upstream has sent its finish reason and only the close is missing. */
  ending?(): boolean;
  /** Decoders only: see `StreamSeen.isOpening`. Absent: false. */
  isOpening?(): boolean;
  /** Decoders only: the output that has arrived but is emitted later, as part of its block. Absent: none. */
  held?(): string;
}

/** Creates a transducer and hides its private state. A codec supplies `take`, which changes the state of one stream, and `finish`. */
export function transducer<State, In, Out>(
  state: State,
  take: (state: State, input: In) => Out[],
  finish: (state: State, why: EndReason) => Out[],
  ending: (state: State) => boolean = () => false,
): Transducer<In, Out> {
  let ended = false;
  return {
    push: (input) => (ended ? [] : take(state, input)),
    end(why) {
      if (ended) return [];
      ended = true;
      return finish(state, why);
    },
    ending: () => ending(state),
  };
}

/** Model and stream flag of a request: from the path in generateContent, otherwise from the body. */
export interface RequestAddress {
  readonly model: string;
  readonly stream: boolean;
}

/** The differences of a vendor that decide which codec a model gets. */
export interface VendorOfModel {
  /** Matches the models whose reasoning the vendor gives apart from the text only on request. Absent: none. */
  readonly splitsReasoning?: RegExp | undefined;
}

/** The upstream of a direct route. */
export interface UpstreamAddress extends RequestAddress {
  /** Message members that the upstream refuses; absent: none. */
  readonly refusedMembers?: readonly string[] | undefined;
  /** True if the upstream refuses `null` as the content of a chat message, also beside calls. */
  readonly refusesNullContent?: boolean | undefined;
  /** True if the upstream refuses the role `developer` in chat. */
  readonly refusesDeveloper?: boolean | undefined;
  /** True if the upstream refuses a tool choice that names a tool in chat. */
  readonly refusesNamed?: boolean | undefined;
  /** The only chat name that the upstream accepts for the maximum of output tokens; absent: it accepts both. */
  readonly maximumField?: MaximumField | undefined;
  /** True if the upstream refuses ids and reasoning of other vendors in the history; absent: it accepts them. */
  readonly checksHistory?: true | undefined;
  /** True if the model is known not to reason. */
  readonly neverReasons?: boolean | undefined;
}

/** The request as an answer sees it: without the conversation, which a long stream would keep in memory to its end. */
export type AnsweredRequest = Omit<CanonicalRequest, "messages">;

/** Data that an answer needs beside its content. */
export interface AnswerContext {
  /** The canonical model id the caller sees (TXT-11, T37). */
  readonly model: string;
  /** The gateway's id of the call, without a prefix of any protocol; the codec adds its own (`chatcmpl-`, `resp_`, `msg_`). */
  readonly id: string;
  /** Unix seconds. */
  readonly createdAt: number;
  /** The caller's request, for answers that echo it (responses) or depend on it (`includeUsage`). */
  readonly request: AnsweredRequest;
  /** Input tokens as estimated before the call, for streams that must report a count at their start (T44). */
  readonly inputEstimate: number;
}

/** An error of the caller or the upstream, read from the wire. */
export interface WireError {
  readonly message: string;
  readonly type?: string | undefined;
  readonly code?: string | undefined;
  readonly param?: string | undefined;
  /** When to retry, if the body says so (google.rpc.RetryInfo). */
  readonly retryAfterSeconds?: number | undefined;
  /** True if the model failed on this one request; it does not count against the provider. */
  readonly isModels?: true | undefined;
}

/** Encodes requests for an upstream and decodes its answers. */
export interface UpstreamCodec {
  readonly name: UpstreamProtocol;
  /** The limits of the protocol as the target of a conversion. */
  readonly limits: Limits;
  /** Returns the codec for one model, if models of the protocol differ in their limits; absent: this codec serves all. */
  forModel?(model: string, vendor?: VendorOfModel): UpstreamCodec;
  /** Never fails: `fit` has already removed everything that the protocol cannot carry. `model` is the upstream's name. */
  encodeRequest(request: CanonicalRequest, model: string): JsonObject;
  /** Text that the codec added to the conversation, as the detail of a note; undefined or absent: none. */
  describeAddedText?(body: JsonObject): string | undefined;
  /** True if the vendor refuses to stream the answer to this request: it is asked for the whole answer. Absent: it streams all. */
  refusesStream?(body: JsonObject): boolean;
  decodeResponse(body: JsonObject): CanonicalResponse;
  encodeResponse(response: CanonicalResponse, context: AnswerContext): JsonObject;
  decodeStream(): Transducer<SseEvent, CanonicalEvent>;
  /** Decodes an upstream's error body in any vendor's spelling; never throws. */
  decodeError(status: number, body: unknown): WireError;
  readonly direct: Pick<DirectCodec, "failure" | "usage" | "text" | "pictures">;
}

/** `as_vendor`: only if the vendor reported it inside its stream. */
export type ReportedInStream = "always" | "as_vendor";

/** One text protocol that callers speak. */
export interface Codec extends UpstreamCodec {
  readonly name: ProtocolName;
  /** True if answers repeat tools and settings of the request. Absent: they do not. */
  readonly echoesRequest?: true;
  /** Codes of errors that are reported inside a stream even if it has nothing else. Absent: none. */
  readonly reportedInStream?: ReadonlyMap<string, ReportedInStream>;
  /** @throws GatewayError naming the offending field in the caller's spelling. */
  decodeRequest(body: JsonObject, address: RequestAddress): CanonicalRequest;
  encodeStream(context: AnswerContext): Transducer<CanonicalEvent, SseEvent>;
  /** The body of an error answer in this protocol's shape. */
  encodeError(error: GatewayError, requestId: string): JsonObject;
  /** The codec for the same protocol on both sides. */
  readonly direct: DirectCodec;
}

/** Facts of a request that routing, reservation and metering need on any route, read without full decoding. */
export interface CallFacts {
  /** The requested maximum of output tokens for each answer, not multiplied by `n`. */
  readonly maxOutputTokens?: number | undefined;
  /** Number of answers requested (`n`, `candidateCount`); 1 if the protocol has no such field. */
  readonly answers: number;
  /** `prompt_cache_key`, else the end-user id (RESP-36, RESP-37); never `safety_identifier` (RESP-45). */
  readonly session?: string | undefined;
  /** Characters of all text that the model will read: messages, system prompt, tool definitions. */
  readonly inputCharacters: number;
  /** Images, audio, video and files in the input. */
  readonly inputMedia: number;
  /** The most uses of the vendor's tools that the caller allows, or a guess if there is no limit. */
  readonly toolUses: ToolUses;
  /** True if the model may make pictures with a tool of its vendor; absent if the protocol has no such tool. */
  readonly imageTool?: boolean;
  /** True if the request has cache markers, and each asks for an hour; absent if the protocol reports the lifetimes of writes (T54). */
  readonly hourWrites?: boolean;
}

/** A copy of a caller's body as it goes on, and what to report of the changes. */
export interface ChangedBody {
  readonly body: JsonObject;
  readonly notes: readonly Note[];
}

/** The part of a protocol that a direct route needs: nothing is converted, and the body changes only where necessary. */
export interface DirectCodec {
  /**
   * Checks the types and domains of the fields the protocol defines; unknown fields pass.
   * @throws GatewayError `missing_required_parameter`, `invalid_type` or `invalid_value` with `param`.
   */
  validate(body: JsonObject): void;
  facts(body: JsonObject): CallFacts;
  /**
   * Returns the upstream's body: `model` set, filtered fields removed and noted (TXT-17 to TXT-19), and on streams the usage that metering
   * needs requested (T47). Never changes `body` itself.
   */
  request(body: JsonObject, upstream: UpstreamAddress): ChangedBody;
  /** Returns a copy of the caller's body without the proofs of earlier reasoning, for a vendor that refuses them; undefined if it has none. */
  withoutProofs(body: JsonObject): ChangedBody | undefined;
  /**
   * Returns why a body with a success status is no answer: the upstream's own error, or nothing that could be an answer (T60). Undefined
   * for an answer.
   */
  failure(answer: JsonObject): WireError | undefined;
  /** True if the vendor only reports that it has started (`background`). Absent: it never does. */
  isInProgress?(answer: JsonObject): boolean;
  /** Returns the usage of a whole answer; undefined if it reports none (T48). */
  usage(answer: JsonObject): Usage | undefined;
  /** True if a reported count of the answer cannot be one; its `usage` may then be undefined (T51). */
  misreportsUsage(answer: JsonObject): boolean;
  /** Returns the text of a whole answer, for an estimate if usage is missing. */
  text(answer: JsonObject): string;
  /** Returns how many pictures the model made in a whole answer, for the same estimate. Absent: none. */
  pictures?(answer: JsonObject): number;
  /** True if every whole answer has usage: one without gets the billed usage. */
  readonly alwaysHasUsage?: true;
  /** Returns the answer with the canonical model id. May change `answer`. `createdAt`: Unix seconds, for an answer without a time. */
  answer(
    answer: JsonObject,
    model: string,
    request?: AnswerSettings,
    createdAt?: number,
  ): JsonObject;
  /** Returns an answer that reports no usage, or a false one, with the billed usage. */
  withUsage(answer: JsonObject, usage: Usage): JsonObject;
  /** Returns the stream of a whole answer, with everything that only this protocol has, and its end marker (T14). */
  framesOf(answer: JsonObject, context: AnswerContext): SseEvent[];
  /** Returns the whole answer of a complete stream, likewise (T15); undefined if the stream has none. */
  answerFromFrames(frames: readonly SseEvent[]): JsonObject | undefined;
  /** Creates a tap for a stream. */
  tap(options: TapOptions): StreamTap;
}

/**
 * Settings of the answer as the caller sent them: chat has `n`, whether usage is wanted, and which tool must be called; responses has
 * `background`.
 */
export interface AnswerSettings {
  readonly n?: unknown;
  readonly stream_options?: unknown;
  readonly tool_choice?: unknown;
  readonly background?: unknown;
}

export interface TapOptions {
  /** The canonical model id to set in the frames. */
  readonly model: string;
  readonly request: AnswerSettings;
  readonly inputEstimate: number;
  /** The gateway's id of the call, and Unix seconds: for an error before the vendor's own. */
  readonly id: string;
  readonly createdAt: number;
}

/** A watcher of a passing stream: frames in, frames out, and the facts seen so far. */
export interface StreamTap {
  /**
   * Returns the frames to send now. The frames that end a stream (finish, usage, terminal event) are held back until `release`. So a caller
   * sees an answer as complete only after its charge is committed.
   */
  push(event: SseEvent): readonly SseEvent[];
  /** Called when the upstream closes its stream, for facts that only the end reveals. Absent: there are none. */
  end?(): readonly SseEvent[];
  /**
   * Returns the frames held back, with the protocol's end marker added if the upstream omitted it (STREAM-04). `usage` is the billed usage:
   * a converted stream reports it if the upstream reported none, and a direct one instead of counts that cannot be true (T51).
   */
  release(usage?: Usage): readonly SseEvent[];
  /** Returns the frames that report a broken stream to the caller, in the protocol's own way (T16). */
  fail(error: GatewayError): readonly SseEvent[];
  readonly seen: StreamSeen;
  /** Keeps more of the text than an estimate needs, for hooks that receive the answer. */
  keepText(room: TextRoom): void;
}

export interface StreamSeen {
  /** The last usage reported, normalised (T49). */
  readonly usage: Usage | undefined;
  /**
   * The beginning of the output text so far (text, reasoning, tool arguments): enough for an estimate, more after `keepText`. The
   * upstream's error text is not part of it (T60).
   */
  readonly text: string;
  /** Length of the whole output text, up to the counted limit. */
  readonly characters: number;
  /** How many pictures the model has made so far. */
  readonly pictures: number;
  /** Length of the reasoning in the output text so far. Absent: it is not told apart. */
  readonly reasoningCharacters?: number;
  /** Length of the sound that the model has made so far, in base64. Absent: the protocol has none. */
  readonly soundCharacters?: number;
  /** True if `text` is only a part of the output. */
  readonly isTextCut: boolean;
  /** True once the upstream has completed the answer: by a finish reason or the protocol's terminal event. */
  readonly ended: boolean;
  /** True while the upstream has sent only frames that say nothing of the answer, such as `message_start`. */
  readonly isOpening: boolean;
  /** The error event that the upstream sent in the stream. */
  readonly error: WireError | undefined;
  /** True if the vendor continues and bills the whole answer even if the caller leaves (`background`). Absent: it does not. */
  readonly continuesAfterDisconnect?: boolean | undefined;
}
