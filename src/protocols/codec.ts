/**
 * What a codec is: one text protocol, between its wire shapes and the canonical form.
 * Nothing here does I/O, reads a clock or knows HTTP. Requirements: TXT.
 */
import type { GatewayError } from "../base/errors.ts";
import type { Note } from "../base/notes.ts";
import type { SseEvent } from "../base/sse.ts";
import type { Usage } from "../base/usage.ts";
import type { CanonicalEvent } from "./canonical/events.ts";
import type {
  CanonicalRequest,
  JsonObject,
  ProtocolName,
  UpstreamProtocol,
} from "./canonical/request.ts";
import type { CanonicalResponse } from "./canonical/response.ts";
import type { Limits } from "./limits.ts";
import type { TextRoom } from "./text-log.ts";

/** Why a stream ends: the upstream said so, or it was cut. */
export type EndReason =
  | { readonly kind: "complete" }
  | { readonly kind: "cut"; readonly message: string };

/** A stream transform without I/O. `end` closes open blocks, so that a dying upstream still yields a legal stream. */
export interface Transducer<In, Out> {
  push(input: In): Out[];
  end(why: EndReason): Out[];
  /** Of a decoder: true while the upstream has said why it stopped, so that only its close is awaited. */
  ending?(): boolean;
  /** Of a decoder: the output that has come and goes on later, as a part of what it belongs to. Absent: none. */
  held?(): string;
}

/** Hides a codec's private state type: codecs write only `take`, which changes the state of one stream, and `finish`. */
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

/** What stands beside the body: in generateContent both come from the path, elsewhere from the body. */
export interface RequestAddress {
  readonly model: string;
  readonly stream: boolean;
}

/** The upstream of a direct route. */
export interface UpstreamAddress extends RequestAddress {
  /** Members of messages that it refuses; absent: none. */
  readonly refusedMembers?: readonly string[] | undefined;
}

/** What an answer may say of its request: never the conversation, which a long stream would keep in memory to its end. */
export type AnsweredRequest = Omit<CanonicalRequest, "messages">;

/** What an answer needs to know beside its content. */
export interface AnswerContext {
  /** The canonical model id the caller sees (TXT-11, T37). */
  readonly model: string;
  /** The gateway's id of the call, without a prefix of any protocol; the codec adds its own (`chatcmpl-`, `resp_`, `msg_`). */
  readonly id: string;
  /** Unix seconds. */
  readonly createdAt: number;
  /** What the caller asked, where an answer echoes it (responses) or depends on it (`includeUsage`). */
  readonly request: AnsweredRequest;
  /** Input tokens as estimated before the call, for streams that must tell some at their start (T44). */
  readonly inputEstimate: number;
}

/** The caller's or an upstream's error, read off the wire. */
export interface WireError {
  readonly message: string;
  readonly type?: string | undefined;
  readonly code?: string | undefined;
  readonly param?: string | undefined;
  /** When to come again, where the body tells it (google.rpc.RetryInfo). */
  readonly retryAfterSeconds?: number | undefined;
  /** What the model made of this one request, which says nothing of its provider. */
  readonly isModels?: true | undefined;
}

/** What an upstream is asked in, and how its answers are read. */
export interface UpstreamCodec {
  readonly name: UpstreamProtocol;
  /** What it can carry as the target of a conversion. */
  readonly limits: Limits;
  /** The codec for one of its models, where those differ in what they take; absent: this one for all. */
  forModel?(model: string): UpstreamCodec;
  /** Total: `fit` has already removed what the protocol cannot carry. `model` is the upstream's own name. */
  encodeRequest(request: CanonicalRequest, model: string): JsonObject;
  /** What it wrote into the conversation of such a request beyond the caller's, as the detail of a note; absent: nothing. */
  addedTo?(body: JsonObject): string | undefined;
  decodeResponse(body: JsonObject): CanonicalResponse;
  encodeResponse(response: CanonicalResponse, context: AnswerContext): JsonObject;
  decodeStream(): Transducer<SseEvent, CanonicalEvent>;
  /** An upstream's error body, whatever its quirks; never throws. */
  decodeError(status: number, body: unknown): WireError;
  readonly direct: Pick<DirectCodec, "failure" | "usage" | "text">;
}

/** One text protocol that callers speak. */
export interface Codec extends UpstreamCodec {
  readonly name: ProtocolName;
  /** Its answers repeat tools and settings of the request. Absent: they repeat nothing. */
  readonly echoes?: true;
  /** @throws GatewayError naming the offending field in the caller's spelling. */
  decodeRequest(body: JsonObject, address: RequestAddress): CanonicalRequest;
  encodeStream(context: AnswerContext): Transducer<CanonicalEvent, SseEvent>;
  /** The body of an error answer in this protocol's shape. */
  encodeError(error: GatewayError, requestId: string): JsonObject;
  /** The same protocol on both sides. */
  readonly direct: DirectCodec;
}

/** What routing, reserving and metering need to know of a request on any route, read without decoding it whole. */
export interface CallFacts {
  /** The requested maximum of output tokens, all choices of `n` together not included. */
  readonly maxOutputTokens?: number | undefined;
  /** How many answers are asked for (`n`, `candidateCount`); 1 where the protocol has none. */
  readonly answers: number;
  /** `prompt_cache_key`, else the end-user id (RESP-36, RESP-37); never `safety_identifier` (RESP-45). */
  readonly affinity?: string | undefined;
  /** Characters of all text the model will read: messages, system prompt, tool definitions. */
  readonly inputCharacters: number;
  /** Images, audio, video and files in the input. */
  readonly inputMedia: number;
  /** The most web searches at the vendor that the caller asks for, or a guess where that has no bound. */
  readonly webSearches: number;
  /** Whether the model may make pictures by a tool of its vendor; absent where the protocol has none. */
  readonly imageTool?: boolean;
}

/** What a direct route needs of its protocol: no conversion, the caller's body goes on as it is but for what must change. */
export interface DirectCodec {
  /**
   * Checks the types and domains of the fields the protocol defines; unknown fields pass.
   * @throws GatewayError `missing_required_parameter`, `invalid_type` or `invalid_value` with `param`.
   */
  validate(body: JsonObject): void;
  facts(body: JsonObject): CallFacts;
  /**
   * The upstream's body: `model` set, filtered fields removed and noted (TXT-17 to TXT-19), and on streams
   * what metering needs asked for (T47). Never changes `body` itself.
   */
  request(
    body: JsonObject,
    upstream: UpstreamAddress,
  ): { readonly body: JsonObject; readonly notes: readonly Note[] };
  /**
   * Why a body that came as a success is no answer: the upstream's own error, or nothing that could be one (T60).
   * Undefined for an answer.
   */
  failure(answer: JsonObject): WireError | undefined;
  /** Whether the vendor only says that it has begun (`background`). Absent: it never does. */
  isUnderWay?(answer: JsonObject): boolean;
  /** What a whole answer used; undefined when it does not tell (T48). */
  usage(answer: JsonObject): Usage | undefined;
  /** The text a whole answer holds, for an estimate where usage is missing. */
  text(answer: JsonObject): string;
  /** The answer with the canonical model id and, where something was dropped, `gw.droppedParams`. May change `answer`. */
  answer(answer: JsonObject, model: string): JsonObject;
  /** An answer that tells no usage, with the one that is billed. */
  withUsage(answer: JsonObject, usage: Usage): JsonObject;
  /** The stream of a whole answer, with all that only this protocol has, and its end marker (T14). */
  framesOf(answer: JsonObject, context: AnswerContext): SseEvent[];
  /** The whole answer that a complete stream tells, likewise (T15); undefined where it tells none. */
  wholeOf(frames: readonly SseEvent[]): JsonObject | undefined;
  /** Watches a stream as it passes. */
  tap(options: TapOptions): StreamTap;
}

/** What a request says of its stream, as the caller sent it: chat, how many answers and whether usage is wanted; responses, `background`. */
export interface StreamWishes {
  readonly n?: unknown;
  readonly stream_options?: unknown;
  readonly background?: unknown;
}

export interface TapOptions {
  /** The canonical model id to set in the frames. */
  readonly model: string;
  readonly request: StreamWishes;
  readonly inputEstimate: number;
}

/** A stream in passing: frames in, frames out, and what was seen so far. */
export interface StreamTap {
  /**
   * The frames to send on now. The frames that end a stream (finish, usage, terminal event) are kept back until
   * `release`, so that a caller has seen an answer whole only after its charge is committed.
   */
  push(event: SseEvent): readonly SseEvent[];
  /** The upstream closed its stream: what only its end could tell is then seen. Absent where the end tells nothing. */
  end?(): readonly SseEvent[];
  /**
   * The frames kept back, with the protocol's end marker completed where the upstream left it out (STREAM-04).
   * `usage` is what was billed: a converted stream reports it where the upstream reported none.
   */
  release(usage?: Usage): readonly SseEvent[];
  /** The frames that tell the caller, in the protocol's own way, that the stream broke (T16). */
  fail(error: GatewayError): readonly SseEvent[];
  readonly seen: StreamSeen;
  /** Keeps more of the text than an estimate needs, for those who hear of the answer. */
  keepText(room: TextRoom): void;
}

export interface StreamSeen {
  /** The last usage reported, normalised (T49). */
  readonly usage: Usage | undefined;
  /**
   * The beginning of the output text so far (text, reasoning, tool arguments): as much as an estimate needs, more by `keepText`.
   * The upstream's error text is not part of it (T60).
   */
  readonly text: string;
  /** How long all of it is, as far as that counts. */
  readonly characters: number;
  /** Whether `text` is only a part of it. */
  readonly isTextCut: boolean;
  /** True once the upstream said that the answer is complete: a finish reason or the protocol's terminal event. */
  readonly ended: boolean;
  /** The error event the upstream sent inside the stream. */
  readonly error: WireError | undefined;
  /** The vendor goes on with the answer, and bills all of it, whoever leaves (`background`). Absent: it does not. */
  readonly goesOn?: boolean | undefined;
}
