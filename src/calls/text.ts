/**
 * One call that is answered at once (text, embeddings), from an authenticated request to its settled answer: resolve, reserve, attempt, meter, post, answer.
 * Requirements: TXT; docs/architecture.md, docs/ledger.md, docs/routing.md.
 */
import { toGatewayError, type GatewayError } from "../base/errors.ts";
import { CallContext, type AnyCall, type TextServices } from "./context.ts";
import { prepareEmbedding } from "./embeddings.ts";
import { prepare } from "./prepare.ts";
import { recordFailure, startRecord, type CallRecord } from "./record.ts";
import type { TextReply } from "./reply.ts";
import { answerStream, answerWhole } from "./text-answers.ts";
import { attemptInOrder } from "./text-attempts.ts";

/** An error to be answered in the caller's protocol, with the upstream's own error body where that is passed on. */
export class TextCallError extends Error {
  override name = "TextCallError";
  readonly error: GatewayError;
  readonly body: object | undefined;

  constructor(error: GatewayError, body: object | undefined) {
    super(error.message, { cause: error });
    this.error = error;
    this.body = body;
  }
}

/**
 * Runs one call and writes its answer to `reply`.
 * @throws TextCallError when nothing of the answer was sent yet; once a stream has begun, errors travel inside it.
 */
export async function runTextCall(
  services: TextServices,
  call: AnyCall,
  reply: TextReply,
): Promise<void> {
  const record: CallRecord = startRecord({
    id: call.id,
    startedMs: services.clock.now(),
    protocol: call.protocol,
    stream: call.stream,
    workspaceId: call.caller.workspaceId,
    keyId: call.caller.keyId,
    model: call.model,
  });
  let context: CallContext | undefined;
  try {
    const prepared =
      call.protocol === "embeddings"
        ? prepareEmbedding(services, call, record)
        : prepare(services, call, record);
    call.rate?.takeTokens(prepared.inputEstimate);
    const hold = { id: call.id, workspaceId: call.caller.workspaceId };
    await services.spend.reserve(hold, call.caller, record.reservedNano);
    context = new CallContext({
      services,
      call,
      reply,
      record,
      hold,
      inputEstimate: prepared.inputEstimate,
      route: prepared.candidates[0]!.route(),
    });
    if (call.stream)
      await keepingAlive(context, () =>
        attemptInOrder(context!, prepared.candidates, answerStream),
      );
    else await attemptInOrder(context, prepared.candidates, answerWhole);
  } catch (thrown) {
    await endFailed(services, { thrown, record, reply, context });
  } finally {
    record.durationMs = services.clock.now() - record.startedMs;
    call.rate?.settle(record.metered?.usage);
    services.finished(record);
  }
}

interface Failure {
  readonly thrown: unknown;
  readonly record: CallRecord;
  readonly reply: TextReply;
  /** Absent when the call failed before its reservation was granted. */
  readonly context: CallContext | undefined;
}

/** Releases the hold and tells the caller, inside the stream where one has begun. */
async function endFailed(
  services: TextServices,
  { thrown, record, reply, context }: Failure,
): Promise<void> {
  const error = toGatewayError(thrown);
  if (error.code === "internal_error")
    services.log.error({ err: thrown, call: record.id }, "a text call failed");
  // A hold that was posted stays posted: a release after it is a named result without effect. Without a database the
  // caller is not kept waiting for it a second time; the hold then ends with its lease.
  const released = context && services.spend.release(context.hold);
  if (error.code !== "database_unavailable") await released;
  if (reply.gone) record.status = "client_closed";
  else recordFailure(record, error);
  if (reply.gone || reply.ended) return;
  if (!reply.started) throw new TextCallError(error, context?.refusalBody);
  reply.end(context!.route.tap().fail(error));
}

/** Sends something harmless from time to time until the first frame, so that no proxy cuts a call that thinks long (T88). */
async function keepingAlive(context: CallContext, work: () => Promise<void>): Promise<void> {
  const timer = setInterval(() => {
    if (context.record.firstTokenMs === null && !context.reply.gone) context.reply.keepAlive();
  }, context.services.keepAliveMs);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
}
