/**
 * The transaction that makes tasks: key, hold, row and uploads of every submission that waits for it, together. Calls that count
 * in the queue are decided one after another in the whole database, so in transactions of their own each would wait for the
 * commit of the one before. Design section 6; TASK-14; T81.
 */
import { createBatcher, refusalError, reserveAllIn, type ReserveInput } from "../ledger/index.ts";
import { assignInputs, isTransient, type Queryable } from "../storage/index.ts";
import type { TaskServices } from "./engine.ts";
import {
  AlreadyClaimedError,
  claimKeys,
  forgetKeys,
  keyInProgress,
  type KeyClaim,
} from "./idempotency.ts";
import { insertRows, type NewRow, type TaskRow } from "./rows.ts";
import type { IdempotencyClaim } from "./types.ts";

/** A task that nothing but money, the queue and its key can refuse any more. */
export interface Submission {
  readonly hold: ReserveInput;
  readonly row: NewRow;
  readonly claim: IdempotencyClaim | undefined;
  /** Names of uploaded files that end with the task. */
  readonly uploads: readonly string[];
}

export interface Acceptance {
  /** Makes the task. @throws GatewayError what refuses it, AlreadyClaimedError; then nothing of it is kept */
  accept(submission: Submission): Promise<TaskRow>;
  /** Resolves when nothing is waiting or under way. */
  idle(): Promise<void>;
}

const togetherMax = 128;
/** Above this a request, which may carry pictures, is written by itself: what is written together is in memory together. */
const smallChars = 64 * 1024;

type Outcome = { readonly row: TaskRow } | { readonly refusal: Error };

/** An acceptance for one process. */
export function createAcceptance(services: TaskServices): Acceptance {
  const run = (submissions: readonly Submission[]) =>
    services.database.transaction((tx) => acceptAll(services, tx, submissions));
  const batcher = createBatcher<Submission, Outcome>({
    sizeMax: () => togetherMax,
    run,
    isShared: isTransient,
  });
  return {
    async accept(submission) {
      const isSmall = submission.row.request.length <= smallChars;
      const outcome = isSmall ? await batcher.add(submission) : (await run([submission]))[0]!;
      if ("refusal" in outcome) throw outcome.refusal;
      return outcome.row;
    },
    idle: () => batcher.idle(),
  };
}

async function acceptAll(
  services: TaskServices,
  tx: Queryable,
  submissions: readonly Submission[],
): Promise<Outcome[]> {
  const nowMs = services.clock.now();
  const refusals = new Map<Submission, Error>();
  const standing = () => submissions.filter((one) => !refusals.has(one));
  // The keys first: whoever has to wait for one holds nothing that others need.
  await claim(tx, submissions, { refusals, nowMs });
  await reserve(services, tx, standing(), { refusals, nowMs });
  const rows = await insertRows(
    tx,
    standing().map(({ row }) => row),
  );
  for (const { hold, uploads } of standing()) {
    if (uploads.length === 0) continue;
    await assignInputs(tx, uploads, { workspaceId: hold.workspaceId, taskId: hold.id });
  }
  await services.at("submit.accepted");
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  return submissions.map((submission): Outcome => {
    const refusal = refusals.get(submission);
    return refusal ? { refusal } : { row: rowOf.get(submission.hold.id)! };
  });
}

function keyClaimOf({ claim: asked, hold }: Submission): KeyClaim[] {
  return asked === undefined ? [] : [{ ...asked, workspaceId: hold.workspaceId, taskId: hold.id }];
}

interface Deciding {
  readonly refusals: Map<Submission, Error>;
  readonly nowMs: number;
}

async function claim(
  tx: Queryable,
  submissions: readonly Submission[],
  { refusals, nowMs }: Deciding,
): Promise<void> {
  const claiming = submissions.filter((one) => one.claim !== undefined);
  if (claiming.length === 0) return;
  const outcomes = await claimKeys(tx, claiming.flatMap(keyClaimOf), nowMs);
  for (const [index, submission] of claiming.entries()) {
    if (outcomes[index] === "taken") refusals.set(submission, new AlreadyClaimedError());
    if (outcomes[index] === "in_progress") refusals.set(submission, keyInProgress());
  }
}

async function reserve(
  { queue }: TaskServices,
  tx: Queryable,
  submissions: readonly Submission[],
  { refusals, nowMs }: Deciding,
): Promise<void> {
  const holds = submissions.map(({ hold }) => hold);
  const results = await reserveAllIn(tx, holds, nowMs, queue);
  const refused: Submission[] = [];
  for (const [index, submission] of submissions.entries()) {
    const refusal = refusalError(results[index]!, submission.hold.amountNano);
    if (!refusal) continue;
    refusals.set(submission, refusal);
    refused.push(submission);
  }
  const unused = refused.flatMap(keyClaimOf);
  if (unused.length > 0) await forgetKeys(tx, unused);
}
