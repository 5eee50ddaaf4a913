/**
 * The end of an image call that made something. One transaction charges it, stores its files and binds its answer. Requirements: IMG
 * (`gw`); rows EDIT2-29 to EDIT2-37, BILL-20; T55, T56, T62.
 */
import type { MediaCandidate } from "../attempts/index.ts";
import { toGatewayError } from "../base/errors.ts";
import { chargeFor } from "../base/cost-bound.ts";
import { hourMs } from "../base/durations.ts";
import { newId } from "../base/ids.ts";
import { noteSentences } from "../base/notes.ts";
import { FileDrafts, recordFile } from "../files/index.ts";
import { retryWhileAway, settleRetryMs, type Queryable } from "../storage/index.ts";
import { families, mediaUsage, priceMedia, type MediaUsage } from "../media/index.ts";
import {
  answerKey,
  insertFinished,
  keyLifetimeMs,
  noAnswer,
  type Artifact,
} from "../tasks/index.ts";
import type { Rendered, ReportedUsage } from "../upstream/index.ts";
import { heldMs, type ImageContext } from "./image-context.ts";
import { madeInVain } from "./image-failures.ts";
import { sizeOf, tokensOf, type Picture } from "./image-pictures.ts";
import { keepAnswer, type Answer } from "./kept-answer.ts";

/** The output of a vendor. */
export interface ProducedPictures {
  readonly candidate: MediaCandidate;
  /** At least one. */
  readonly pictures: readonly (Picture & { readonly revisedPrompt?: string | undefined })[];
  /** Number of previews sent, at most as many as were asked for; absent: none. */
  readonly previews?: number | undefined;
  readonly rendered: Rendered;
  readonly reported: ReportedUsage;
}

/** The parts of an answer that settling decides: usage and stored files. */
export interface Settled {
  readonly usage: ReturnType<typeof tokensOf>;
  /** On the second form of edits only (EDIT2-37). */
  readonly gw?: object;
}

/** How long unclaimed files of a call stay before the sweep deletes them; longer than any charge takes. Rows STORE; EDIT2-35. */
const unclaimedMs = hourMs;
/** Half of the time until connections are cut, in ms: for the last try to store a file. */
const lastTryMs = 250;

/** Charges what was made; `render` makes the answer. On failure nothing is stored. @throws GatewayError */
export async function settle<Rendering extends Answer>(
  context: ImageContext,
  made: ProducedPictures,
  render: (settled: Settled) => Rendering,
): Promise<Rendering> {
  const { services, call, record, request } = context;
  // A vendor may make fewer previews than were asked for, and none if it does not stream.
  const produced = { ...request, partialImages: made.previews ?? 0 };
  const { usage, isReported } = mediaUsage(produced, made.reported, {
    count: made.pictures.length,
    as: {
      sizes: made.pictures.map(({ header }) => sizeOf(header)),
      quality: made.rendered.quality,
    },
  });
  const costNano = chargeOf(context, made.candidate, usage);
  const owner = {
    workspaceId: call.caller.workspaceId,
    waitMs: unclaimedMs,
    untilMs: performance.now() + heldMs(context, made.candidate.provider),
    stop: { signal: context.stopped, ms: lastTryMs },
  };
  // A picture that was paid for waits for the database as long as its charge does.
  const kept = new FileDrafts(services, owner, (row) =>
    retryWhileAway(settleRetryMs, () => recordFile(services.database, row)),
  );
  try {
    // A call that could have been submitted as a task is also stored as one.
    const finished = families[request.family].forms.includes("tasks")
      ? await finish(context, made, { usage, costNano, kept })
      : undefined;
    const answer = render({ usage: tokensOf(usage), ...(finished && { gw: finished.gw }) });
    const name = call.idempotency && (await keepAnswer(kept, answer, record.notes));
    record.costNano = await services.holds.charge(context.hold, costNano, async (tx) => {
      if (name !== undefined) await bindKey(context, tx, name);
      await kept.keep(tx, { result: services.retentionMs, answer: keyLifetimeMs });
      if (finished) await insertFinished(tx, finished.task);
    });
    record.metered = { usage, source: isReported ? "upstream" : "estimated" };
    record.price = made.candidate.offer.price;
    record.status = context.gone.aborted ? "client_closed" : "succeeded";
    return answer;
  } catch (error) {
    const { code } = toGatewayError(error);
    // Without a database the outcome of the charge is unknown: the sweep decides about the files.
    if (code !== "database_unavailable") await kept.discard();
    // A repetition with the same key finds the answer if it was charged after all.
    const mayRepeat = code === "idempotency_in_progress" || code === "database_unavailable";
    throw call.idempotency && mayRepeat ? error : madeInVain(error);
  }
}

/** Binds the idempotency key to the answer in the transaction that charges the call, so that a retry never charges again. */
async function bindKey({ call, hold }: ImageContext, tx: Queryable, name: string): Promise<void> {
  const { idempotency: claim, caller } = call;
  if (claim) await answerKey(tx, { workspaceId: caller.workspaceId, claim }, hold.id, name);
}

interface Priced {
  readonly usage: MediaUsage;
  readonly costNano: bigint;
  readonly kept: FileDrafts;
}

/** Stores the pictures, and builds the task record and the `gw` object. */
async function finish(
  context: ImageContext,
  made: ProducedPictures,
  { usage, costNano, kept }: Priced,
) {
  const { services, call, record, prepared } = context;
  const nowMs = services.clock.now();
  const id = newId("task", nowMs);
  const artifacts: Artifact[] = [];
  for (const { base64, header } of made.pictures) {
    const bytes = Buffer.from(base64, "base64");
    const { mediaType } = header;
    // The pictures are deleted with their task, such as when its end user is erased.
    const { name } = await kept.put({ purpose: "result", mediaType, source: bytes, taskId: id });
    artifacts.push({ name, mediaType, bytes: bytes.length });
  }
  const task = {
    id,
    prepared,
    usage,
    costNano,
    artifacts,
    nowMs,
    caller: call.caller,
    form: call.form,
    notes: record.notes,
    startedMs: record.startedMs,
    tags: call.tags,
    attempts: record.attempts.map(
      ({ started_ms, duration_ms: _duration, status: _status, ...rest }) => ({
        ...rest,
        started_at: new Date(record.startedMs + started_ms).toISOString(),
      }),
    ),
  };
  const gw = {
    task_id: id,
    generation_id: call.id,
    provider: made.candidate.provider.id,
    cost_nano: String(costNano),
    images: artifacts.map(({ name }, index) => ({ index, url: services.fileUrl(name) })),
    notes: noteSentences(record.notes),
  };
  return { gw, task };
}

const chargeOf = (
  { services: { log }, hold: { id } }: ImageContext,
  { offer }: MediaCandidate,
  usage: MediaUsage,
): bigint => chargeFor(priceMedia(offer.price, usage), { log, id });

/**
 * Charges the arrived part of a stream that its client left (docs/decisions.md "Client disconnect"). That is the input and the
 * previews, at most as many as were asked for. The vendor reports its usage only with the finished picture.
 */
export async function chargePartial(
  context: ImageContext,
  candidate: MediaCandidate,
  previews: number,
): Promise<void> {
  const { services, request, record, hold } = context;
  const partialImages = Math.min(previews, request.partialImages ?? 0);
  const { usage } = mediaUsage({ ...request, partialImages }, {}, { count: 0 });
  const costNano = chargeOf(context, candidate, usage);
  record.costNano = await services.holds.charge(hold, costNano, (tx) =>
    bindKey(context, tx, noAnswer),
  );
  record.metered = { usage, source: "estimated" };
  record.price = candidate.offer.price;
}
