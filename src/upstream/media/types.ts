/**
 * How a vendor of images and videos is asked, in our own terms: each dialect turns a request into HTTP asks and reads the
 * answers. Pure: it opens no connection and reads no clock. Wire shapes: docs of each dialect beside this file.
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
  /** How many pictures the answer brings along, previews too: it takes that much longer, and is that much larger. */
  readonly pictures?: number | undefined;
}

/** A body as text, or as a stream of known length that can be opened once. */
export type MediaBody = string | { readonly contentLength: number; readonly open: () => Readable };

/** A job as it is put to a vendor. */
export interface MediaJob {
  readonly request: MediaRequest;
  /** The vendor's own name of the model. */
  readonly upstreamModel: string;
  /** Opens an uploaded file's bytes. */
  readonly open: (file: KeptFile) => Readable;
}

/** A produced file: an address to fetch it from, or its bytes in base64. */
export type MediaResult =
  | { readonly from: "url"; readonly url: string }
  | { readonly from: "base64"; readonly base64: string };

/** How images were really made, where the vendor tells it: `auto` has become a value. */
export interface Rendered {
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  readonly background?: string | undefined;
  readonly outputFormat?: string | undefined;
}

/** Where a job stands, as the vendor tells it. */
export type MediaState =
  /** The vendor works on it, under `id` where it has just been accepted. */
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
  /** The vendor does not know the job (any more); right after an accepted job this may pass. */
  | { readonly state: "missing" };

/**
 * An answer that tells nothing about the job: a status of refusal, or a success that cannot be read. In the vendor's own
 * words, which may name our account: `outcomeOfRefusal` says what the caller gets.
 */
export interface MediaRefusal {
  readonly state: "refused";
  readonly status: number;
  readonly code?: string | undefined;
  readonly message: string;
  readonly param?: string | undefined;
  /** Of a success that cannot be used: what is wrong with it, fit for the caller. */
  readonly unusable?: string | undefined;
  /** How long the vendor asks to be left alone, where its headers say so. */
  readonly retryAfterMs?: number | undefined;
}

export interface MediaDialect {
  /** The request that starts the job. */
  submit(provider: Provider, apiKey: string, job: MediaJob): MediaAsk;
  /** Reads its answer; never throws. A vendor that works while the connection is open answers `succeeded` at once. */
  readSubmit(status: number, body: Buffer, job: MediaJob): MediaState | MediaRefusal;
  /** What of the request `submit` leaves out or changes at this model, by the unified field names. */
  lost(request: MediaRequest, upstreamModel: string): readonly Note[];
  /** The request that asks after a job; for vendors that have answered `pending` only. */
  poll(provider: Provider, apiKey: string, id: string): MediaAsk;
  /** Reads its answer; never throws. An answer that names another job than `id` is no answer. */
  readPoll(status: number, body: Buffer, id: string): MediaState | MediaRefusal;
  /** The request that cancels a job; absent where the vendor cannot. `canceled` in its answer is the vendor's confirmation of `id`. */
  readonly cancel?: ((provider: Provider, apiKey: string, id: string) => MediaAsk) | undefined;
  readonly readCancel?:
    | ((status: number, body: Buffer, id: string) => "canceled" | "refused")
    | undefined;
  /** Seconds between two polls. */
  readonly pollSeconds: number;
  /** True where the vendor works while the connection is open, and `submit`'s answer is the result. */
  readonly synchronous?: boolean | undefined;
}

/** Where the bytes of an answer are counted. */
export interface AnswerRoom {
  /** What all answers together have. A whole answer can have no more, but that one of a single picture always can. */
  readonly bytesMax: number;
  /** Its head is here. `giveUp`: it stands still, and others need its room, which it does not hold any more. */
  begins(giveUp: () => void): void;
  /** So many bytes are kept, or (negative) not any more. A promise: nothing more is to be read before it resolves. */
  took(bytes: number): Promise<void> | undefined;
  /** Nothing more comes. Where it is not whole, nothing of it is kept. */
  ends(isWhole: boolean): void;
}

/** What an ask may take; the times are the provider's own (`timeouts`) where they are not given. Milliseconds. */
export interface AskLimits {
  /** From the request's end to the answer's head. When absent, extended by the same time for each picture. */
  readonly firstByteMs?: number | undefined;
  /** The longest silence inside the answer. */
  readonly idleMs?: number | undefined;
  readonly totalMs?: number | undefined;
  /** When absent 128 MiB, or what the pictures that the answer brings along can come to. */
  readonly bytesMax?: number | undefined;
  /** Asked at the last moment before bytes leave, and before each further piece of a streamed body; false: given up, unsent. */
  readonly mayLeave?: (() => boolean) | undefined;
  /** Gives up at once when it fires. */
  readonly signal?: AbortSignal | undefined;
  /** Hears of the bytes of a whole answer; of a stream its reader tells them. */
  readonly room?: AnswerRoom | undefined;
  /** Sent as a header of that name. */
  readonly traceparent?: string | undefined;
}
