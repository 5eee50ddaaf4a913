/**
 * Claims the next steps of tasks. A claim writes a token and a lease, and every write of the step names the token. If
 * two processes believe that they hold a task, only the latest can write. docs/tasks.md; T79.
 */
import { hourMs } from "../base/durations.ts";
import { polledProviders } from "../catalog/index.ts";
import { settleRetryMs, type Queryable } from "../storage/index.ts";
import type { TaskServices } from "./engine.ts";
import { newToken, currentOwner } from "./owner.ts";
import { expiredLease, newLocalLease } from "./local-lease.ts";
import { taskColumns, toJob, type Job, type TaskRow } from "./rows.ts";
import type { TaskStatus } from "./states.ts";

/** `ask`: a vendor is asked to begin a job; `poll`: a vendor is asked for the state of its job. */
export type LaneName = "ask" | "poll";

/** A task whose step is due. */
export interface DueTask {
  readonly workspaceId: string;
  readonly id: string;
  /** The account to poll, as {@link accountOf}; null if there is none, or if the task is past its deadline. */
  readonly account: string | null;
}

/** The account at a vendor that has a job: `<provider> <credential>`. */
export const accountOf = ({ provider, credential }: Pick<Job, "provider" | "credential">): string =>
  `${provider} ${credential}`;

/** The filter for due tasks. */
export interface DueInput {
  readonly lane: LaneName;
  readonly limit: number;
  /** Workspaces without a free slot. */
  readonly fullWorkspaces: readonly string[];
  /** Accounts at vendors not to be polled now, as {@link accountOf}; with a workspace's id in front, only for that workspace. */
  readonly passedOver: readonly string[];
  /** Jobs that this process works on: after a clock jump, or while the database was away, their leases look expired. */
  readonly underWay: Iterable<Job>;
  /** Whether a submission in flight may count as abandoned after its lease has expired. */
  readonly takesAbandoned: boolean;
}

/**
 * $1 is now, $2 the time before which the lease of a submission in flight must have ended. Its process may be suspended or cut off and
 * still get the answer, which only it can write.
 */
const isFree = `due_at <= $1 and (lease_until is null or lease_until <= case when asking then $2 else $1 end)`;

function freeAt({ clock, timing }: TaskServices, takesAbandoned: boolean): [Date, Date] {
  const nowMs = clock.now();
  return [new Date(nowMs), new Date(takesAbandoned ? nowMs - timing.abandonMs : 0)];
}

/**
 * Providers and keys that this gateway can poll. A gateway with another configuration must not take the poll of a
 * provider that it does not know before other gateways can, only to postpone it.
 */
function knownKeys({ catalog }: TaskServices): string[] {
  const providers = polledProviders(catalog()).flatMap((known) => [...known.values()]);
  return providers.flatMap(({ id, credentials }) =>
    credentials.map((credential) => `${id} ${credential.id}`),
  );
}

/** Milliseconds for which a step that needs a provider unknown here is left to gateways that may know it. */
export const otherGatewaysFirstMs = 15_000;

/**
 * True if this gateway knows what the step needs. A new task needs one of its providers ($10): a gateway whose configuration is older than
 * that of the one that accepted it would only give it up. A job at a vendor needs its provider and key ($8).
 */
const isKnownHere = `case when upstream_id is null
  then asking or attempt > 0 or exists (select from jsonb_array_elements(plan -> 'offers') o where o ->> 'provider' = any ($10::text[]))
  else provider || ' ' || credential = any ($8::text[]) end`;

/** Selects a lane's tasks. A task that a synchronous vendor refused has the status `running`, and still belongs to `ask`. */
const inLane = "(upstream_id is null) = ($3 = 'ask')";

/** Tasks of one lane whose step is due, the longest due first; any number of processes may query at once. */
export function findDue(
  services: TaskServices,
  { lane, limit, fullWorkspaces, passedOver, underWay, takesAbandoned }: DueInput,
): Promise<DueTask[]> {
  return services.database.query<DueTask>(
    `select workspace_id as "workspaceId", id,
       case when upstream_id is not null and expires_at > $1 then provider || ' ' || credential end as account
     from tasks
     where ${isFree} and ${inLane} and workspace_id <> all ($4::text[]) and id <> all ($5::text[])
       and (expires_at <= $1 or (due_at <= $7 or ${isKnownHere})
         and (upstream_id is null or provider || ' ' || credential <> all ($9::text[])
           and workspace_id || ' ' || provider || ' ' || credential <> all ($9::text[])))
     order by due_at limit $6`,
    [
      ...freeAt(services, takesAbandoned),
      lane,
      fullWorkspaces,
      Array.from(underWay, (job) => job.id),
      limit,
      new Date(services.clock.now() - otherGatewaysFirstMs),
      knownKeys(services),
      passedOver,
      [...services.catalog().providers.keys()],
    ],
    { name: "tasks_due" },
  );
}

/** Claims the tasks of `due` that no other process has claimed meanwhile. */
export async function claimDue(
  services: TaskServices,
  due: readonly Pick<DueTask, "workspaceId" | "id">[],
  { lane, takesAbandoned }: Pick<DueInput, "lane" | "takesAbandoned">,
): Promise<Job[]> {
  const { leaseMs } = services.timing;
  const localLease = newLocalLease(leaseMs);
  const rows = await services.database.query<TaskRow>(
    `update tasks t set lease_token = $4, lease_until = $5
     from (
       select workspace_id, id from tasks
       where (workspace_id, id) in (select * from unnest($6::text[], $7::text[])) and ${isFree} and ${inLane}
       for update skip locked
     ) free
     where t.workspace_id = free.workspace_id and t.id = free.id
     returning ${taskColumns}`,
    [
      ...freeAt(services, takesAbandoned),
      lane,
      newToken(currentOwner(services.database.signals.number)),
      new Date(services.clock.now() + leaseMs),
      due.map((one) => one.workspaceId),
      due.map((one) => one.id),
    ],
    { name: "tasks_claim" },
  );
  return rows.map((row) => ({ ...toJob(row), localLease: { ...localLease } }));
}

/** Gives the jobs of a claim back, for other gateways to take at once: the runner was stopped while the claim was on its way. */
export async function releaseClaim(
  { database }: TaskServices,
  [job]: readonly Job[],
): Promise<void> {
  if (job === undefined) return;
  await database.query(
    "update tasks set lease_token = null, lease_until = null where due_at is not null and lease_token = $1",
    [job.leaseToken],
  );
}

/** Extends the leases of jobs with long steps; ends the local lease of a job whose lease was lost. */
export async function extendLeases(
  { database, clock, timing }: TaskServices,
  jobs: readonly Job[],
): Promise<void> {
  if (jobs.length === 0) return;
  const extended = newLocalLease(timing.leaseMs);
  const rows = await database.query<{ id: string }>(
    `update tasks t set lease_until = $1
     from unnest($2::text[], $3::text[], $4::text[]) as held (workspace_id, id, token)
     where t.workspace_id = held.workspace_id and t.id = held.id and t.lease_token = held.token
     returning t.id`,
    [
      new Date(clock.now() + timing.leaseMs),
      jobs.map((job) => job.workspaceId),
      jobs.map((job) => job.id),
      jobs.map((job) => job.leaseToken),
    ],
  );
  const held = new Set(rows.map(({ id }) => id));
  for (const { id, localLease } of jobs)
    if (localLease) Object.assign(localLease, held.has(id) ? extended : expiredLease);
}

/** The most by which a due time, or a lease's end, can be later than normal. Beyond that, a clock was wrong. */
export const aheadMsMax = 5 * 60 * 1000;

/**
 * Repairs times from a clock that ran ahead, once it has been set back: steps are due now, and leases end as if
 * they were taken now. Their holders go on extending them.
 */
export async function mendAfterClockJump({
  database,
  clock,
  timing,
}: TaskServices): Promise<number> {
  const nowMs = clock.now();
  const leaseEnd = new Date(nowMs + timing.leaseMs);
  const rows = await database.query(
    `update tasks set due_at = least(due_at, $1), lease_until = case when lease_until > $2 then $2 else lease_until end
     where due_at > $3 or (due_at is not null and lease_until > $4) returning id`,
    [
      new Date(nowMs),
      leaseEnd,
      new Date(nowMs + aheadMsMax),
      new Date(leaseEnd.getTime() + aheadMsMax),
    ],
  );
  return rows.length;
}

/**
 * Milliseconds for which a step retries its write. Only this process knows of a submission in flight and its answer, so it
 * retries for as long as the database may be away. Anything else another process can find out again.
 */
export const writeRetryMs = ({ asking }: Pick<Job, "asking">): number =>
  asking ? hourMs : settleRetryMs;

/** Columns that a step may write. JSON columns are given as JSON text. */
export type JobChange = Partial<{
  status: TaskStatus;
  attempts: string;
  notes: string;
  attempt: number;
  provider: string | null;
  credential: string | null;
  upstream_model: string | null;
  upstream_id: string | null;
  asking: boolean;
  misses: number;
  missing_since: Date | null;
  due_at: Date | null;
  lease_token: string | null;
  lease_until: Date | null;
  cost_nano: bigint;
  usage: string | null;
  artifacts: string;
  error: string | null;
  finished_at: Date;
}>;

/** The columns that release a job for its next step, at a time in Unix milliseconds. */
export const dueAt = (ms: number): JobChange => ({
  due_at: new Date(ms),
  lease_token: null,
  lease_until: null,
});

/**
 * Writes a step's outcome if this process still holds the job and the job has not ended.
 * With `ifUnchanged` the writer is not the holder but has just read the job (a cancellation). The job must then be unchanged since,
 * whichever process holds it.
 * @returns false if nothing was written.
 */
export async function writeJob(
  database: Queryable,
  job: Job,
  change: JobChange,
  options: { readonly nowMs: number; readonly ifUnchanged?: boolean },
): Promise<boolean> {
  const { nowMs, ifUnchanged = false } = options;
  const entries = Object.entries({ ...change, updated_at: new Date(nowMs) });
  const own = ifUnchanged
    ? "status = $3 and attempt = $4 and upstream_id is not distinct from $5 and not asking"
    : "status in ('queued', 'running') and lease_token = $3";
  const ownValues = ifUnchanged ? [job.status, job.attempt, job.upstreamId] : [job.leaseToken];
  const first = 3 + ownValues.length;
  const sets = entries.map(([column], index) => `${column} = $${first + index}`);
  const rows = await database.query<{ id: string }>(
    `update tasks set ${sets.join(", ")} where workspace_id = $1 and id = $2 and ${own} returning id`,
    [job.workspaceId, job.id, ...ownValues, ...entries.map(([, value]) => value)],
  );
  return rows.length > 0;
}
