/**
 * One call that is answered in its own response (text, embeddings), from an authenticated request to its settled answer: resolve,
 * admit, attempt, meter, charge, answer.
 * Requirements: TXT; docs/architecture.md, docs/ledger.md, docs/routing.md.
 */
import { badAnswer, type Failure } from "../attempts/index.ts";
import { msSince } from "../base/elapsed.ts";
import { errorCodec, type Route } from "../protocols/index.ts";
import { CallContext, type AnyCall, type Answered, type TextServices } from "./context.ts";
import { prepareEmbedding } from "./embeddings.ts";
import { endFailed } from "./end.ts";
import { askHooks, isNotified, notifyAfterHooks } from "./hooks.ts";
import { keeperOf, type Keeper } from "./keep.ts";
import { releaseRequest, discardDerived } from "./release-request.ts";
import { writeAhead } from "./outgoing.ts";
import { prepare, type Candidate, type Prepared } from "./prepare.ts";
import { cacheOf, type CachedCall } from "./response-cache.ts";
import { startRecord, type CallRecord } from "./record.ts";
import { keptOpen, type Reply } from "./reply.ts";
import { nothingIsCharged, stopping, unlessStopped } from "./stopping.ts";
import { textFailover } from "./text-attempts.ts";
import { traceCall } from "./trace.ts";

/**
 * Runs one call and writes its answer to `reply`.
 * @throws CallError when nothing of the answer was sent yet; once a stream has begun, errors are sent inside it.
 */
export async function runTextCall(
  services: TextServices,
  call: AnyCall,
  caller: Reply,
): Promise<void> {
  const keeper = keeperOf(call, caller);
  const record = recordOf(services, call);
  const run: Run = { call, reply: keeper ?? caller, keeper, record, isCharged: false };
  services.began?.(record);
  call.span?.keep();
  try {
    await answer(services, run);
  } catch (thrown) {
    const { reply, context } = run;
    const end = endFailed(services, {
      thrown,
      record,
      reply,
      inStream: ({ code }, last) => isReportedInStream(run.call, code, last),
      framesOf: (error) => context!.tap.fail(error),
    });
    await (keeper === undefined ? end : keeper.watch(end));
  } finally {
    record.durationMs = msSince(record.beganMs);
    call.rate?.settle(record.metered?.usage);
    // Usage that could not be charged is on no bill, so no sum may count its tokens.
    if (!run.isCharged) record.metered = undefined;
    record.bodies = keeper?.bodies(record);
    traceCall(record);
    services.finished(record);
    run.cached?.keep(record);
    // Asked first: reading the body may parse it again.
    if (services.hooks !== undefined && isNotified(services.hooks, run.call))
      notifyAfterHooks(services.hooks, { ...run.call, body: run.call.body.kept }, record);
  }
}

/** Only an attempt, which has a context, ends with such an error. */
function isReportedInStream({ protocol, stream }: AnyCall, code: string, last?: Failure): boolean {
  const when = stream ? errorCodec(protocol).reportedInStream?.get(code) : undefined;
  return when === "always" || (when === "as_vendor" && last?.outcome === badAnswer);
}

/** A call in flight; `context` is set once only money can refuse it. */
interface Run {
  /** The call as hooks left it. */
  call: AnyCall;
  reply: Reply;
  readonly keeper: Keeper | undefined;
  readonly record: CallRecord;
  cached?: CachedCall | undefined;
  context?: CallContext;
  /** True if its usage is in the ledger. */
  isCharged: boolean;
}

/** Asks hooks, prepares, admits and answers the call, and sends the answer's end after the charge. */
async function answer(services: TextServices, run: Run): Promise<void> {
  const { record } = run;
  if (services.hooks !== undefined) await unlessStopped(record, askHooks(services.hooks, run));
  const { call } = run;
  run.cached = cacheOf(services.cache, call, run.reply);
  if (run.cached !== undefined) run.reply = run.cached.reply;
  const prepared =
    call.protocol === "embeddings"
      ? prepareEmbedding(services, call, record)
      : prepare(services, call, record);
  const context = (run.context = contextOf(services, run, prepared));
  if (run.cached === undefined) writeAhead(context, prepared.candidates[0]!);
  const taking = call.rate?.takeTokens(prepared.inputEstimate);
  if (taking !== undefined) await unlessStopped(record, taking);
  const { workspaceId, keyId, keyRotation } = call.caller;
  const reservation = {
    id: call.id,
    workspaceId,
    keyId,
    keyRotation,
    amountNano: record.reservedNano,
  };
  let answered: Answered;
  try {
    const spent = services.ledger.spend(reservation, () => {
      // Admitted after its caller was told that the gateway stops.
      if (context.isStopped) throw stopping(nothingIsCharged);
      record.stoppable = context;
      return findAnswer(run, context, prepared.candidates);
    });
    const isLetIn = record.stoppable === context;
    answered = await (isLetIn ? spent : unlessStopped(record, spent, () => context.stop(true)));
  } finally {
    record.stoppable = undefined;
  }
  run.isCharged = true;
  record.costNano = answered.amountNano;
  record.status = run.reply.gone ? "client_closed" : "succeeded";
  answered.end();
}

/** The answer of an admitted call: from the cache or a provider. */
async function findAnswer(
  { call, cached }: Run,
  context: CallContext,
  candidates: readonly Candidate[],
): Promise<Answered> {
  const kept = cached && (await cached.answer(context));
  if (kept !== undefined) return kept;
  return await (call.stream
    ? keptOpen(context, () => textFailover.answer(context, candidates))
    : textFailover.answer(context, candidates));
}

/** A separate function: one that waits for the answer would hold the route, and all it references, until the end. */
function contextOf(
  services: TextServices,
  { call, reply, record, keeper }: Run,
  { candidates, inputEstimate }: Prepared,
): CallContext {
  const holders = { call, candidates, keeper, hooks: services.hooks };
  const route = candidates[0]!.route();
  return new CallContext({
    services,
    call,
    reply,
    record,
    inputEstimate,
    route,
    keeper,
    discardDerived: () => discardDerived(holders),
    releaseRequest: (begun: Route) => releaseRequest(holders, begun),
  });
}

const recordOf = ({ clock }: TextServices, call: AnyCall): CallRecord =>
  startRecord({
    id: call.id,
    startedMs: clock.now(),
    protocol: call.protocol,
    stream: call.stream,
    workspaceId: call.caller.workspaceId,
    keyId: call.caller.keyId,
    span: call.span,
    model: call.model,
    tags: call.tags,
  });
