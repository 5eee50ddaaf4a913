/**
 * One image call that is answered at once, from an authenticated request to its settled answer: prepare, reserve, attempt,
 * charge, answer. Requirements: IMG, EDIT1, EDIT2; docs/architecture.md, docs/ledger.md, docs/routing.md.
 */
import { toGatewayError, type GatewayError } from "../base/errors.ts";
import type { SseEvent } from "../base/sse.ts";
import type { ImageRequest } from "../media/index.ts";
import { errorCodec } from "../protocols/index.ts";
import { findFile, type FileRow } from "../storage/index.ts";
import {
  claimKeyForCall,
  entryPoints,
  findAnswered,
  type IdempotencyClaim,
} from "../tasks/index.ts";
import { answerStream, answerWhole } from "./image-answers.ts";
import { AttemptFailure } from "./image-attempts.ts";
import { expectedBytes } from "./image-bytes.ts";
import type { ImageCall, ImageContext, ImageServices } from "./image-context.ts";
import { prepareImage } from "./image-prepare.ts";
import { recordFailure, startRecord, type ImageRecord } from "./record.ts";
import type { TextReply } from "./reply.ts";
import { TextCallError } from "./text.ts";

export type { ImageCall, ImageServices } from "./image-context.ts";

/** The kept answer of a call that had the same idempotency key. */
export type Replay = Pick<FileRow, "name" | "mediaType" | "bytes">;

/**
 * The answer that an idempotency key stands for; undefined when the key is free.
 * @throws GatewayError `idempotency_in_progress`, `idempotency_key_reuse`
 */
export async function findReplay(
  { database, clock }: ImageServices,
  workspaceId: string,
  claim: IdempotencyClaim,
): Promise<Replay | undefined> {
  const nowMs = clock.now();
  const name = await findAnswered(database, { workspaceId, claim }, nowMs);
  return name === undefined ? undefined : findFile(database, name, new Date(nowMs));
}

/**
 * Runs one call and writes its answer to `reply`.
 * @throws TextCallError when nothing of the answer was sent yet; once a stream has begun, errors travel inside it.
 */
export async function runImageCall(
  services: ImageServices,
  call: ImageCall,
  reply: TextReply,
): Promise<void> {
  const record: ImageRecord = startRecord({
    id: call.id,
    startedMs: services.clock.now(),
    protocol: entryPoints[call.form],
    stream: [true, "true"].includes(call.input.fields["stream"] as boolean | string),
    workspaceId: call.caller.workspaceId,
    keyId: call.caller.keyId,
    model: call.model?.slice(0, 200) ?? "",
  });
  let context: ImageContext | undefined;
  try {
    context = await begin(services, call, { reply, record });
    if (context.request.stream === true) await answerStream(context);
    else await answerWhole(context);
  } catch (thrown) {
    await endFailed(services, { thrown, record, reply, context });
  } finally {
    record.durationMs = services.clock.now() - record.startedMs;
    services.finished(record);
  }
}

/** Prepares a call and reserves what it may cost; the idempotency key is claimed with it. @throws GatewayError */
async function begin(
  services: ImageServices,
  call: ImageCall,
  { reply, record }: Pick<ImageContext, "reply" | "record">,
): Promise<ImageContext> {
  const prepared = prepareImage(services, call);
  record.model = prepared.model;
  record.plan = prepared.plan.explanation;
  record.notes = prepared.notes;
  record.reservedNano = prepared.boundNano;
  const request = prepared.request as ImageRequest;
  call.lease.take(expectedBytes(request));
  const { workspaceId } = call.caller;
  const hold = { id: call.id, workspaceId };
  const claim = call.idempotency;
  await services.spend.reserveQueued(hold, call.caller, prepared.boundNano, async (tx) => {
    if (claim) await claimKeyForCall(tx, { workspaceId, claim }, call.id, services.clock.now());
  });
  const gone = new AbortController();
  reply.onGone(() => gone.abort());
  return { services, call, reply, record, prepared, request, hold, gone: gone.signal };
}

interface Failure {
  readonly thrown: unknown;
  readonly record: ImageRecord;
  readonly reply: TextReply;
  /** Absent when the call failed before its reservation was granted. */
  readonly context: ImageContext | undefined;
}

/** Releases the hold and tells the caller, inside the stream where one has begun. */
async function endFailed(
  services: ImageServices,
  { thrown, record, reply, context }: Failure,
): Promise<void> {
  const failure = thrown instanceof AttemptFailure ? thrown.parts : undefined;
  const error = failure?.error ?? toGatewayError(thrown);
  if (error.code === "internal_error")
    services.log.error({ err: thrown, call: record.id }, "an image call failed");
  // A hold that was charged stays charged: a release after it is a named result without effect. Without a database the
  // caller is not kept waiting for it a second time; the hold then ends with its lease.
  const released = context && services.spend.release(context.hold);
  if (error.code !== "database_unavailable") await released;
  if (reply.gone) record.status = "client_closed";
  else recordFailure(record, error);
  if (reply.gone || reply.ended) return;
  if (!reply.started) throw new TextCallError(error, failure?.body);
  reply.end([errorEvent(error)]);
}

/** An error inside a stream of events: the vendors' SDKs throw on it (STREAM-09). */
function errorEvent(error: GatewayError): SseEvent {
  const body = errorCodec("chat").encodeError(error, "");
  return { event: "error", data: JSON.stringify({ type: "error", ...body }) };
}
