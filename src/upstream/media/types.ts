/**
 * The interface of media dialects, in unified terms: each one turns a request into HTTP asks and reads the answers. Pure: a dialect opens
 * no connection and reads no clock. Wire shapes: docs of each dialect beside this file.
 */
import type { Readable } from "node:stream";
import type { Note } from "../../base/notes.ts";
import type { Provider } from "../../catalog/index.ts";
import type { MediaRequest, ReportedUsage, KeptFile } from "../../media/index.ts";

export type { ReportedUsage };

/** One HTTP request to a provider's origin. */
export interface MediaAsk {
  readonly method: "GET" | "POST" | "DELETE";
  /** The whole path on the origin of the base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: MediaBody | undefined;
  /** Number of pictures in the answer, previews included; the time and size limits grow with it. */
  readonly pictures?: number | undefined;
}

/** A body as text, or as a stream of known length that can be opened once. */
export type MediaBody = string | { readonly contentLength: number; readonly open: () => Readable };

/** A job to submit to a vendor. */
export interface MediaJob {
  readonly request: MediaRequest;
  /** The vendor's own name of the model. */
  readonly upstreamModel: string;
  /** Opens an uploaded file's bytes. */
  readonly open: (file: KeptFile) => Readable;
}

/** A produced file: an address to download it from, or its bytes in base64. */
export type MediaResult =
  | { readonly from: "url"; readonly url: string }
  | { readonly from: "base64"; readonly base64: string };

/** The actual values of the images, if the vendor reports them: `auto` is resolved. */
export interface Rendered {
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  readonly background?: string | undefined;
  readonly outputFormat?: string | undefined;
}

/** The state of a job, as the vendor reports it. */
export type MediaState =
  /** The vendor works on it; `id` is present if it was just accepted. */
  | { readonly state: "pending"; readonly id?: string | undefined }
  | {
      readonly state: "succeeded";
      readonly results: readonly MediaResult[];
      readonly reported: ReportedUsage;
      readonly revisedPrompts?: readonly (string | undefined)[] | undefined;
      readonly rendered?: Rendered | undefined;
    }
  /** The job ended without a result. `code` and `message` are fit for the caller. */
  | { readonly state: "failed"; readonly code: string; readonly message: string }
  | { readonly state: "expired" }
  | { readonly state: "canceled" }
  /** The vendor does not know the job, or not any more; right after submission this may be temporary. */
  | { readonly state: "missing" };

/**
 * An answer without the state of the job: a refusal, or a success that cannot be read. Its text is the vendor's own and may name the
 * operator's account: `outcomeOfRefusal` returns the caller's text.
 */
export interface MediaRefusal {
  readonly state: "refused";
  readonly status: number;
  /** The vendor's own code, which the caller gets. */
  readonly code?: string | undefined;
  /** The vendor's class of the error. */
  readonly type?: string | undefined;
  readonly message: string;
  readonly param?: string | undefined;
  /** If a success cannot be used: the reason, in words for the caller. */
  readonly unusable?: string | undefined;
  /** The wait that the vendor's headers ask for, if any. */
  readonly retryAfterMs?: number | undefined;
  /** True if the vendor's headers say not to send the request again. Another Tollgate says so if a vendor may bill it. */
  readonly isFinal?: boolean | undefined;
}

export interface MediaDialect {
  /** The request that starts the job. */
  submit(provider: Provider, apiKey: string, job: MediaJob): MediaAsk;
  /** Reads its answer; never throws. A synchronous vendor answers `succeeded` at once. */
  readSubmit(status: number, body: Buffer, job: MediaJob): MediaState | MediaRefusal;
  /** The fields that `submit` drops or changes for this model, by their unified names. */
  droppedNotes(request: MediaRequest, upstreamModel: string): readonly Note[];
  /** The field with which this model would make something else than requested, and why. Such a request is not sent. */
  readonly refuses?:
    | ((
        request: MediaRequest,
        upstreamModel: string,
      ) => { readonly param: string; readonly why: string } | undefined)
    | undefined;
  /** The request that polls a job; only for vendors that answer `pending`. */
  poll(provider: Provider, apiKey: string, id: string): MediaAsk;
  /** Reads its answer; never throws. An answer about another job than `id` is a refusal. */
  readPoll(status: number, body: Buffer, id: string): MediaState | MediaRefusal;
  /** The request that cancels a job; absent if the vendor cannot. `canceled` in its answer is the vendor's confirmation for `id`. */
  readonly cancel?: ((provider: Provider, apiKey: string, id: string) => MediaAsk) | undefined;
  readonly readCancel?:
    | ((status: number, body: Buffer, id: string) => "canceled" | "refused")
    | undefined;
  /** Seconds between two polls. */
  readonly pollSeconds: number;
  /** True if the vendor works while the connection is open, and `submit`'s answer is the result. */
  readonly synchronous?: boolean | undefined;
}

/** Counts the bytes of an answer. */
export interface AnswerRoom {
  /** Bytes for all answers together. A whole answer cannot be larger, except that one of a single picture always fits. */
  readonly bytesMax: number;
  /** The answer's head has arrived. `giveUp` is called if the answer stalls while others need room; its room is then already released. */
  onStart(giveUp: () => void): void;
  /** Reports bytes that are kept, or (negative) no longer kept. If it returns a promise, read nothing more before that resolves. */
  onBytes(bytes: number): Promise<void> | undefined;
  /** The answer has ended. If it is not whole, none of it is kept. */
  onEnd(isWhole: boolean): void;
}

/** Limits of an ask, in milliseconds; absent times are the provider's own (`timeouts`). */
export interface AskLimits {
  /** From the request's end to the answer's head. If absent, extended by the same time for each picture. */
  readonly firstByteMs?: number | undefined;
  /** The longest silence within the answer. */
  readonly idleMs?: number | undefined;
  readonly totalMs?: number | undefined;
  /** If absent, 128 MiB, or the largest size that the answer's pictures can have. */
  readonly bytesMax?: number | undefined;
  /** Called at the last moment before bytes are sent, and before each further piece of a streamed body. False cancels the ask, unsent. */
  readonly maySend?: (() => boolean) | undefined;
  /** Aborts the ask. */
  readonly signal?: AbortSignal | undefined;
  /** Counts the bytes of a whole answer; the reader of a stream counts its own. */
  readonly room?: AnswerRoom | undefined;
  /** Sent as the header `traceparent`. */
  readonly traceparent?: string | undefined;
}
