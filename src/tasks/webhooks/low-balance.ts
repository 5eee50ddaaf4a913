/**
 * Warnings that a workspace's balance is at or below the amount that it has chosen: a log event, and a signed callback if it has
 * an address for them. Each is sent once, until the balance was above the amount again. docs/callbacks.md "Low balance".
 */
import { formatUsd } from "../../base/money.ts";
import type { Queryable } from "../../storage/index.ts";
import type { TaskServices } from "../engine.ts";
import { postEvents } from "./events.ts";

export type AlertOptions = Pick<TaskServices, "database" | "clock" | "log" | "wakeDeliverer">;

/** The type of its event. */
const lowType = "balance.low";

interface Low {
  readonly workspace_id: string;
  readonly workspace_name: string;
  readonly amount_nano: bigint;
  readonly left_nano: bigint;
}

/**
 * Workspaces `w`, with the balance and the last warning of each. Reservations of calls in flight count as left: they come and go,
 * and so would the warning. A workspace without limit has no balance to be low.
 */
const looked = `workspaces w
  join ledger_accounts a on a.workspace_id = w.id
  left join low_balances t on t.workspace_id = w.id
  cross join lateral (select a.credits_nano + w.credit_line_nano - a.charged_nano as nano) l
  cross join lateral (select coalesce(l.nano <= w.low_balance_nano, false) as low,
    coalesce(t.amount_nano = w.low_balance_nano, false) as told) s
  where ($1::text[] is null or w.id = any($1)) and (w.low_balance_nano is not null or t.workspace_id is not null)`;

/** Any number. If two looks run at once, the one that read the balance before a credit would warn although it is mended. */
const lockId = 540_001;

/** True if there is a warning to send or to forget: most looks end here. */
async function isDue(database: Queryable, ids: readonly string[] | null): Promise<boolean> {
  const rows = await database.query(
    `select 1 from ${looked} and (s.low <> s.told or t.workspace_id is not null and not s.told) limit 1`,
    [ids],
    { name: "low_balances_due" },
  );
  return rows.length > 0;
}

/** Warnings per transaction: with more callbacks to write it would stay open for longer than the database allows. */
const warningsMax = 1_000;

/** Warns of low balances of these workspaces, or of all if null. */
export async function warnOfLowBalances(
  options: AlertOptions,
  ids: readonly string[] | null,
): Promise<void> {
  if (!(await isDue(options.database, ids))) return;
  while ((await warnOfSome(options, ids)) === warningsMax);
}

/** Sends the warnings of one transaction; returns how many there were. */
async function warnOfSome(
  { database, clock, log, wakeDeliverer }: AlertOptions,
  ids: readonly string[] | null,
): Promise<number> {
  const { low, posted } = await database.transaction(async (tx) => {
    await tx.query("select pg_advisory_xact_lock($1)", [lockId]);
    await tx.query(
      `delete from low_balances where workspace_id in (
         select t.workspace_id from ${looked} and t.workspace_id is not null and not (s.low and s.told))`,
      [ids],
    );
    const found = await tx.query<Low>(
      `with added as (
         insert into low_balances (workspace_id, amount_nano, left_nano, created_at)
         select w.id, w.low_balance_nano, l.nano, ledger_now() from ${looked} and s.low and not s.told
         order by w.id limit ${warningsMax}
         on conflict do nothing returning workspace_id, amount_nano, left_nano)
       select added.*, w.name as workspace_name from added join workspaces w on w.id = added.workspace_id order by 1`,
      [ids],
    );
    const events = found.map((one) => ({ workspaceId: one.workspace_id, data: dataOf(one) }));
    return {
      low: found,
      posted: await postEvents(tx, { type: lowType, nowMs: clock.now() }, events),
    };
  });
  for (const one of low) log.warn(dataOf(one), "the balance of a workspace is low");
  if (posted > 0) wakeDeliverer();
  return low.length;
}

/** The event's data; amounts in USD. */
const dataOf = (one: Low) => ({
  workspace_id: one.workspace_id,
  workspace_name: one.workspace_name,
  low_balance_alert: formatUsd(one.amount_nano),
  left: formatUsd(one.left_nano),
});
