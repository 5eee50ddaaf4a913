/** Ends a call that failed: its caller gets the error, inside the stream if one has begun. */
import { AttemptFailure, type Failure } from "../attempts/index.ts";
import { toGatewayError, type GatewayError } from "../base/errors.ts";
import type { ErrorExplainer } from "../base/load-guard.ts";
import type { Log } from "../base/log.ts";
import type { SseEvent } from "../base/sse.ts";
import { recordFailure, type AnyRecord } from "./record.ts";
import type { Reply } from "./reply.ts";

/** An error to answer in the caller's protocol; `body` is the upstream's own error body if that is passed on. */
export class CallError extends Error {
  override name = "CallError";
  readonly error: GatewayError;
  readonly body: object | undefined;

  constructor(error: GatewayError, body: object | undefined) {
    super(error.message, { cause: error });
    this.error = error;
    this.body = body;
  }
}

interface FailedCall {
  readonly thrown: unknown;
  readonly record: AnyRecord;
  readonly reply: Reply;
  /** Releases the call's hold. Absent: it has none. */
  readonly release?: () => Promise<void> | undefined;
  /** True if the error is reported in a stream although none has begun. `last`: the last attempt's failure. */
  readonly inStream?: (error: GatewayError, last: Failure | undefined) => boolean;
  /** The error as the last frames of a stream. */
  readonly framesOf: (error: GatewayError) => readonly SseEvent[];
}

interface Failing {
  readonly log: Log;
  readonly load?: ErrorExplainer | undefined;
}

/** Ends a failed call. @throws CallError when nothing of the answer was sent yet, and the error is not reported in a stream */
export async function endFailed({ log, load }: Failing, failed: FailedCall): Promise<void> {
  const { thrown, record, reply, release, framesOf } = failed;
  const failure = thrown instanceof AttemptFailure ? thrown.failure : undefined;
  const found = failure?.error ?? toGatewayError(thrown);
  // The overload error says that nothing was charged. Once a provider was asked, the gateway cannot claim that.
  const error = (record.attempts.length === 0 && load?.explain(found)) || found;
  if (error.code === "internal_error") log.error({ err: thrown, call: record.id }, "a call failed");
  // A hold that was charged stays charged: releasing it afterwards has no effect. Without a database the caller does not wait a
  // second time; the hold then ends with its lease.
  const released = release?.();
  if (found.code !== "database_unavailable") await released;
  if (reply.gone) record.status = "client_closed";
  else recordFailure(record, error);
  if (reply.gone || reply.ended) return;
  if (!isInStream(failed, error, failure)) throw new CallError(error, failure?.body);
  reply.end(framesOf(error));
}

const isInStream = (
  { reply, inStream }: FailedCall,
  error: GatewayError,
  last: Failure | undefined,
): boolean => reply.started || inStream?.(error, last) === true;
