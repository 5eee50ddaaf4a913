/**
 * Creates tasks: one transaction writes the keys, holds, rows and uploads of all waiting submissions. The database admits calls that
 * count in the queue one at a time, so in transactions of their own each would wait for the commit before. docs/tasks.md; TASK-14; T81.
 */
import { createBatcher } from "./batcher.ts";
import { GatewayError } from "../base/errors.ts";
import { assignInputs } from "../files/index.ts";
import { reserveIn, type HoldInput } from "../ledger/index.ts";
import { reserveRetryMs, retryRolledBack, type Queryable } from "../storage/index.ts";
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
import { retryUntilFits, type Refusal, type Tried } from "./retry-until-fits.ts";

/** A checked submission; only the balance, the queue limits and its key can still refuse it. */
export interface Submission {
  readonly hold: HoldInput;
  readonly row: NewRow;
  readonly claim: IdempotencyClaim | undefined;
  /** Names of uploaded files, which expire with the task. */
  readonly uploads: readonly string[];
}

export interface Acceptance {
  /**
   * Creates the task. @throws GatewayError with the reason of a refusal, or AlreadyClaimedError: then nothing of it is kept. After
   * `database_unavailable` the task may exist.
   */
  accept(submission: Submission): Promise<TaskRow>;
  /** Resolves when nothing is waiting or in flight. */
  idle(): Promise<void>;
}

const togetherMax = 128;
/** A larger request, which may carry pictures, gets its own transaction: all requests of a batch are in memory together. */
const smallChars = 64 * 1024;

type Outcome = Tried<TaskRow>;

/** Creates the acceptance of one process. */
export function createAcceptance(services: TaskServices): Acceptance {
  // No retry after a lost connection: if the answer to a commit was lost, the tasks exist.
  const run = (submissions: readonly Submission[]) =>
    retryRolledBack(reserveRetryMs, () =>
      services.database.transaction((tx) => acceptAll(services, tx, submissions)),
    );
  const batcher = createBatcher<Submission, Outcome>({
    sizeMax: () => togetherMax,
    run,
    isShared: (error) => error instanceof GatewayError && error.code === "database_unavailable",
  });
  return {
    accept(submission) {
      const isSmall = submission.row.request.length <= smallChars;
      return retryUntilFits(() =>
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
  // Keys first: while a transaction waits for one, it holds no lock that others need.
  await claim(tx, submissions, { refusals, nowMs });
  const rows = await insertRows(
    tx,
    standing().map(({ row }) => row),
  );
  for (const { hold, uploads } of standing()) {
    if (uploads.length === 0) continue;
    await assignInputs(tx, uploads, { workspaceId: hold.workspaceId, taskId: hold.id });
  }
  // Money last: the accounts stay locked until the commit.
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

/** Reserves money for the remaining submissions, and removes the rows and keys of those that are refused. */
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
