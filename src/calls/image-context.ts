/** What the steps of one image call that is answered at once share. Requirements: IMG, EDIT1, EDIT2. */
import { expectedBytes } from "../attempts/index.ts";
import type { Provider } from "../catalog/index.ts";
import type { WatchedFiles } from "../files/index.ts";
import type { ImageRequest, MediaInput } from "../media/index.ts";
import type { Constraints } from "../routing/index.ts";
import type { Database } from "../storage/index.ts";
import type { FileUrl, IdempotencyClaim, PreparedMedia } from "../tasks/index.ts";
import type { CallServices, TextCall } from "./context.ts";
import type { ImageRecord } from "./record.ts";
import type { Reply } from "./reply.ts";
import type { Hold, Spend } from "./spend.ts";

/** A call as it came in: authenticated, its fields by the caller's names, its files in storage. */
export interface ImageCall extends Pick<
  TextCall,
  "id" | "caller" | "tags" | "changes" | "lease" | "span"
> {
  readonly form: "images" | "edits";
  /** As the caller wrote it, suffix included; undefined where it named none. */
  readonly model: string | undefined;
  readonly input: MediaInput;
  readonly idempotency: IdempotencyClaim | undefined;
}

export interface ImageServices extends CallServices<ImageRecord> {
  readonly spend: Spend;
  readonly database: Database;
  readonly files: WatchedFiles;
  readonly fileUrl: FileUrl;
  /** How long results are kept. */
  readonly retentionMs: number;
}

/** One call under way: prepared, and its upper bound reserved. */
export interface ImageContext {
  readonly services: ImageServices;
  readonly call: ImageCall;
  readonly reply: Reply;
  readonly record: ImageRecord;
  readonly prepared: PreparedMedia;
  readonly request: ImageRequest;
  readonly hold: Hold;
  readonly constraints: Constraints;
  /** Fires when the client has left. */
  readonly gone: AbortSignal;
  /** Fires when the gateway stops, and the connection is cut next. */
  readonly stopped: AbortSignal;
}

/** What a call is to hold of the budget from its start; 0 for streams, whose events count as they come. */
export const picturesBytes = ({ n, stream }: ImageRequest): number =>
  stream === true ? 0 : expectedBytes(n);

/** So long a picture that was made is fetched again, or held in the memory that its call has leased, where that fails just now. */
const heldMsMax = 300_000;

/** For how long from now on: the call has no longer than its provider may take for all of it. */
export function heldMs({ record }: ImageContext, { timeouts }: Provider): number {
  const endMs = record.beganMs + timeouts.totalMs;
  return Math.min(heldMsMax, endMs - performance.now());
}
