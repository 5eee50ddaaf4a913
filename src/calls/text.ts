/**
 * One call that is answered at once (text, embeddings), from an authenticated request to its settled answer: resolve, reserve, attempt, meter, post, answer.
 * Requirements: TXT; docs/architecture.md, docs/ledger.md, docs/routing.md.
 */
import { CallContext, type AnyCall, type TextServices } from "./context.ts";
import { prepareEmbedding } from "./embeddings.ts";
import { endFailed } from "./end.ts";
import { keeperOf } from "./keep.ts";
import { prepare, type Candidate } from "./prepare.ts";
import { startRecord, type CallRecord } from "./record.ts";
import type { Reply } from "./reply.ts";
import { textFailover } from "./text-attempts.ts";
import { traceCall } from "./trace.ts";

/**
 * Runs one call and writes its answer to `reply`.
 * @throws CallError when nothing of the answer was sent yet; once a stream has begun, errors travel inside it.
 */
export async function runTextCall(
  services: TextServices,
  call: AnyCall,
  caller: Reply,
): Promise<void> {
  const keeper = keeperOf(call, caller);
  const reply = keeper ?? caller;
  const record: CallRecord = startRecord({
    id: call.id,
    startedMs: services.clock.now(),
    protocol: call.protocol,
    stream: call.stream,
    workspaceId: call.caller.workspaceId,
    keyId: call.caller.keyId,
    span: call.span,
    model: call.model,
    tags: call.tags,
  });
  call.span?.keep();
  let context: CallContext | undefined;
  try {
    const prepared =
      call.protocol === "embeddings"
        ? prepareEmbedding(services, call, record)
        : prepare(services, call, record);
    const taking = call.rate?.takeTokens(prepared.inputEstimate);
    if (taking !== undefined) await taking;
    const hold = { id: call.id, workspaceId: call.caller.workspaceId };
    await services.spend.reserve(hold, call.caller, record.reservedNano);
    context = new CallContext({
      services,
      call,
      reply,
      record,
      hold,
      keeper,
      inputEstimate: prepared.inputEstimate,
      route: prepared.candidates[0]!.route(),
    });
    if (call.stream) await answerKeptAlive(context, prepared.candidates);
    else await textFailover.answer(context, prepared.candidates);
  } catch (thrown) {
    const end = endFailed(services, {
      thrown,
      record,
      reply,
      hold: context?.hold,
      framesOf: (error) => context!.route.tap().fail(error),
    });
    await (keeper === undefined ? end : keeper.watch(end));
  } finally {
    record.durationMs = services.clock.now() - record.startedMs;
    call.rate?.settle(record.metered?.usage);
    record.bodies = keeper?.bodies(record);
    traceCall(record);
    services.finished(record);
  }
}

/** Sends something harmless from time to time until the first frame, so that no proxy cuts a call that thinks long (T88). */
async function answerKeptAlive(
  context: CallContext,
  candidates: readonly Candidate[],
): Promise<void> {
  const timer = setInterval(() => {
    if (context.record.firstTokenMs === null && !context.reply.gone) context.reply.keepAlive();
  }, context.services.keepAliveMs);
  try {
    await textFailover.answer(context, candidates);
  } finally {
    clearInterval(timer);
  }
}
