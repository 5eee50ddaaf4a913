/**
 * One image call that is answered in its own response, from an authenticated request to its settled answer: prepare, reserve,
 * attempt, charge, answer. Requirements: IMG, EDIT1, EDIT2; docs/architecture.md, docs/ledger.md, docs/routing.md.
 */
import { msSince } from "../base/elapsed.ts";
import type { GatewayError } from "../base/errors.ts";
import type { SseEvent } from "../base/sse.ts";
import { findFile } from "../files/index.ts";
import { families, type ImageRequest } from "../media/index.ts";
import { errorCodec } from "../protocols/index.ts";
import { reserveRetryMs, retryWhileAway } from "../storage/index.ts";
import {
  claimKeyForCall,
  mediaEntryPoints,
  findAnswered,
  keyOutlived,
  type IdempotencyClaim,
} from "../tasks/index.ts";
import { routingScope } from "../tenancy/index.ts";
import { endFailed } from "./end.ts";
import { answerStream, answerWhole } from "./image-answers.ts";
import {
  picturesBytes,
  type ImageCall,
  type ImageContext,
  type ImageServices,
} from "./image-context.ts";
import { replayOf, type Replay } from "./kept-answer.ts";
import { askImageHooks, mediaBody, notifyAfterHooks, withChanges } from "./hooks.ts";
import { prepareImage } from "./image-prepare.ts";
import { startRecord, type ImageRecord } from "./record.ts";
import type { Reply } from "./reply.ts";
import { unlessStopped } from "./stopping.ts";
import { traceCall } from "./trace.ts";

export type { ImageCall, ImageServices } from "./image-context.ts";

/**
 * The stored answer of an idempotency key; undefined when the key is free.
 * @throws GatewayError `idempotency_in_progress`, `idempotency_key_reuse`, `database_unavailable`
 */
export async function findReplay(
  { database, clock }: ImageServices,
  workspaceId: string,
  claim: IdempotencyClaim,
): Promise<Replay | undefined> {
  const nowMs = clock.now();
  const name = await retryWhileAway(reserveRetryMs, () =>
    findAnswered(database, { workspaceId, claim }, nowMs),
  );
  if (name === undefined) return undefined;
  const file = await findFile(database, name, new Date(nowMs));
  if (file === undefined) throw keyOutlived();
  return replayOf(file);
}

/**
 * Runs one call and writes its answer to `reply`.
 * @throws CallError when nothing of the answer was sent yet; once a stream has begun, errors are sent inside it.
 */
export async function runImageCall(
  services: ImageServices,
  asked: ImageCall,
  reply: Reply,
): Promise<void> {
  const { hooks } = services;
  const record: ImageRecord = startRecord({
    id: asked.id,
    startedMs: services.clock.now(),
    protocol: mediaEntryPoints[asked.form],
    stream: [true, "true"].includes(asked.input.fields["stream"] as boolean | string),
    workspaceId: asked.caller.workspaceId,
    keyId: asked.caller.keyId,
    span: asked.span,
    model: asked.model?.slice(0, 200) ?? "",
    tags: asked.tags,
  });
  asked.span?.keep();
  services.began?.(record);
  const run = { call: asked, record };
  const stop = new AbortController();
  let context: ImageContext | undefined;
  try {
    if (hooks !== undefined) await unlessStopped(record, askImageHooks(hooks, run));
    context = await begin(services, run.call, { reply, record, stopped: stop.signal });
    record.stoppable = {
      stop: (isLast) => {
        if (isLast) stop.abort();
      },
    };
    if (context.request.stream === true) await answerStream(context);
    else await answerWhole(context);
  } catch (thrown) {
    const framesOf = (error: GatewayError) => [errorEvent(error)];
    const release = () => context && services.holds.release(context.hold);
    await endFailed(services, { thrown, record, reply, release, framesOf });
  } finally {
    record.stoppable = undefined;
    record.durationMs = msSince(record.beganMs);
    traceCall(record);
    services.finished(record);
    if (hooks !== undefined)
      notifyAfterHooks(hooks, { ...run.call, body: mediaBody(run.call) }, record);
  }
}

/** Prepares a call, reserves its upper bound, and claims the idempotency key with it. @throws GatewayError */
async function begin(
  services: ImageServices,
  call: ImageCall,
  { reply, record, stopped }: Pick<ImageContext, "reply" | "record" | "stopped">,
): Promise<ImageContext> {
  const prepared = prepareImage(services, call);
  record.model = prepared.model;
  record.plan = prepared.plan.explanation;
  record.notes = withChanges(call.changes, prepared.notes);
  record.reservedNano = prepared.boundNano;
  const request = prepared.request as ImageRequest;
  call.lease.take(picturesBytes(request));
  // Refuse before a vendor makes, and its account pays for, an answer that could not be stored.
  if (isKept(call, request) && services.files.failure) throw services.files.failure;
  const { workspaceId } = call.caller;
  const hold = { id: call.id, workspaceId };
  const claim = call.idempotency;
  const reserving = services.holds.reserve(hold, call.caller, prepared.boundNano, async (tx) => {
    if (claim) await claimKeyForCall(tx, { workspaceId, claim }, call.id, services.clock.now());
  });
  await unlessStopped(record, reserving, () => {
    reserving.then(() => services.holds.release(hold)).catch(() => undefined);
  });
  const gone = new AbortController();
  reply.onGone(() => gone.abort());
  const constraints = routingScope(call.caller);
  const shared = { services, call, reply, record, stopped };
  return { ...shared, prepared, request, hold, constraints, gone: gone.signal };
}

/** True if a part of the call's answer becomes a file. */
const isKept = ({ idempotency }: ImageCall, { family }: ImageRequest): boolean =>
  idempotency !== undefined || families[family].forms.includes("tasks");

/** An error event in a stream: the vendors' SDKs throw on it (STREAM-09). */
function errorEvent(error: GatewayError): SseEvent {
  const body = errorCodec("chat").encodeError(error, "");
  return { event: "error", data: JSON.stringify({ type: "error", ...body }) };
}
