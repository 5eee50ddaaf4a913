/** The data and services that the steps of one image call share. Requirements: IMG, EDIT1, EDIT2. */
import { expectedBytes } from "../attempts/index.ts";
import type { Provider } from "../catalog/index.ts";
import type { WatchedFiles } from "../files/index.ts";
import type { ImageRequest, MediaInput } from "../media/index.ts";
import type { Constraints } from "../routing/index.ts";
import type { Database } from "../storage/index.ts";
import type { FileUrl, IdempotencyClaim, PreparedMedia } from "../tasks/index.ts";
import type { CallServices, TextCall } from "./context.ts";
import type { Hold, ImageHolds } from "./image-holds.ts";
import type { ImageRecord } from "./record.ts";
import type { Reply } from "./reply.ts";

/** An authenticated call: its fields by the caller's names, its files in storage. */
export interface ImageCall extends Pick<
  TextCall,
  "id" | "caller" | "tags" | "changes" | "lease" | "span"
> {
  readonly form: "images" | "edits";
  /** As the caller wrote it, suffix included; undefined if absent. */
  readonly model: string | undefined;
  readonly input: MediaInput;
  readonly idempotency: IdempotencyClaim | undefined;
}

export interface ImageServices extends CallServices<ImageRecord> {
  readonly holds: ImageHolds;
  readonly database: Database;
  readonly files: WatchedFiles;
  readonly fileUrl: FileUrl;
  /** How long, in ms, results are kept. */
  readonly retentionMs: number;
}

/** One call in flight: prepared, with its upper bound reserved. */
export interface ImageContext {
  readonly services: ImageServices;
  readonly call: ImageCall;
  readonly reply: Reply;
  readonly record: ImageRecord;
  readonly prepared: PreparedMedia;
  readonly request: ImageRequest;
  readonly hold: Hold;
  readonly constraints: Constraints;
  /** Aborts when the client has left. */
  readonly gone: AbortSignal;
  /** Aborts when the gateway stops, just before the connection is cut. */
  readonly stopped: AbortSignal;
}

/** Bytes that a call holds of the budget from its start; 0 for streams, whose events are counted as they arrive. */
export const picturesBytes = ({ n, stream }: ImageRequest): number =>
  stream === true ? 0 : expectedBytes(n);

/** How long, in ms, fetching or storing a finished picture is retried while its call holds memory for it. */
const heldMsMax = 300_000;

/** The remaining time for such retries, in ms: limited by the provider's total timeout for the call. */
export function heldMs({ record }: ImageContext, { timeouts }: Provider): number {
  const endMs = record.beganMs + timeouts.totalMs;
  return Math.min(heldMsMax, endMs - performance.now());
}
