/**
 * The transaction that makes tasks: key, hold, row and uploads of every submission that waits for it, together. Calls that count
 * in the queue are decided one after another in the whole database, so in transactions of their own each would wait for the
 * commit of the one before. docs/tasks.md; TASK-14; T81.
 */
import { createBatcher } from "../base/batcher.ts";
import { GatewayError } from "../base/errors.ts";
import { assignInputs } from "../files/index.ts";
import { reserveIn, type HoldInput } from "../ledger/index.ts";
import { persist, type Queryable } from "../storage/index.ts";
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
import { untilFits, type Refusal, type Tried } from "./until-fits.ts";

/** A task that nothing but money, the queue and its key can refuse any more. */
export interface Submission {
  readonly hold: HoldInput;
  readonly row: NewRow;
  readonly claim: IdempotencyClaim | undefined;
  /** Names of uploaded files that end with the task. */
  readonly uploads: readonly string[];
}

export interface Acceptance {
  /**
   * Makes the task. @throws GatewayError what refuses it, AlreadyClaimedError: then nothing of it is kept; `database_unavailable`, after
   * which it may be there
   */
  accept(submission: Submission): Promise<TaskRow>;
  /** Resolves when nothing is waiting or under way. */
  idle(): Promise<void>;
}

const togetherMax = 128;
/** Above this a request, which may carry pictures, is written by itself: what is written together is in memory together. */
const smallChars = 64 * 1024;

type Outcome = Tried<TaskRow>;

/** An acceptance for one process. */
export function createAcceptance(services: TaskServices): Acceptance {
  // Not a second time: a commit whose answer was lost has made them.
  const run = (submissions: readonly Submission[]) =>
    persist(0, () => services.database.transaction((tx) => acceptAll(services, tx, submissions)));
  const batcher = createBatcher<Submission, Outcome>({
    sizeMax: () => togetherMax,
    run,
    isShared: (error) => error instanceof GatewayError && error.code === "database_unavailable",
  });
  return {
    accept(submission) {
      const isSmall = submission.row.request.length <= smallChars;
      return untilFits(() =>
        isSmall ? batcher.add(submission) : run([submission]).then(([outcome]) => outcome!),
      );
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
  const refusals: Refusals = new Map();
  const standing = () => submissions.filter((one) => !refusals.has(one));
  // The keys first: whoever has to wait for one holds nothing that others need.
  await claim(tx, submissions, { refusals, nowMs });
  const rows = await insertRows(
    tx,
    standing().map(({ row }) => row),
  );
  for (const { hold, uploads } of standing()) {
    if (uploads.length === 0) continue;
    await assignInputs(tx, uploads, { workspaceId: hold.workspaceId, taskId: hold.id });
  }
  // The money last: the accounts stay locked until the commit.
  await reserve(services, tx, standing(), refusals);
  await services.at("submit.accepted");
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  return submissions.map((submission): Outcome => {
    const refusal = refusals.get(submission);
    return refusal === undefined ? { made: rowOf.get(submission.hold.id)! } : { refusal };
  });
}

function keyClaimOf({ claim: asked, hold }: Submission): KeyClaim[] {
  return asked === undefined ? [] : [{ ...asked, workspaceId: hold.workspaceId, taskId: hold.id }];
}

type Refusals = Map<Submission, Refusal>;

interface Deciding {
  readonly refusals: Refusals;
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
    if (outcomes[index] === "taken")
      refusals.set(submission, { error: new AlreadyClaimedError(), mayFitSoon: false });
    if (outcomes[index] === "in_progress")
      refusals.set(submission, { error: keyInProgress(), mayFitSoon: false });
  }
}

/** Holds the money of all that stand; what is refused leaves nothing behind. */
async function reserve(
  { queue }: TaskServices,
  tx: Queryable,
  submissions: readonly Submission[],
  refusals: Refusals,
): Promise<void> {
  const holds = submissions.map(({ hold }) => hold);
  const results = await reserveIn(tx, holds, queue);
  const refused: Submission[] = [];
  for (const [index, submission] of submissions.entries()) {
    const refusal = results[index];
    if (refusal === undefined) continue;
    refusals.set(submission, refusal);
    refused.push(submission);
  }
  if (refused.length > 0) await forget(tx, refused);
}

async function forget(tx: Queryable, refused: readonly Submission[]): Promise<void> {
  const keys = refused.flatMap(keyClaimOf);
  if (keys.length > 0) await forgetKeys(tx, keys);
  await tx.query(
    `with forgotten as (
       update files f set task_id = null from unnest($1::text[], $2::text[]) as i (workspace_id, id)
       where f.workspace_id = i.workspace_id and f.task_id = i.id
     )
     delete from tasks t using unnest($1::text[], $2::text[]) as i (workspace_id, id)
     where t.workspace_id = i.workspace_id and t.id = i.id`,
    [refused.map(({ hold }) => hold.workspaceId), refused.map(({ hold }) => hold.id)],
  );
}
