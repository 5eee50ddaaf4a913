/**
 * Ends the leases of processes that are gone. Another process may take a step without a submission at any
 * time, because its token decides who writes. A submission in flight is given up only if its process is certainly dead: a living one
 * may still get the answer. The same holds for a callback in flight, which may have reached the receiver. docs/tasks.md "After a crash"; T79,
 * T81.
 */
import type { TaskServices } from "./engine.ts";
import { isDead, readOwner, type Owner } from "./owner.ts";

/** Milliseconds without a connection after which a process counts as gone: a living one reconnects much sooner. */
export const absentMs = 10_000;

export interface DeadOwners {
  /** Finds owners that are gone, and ends their leases. @returns the number of tasks */
  releaseLeases(): Promise<number>;
}

/** The processes that hold a lease now, by the text in their tokens. */
async function ownersOf({
  database,
  clock,
  timing,
}: TaskServices): Promise<ReadonlyMap<string, Owner>> {
  const now = clock.now();
  const rows = await database.query<{ owner: string }>(
    `select distinct split_part(lease_token, ' ', 1) as owner from tasks
     where due_at <= $1 and lease_token like '% %' and lease_until > case when asking then $2 else $1 end
     union
     select split_part(lease_token, ' ', 1) from webhook_deliveries
     where due_at <= $1 and lease_token like '% %' and lease_until > $1`,
    [new Date(now), new Date(now - timing.abandonMs)],
    { name: "tasks_owners" },
  );
  const found = rows.map(({ owner }) => [owner, readOwner(owner)] as const);
  return new Map(found.filter((pair): pair is [string, Owner] => pair[1] !== undefined));
}

/** The owners in other processes that are not connected to the database. */
async function absentOf(
  { signals }: TaskServices["database"],
  owners: ReadonlyMap<string, Owner>,
): Promise<string[]> {
  const others = [...owners].filter(([, { number }]) => number !== signals.number);
  if (others.length === 0) return [];
  const missing = new Set(await signals.absent(others.map(([, { number }]) => number)));
  return others.flatMap(([text, { number }]) => (missing.has(number) ? [text] : []));
}

/** Creates the search for owners that are gone. `nowMs`: monotonic. */
export function createDeadOwners(
  services: TaskServices,
  nowMs: () => number = () => performance.now(),
): DeadOwners {
  const { database, clock, log } = services;
  /** The time since which each owner is not connected. */
  let absentSince = new Map<string, number>();
  return {
    async releaseLeases() {
      const all = await ownersOf(services);
      const missing = await absentOf(database, all);
      const atMs = nowMs();
      absentSince = new Map(missing.map((text) => [text, absentSince.get(text) ?? atMs]));
      const isAway = (text: string): boolean => atMs - (absentSince.get(text) ?? atMs) >= absentMs;
      const dead: string[] = [];
      const away: string[] = [];
      for (const [text, owner] of all) {
        const known = isDead(owner);
        if (known ?? (services.ownsDatabase && isAway(text))) dead.push(text);
        else if (isAway(text)) away.push(text);
      }
      if (dead.length === 0 && away.length === 0) return 0;
      await releaseCallbackLeases(services, dead);
      const rows = await database.query<{ id: string }>(
        `update tasks set lease_token = null, lease_until = null
         where due_at <= $1 and (split_part(lease_token, ' ', 1) = any ($2::text[])
           or not asking and split_part(lease_token, ' ', 1) = any ($3::text[])) returning id`,
        [new Date(clock.now()), dead, away],
      );
      if (rows.length > 0)
        log.warn({ tasks: rows.length }, "a gateway is gone; its tasks are taken over");
      return rows.length;
    },
  };
}

/** Ends the leases of dead processes on callbacks; the next look into the outbox claims these. Their tries do not count for the schedule. */
async function releaseCallbackLeases(
  { database, clock, log }: TaskServices,
  dead: readonly string[],
): Promise<void> {
  if (dead.length === 0) return;
  const rows = await database.query(
    `update webhook_deliveries set lease_token = null, lease_until = null, attempts_before = attempts_before + 1
     where due_at <= $1 and lease_token is not null and split_part(lease_token, ' ', 1) = any ($2::text[]) returning id`,
    [new Date(clock.now()), dead],
  );
  if (rows.length > 0)
    log.warn({ callbacks: rows.length }, "a gateway is gone; its callbacks are sent again");
}
