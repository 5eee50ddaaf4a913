/**
 * Alerts at the thresholds of a spend cap that its workspace has chosen: a log event, and a signed callback where the workspace has an address for them.
 * Off the path of calls: who was charged is noted in memory, and looked at a moment later. Whatever happens, one alert goes
 * out for a cap, period and threshold: the process that adds its row tells of it. docs/callbacks.md "Spend caps".
 */
import { formatUsd } from "../../base/money.ts";
import { layers, resetsAt, windows, type Layer, type Window } from "../../base/cap-windows.ts";
import type { Database, Queryable } from "../../storage/index.ts";
import { postEvents } from "./events.ts";
import { warnOfLowBalances, type AlertOptions } from "./low-balance.ts";

/** What an alert's event is called. */
const alertType = "spend_cap.alert";

export interface SpendAlertsOptions extends AlertOptions {
  /** Whether this process is the one of its gateway that looks at all caps unasked; yes where absent. */
  readonly sweeps?: (() => boolean) | undefined;
  /** How often what was charged is looked at; 2 s where absent. */
  readonly everyMs?: number | undefined;
}

export interface SpendAlerts {
  /** A call of this key was charged. Costs next to nothing. */
  charged(workspaceId: string, keyId: string): void;
  /** A call of this key was refused. A hard cap refuses before all of it is spent: its alert at 100 % might never come. */
  refused(workspaceId: string, keyId: string, code: string): void;
  /** Ends it; what was charged in the last moment is looked at once more. */
  close(): Promise<void>;
}

const everyMsDefault = 2_000;
/** All caps, whoever was charged: a process may have died between a charge and its look, or a cap have been lowered. */
const allEveryMs = 600_000;
/** Keys looked at in one statement. */
const keysMax = 1_000;

/** Alerts of one transaction: writing the callbacks of more would keep it open for longer than the database lets it. */
const alertsMax = 1_000;

/** Refusals that wait for a look: a caller that goes on makes new ones. */
const refusalsMax = 1_000;
const capCode = new RegExp(`^(${layers.join("|")})_(${windows.join("|")})_spend_cap_reached$`);

/** A call that a cap refused. */
interface Refusal {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly layer: string;
  readonly window: string;
}

/** What a look is about: keys with their workspaces, and what was refused. */
interface Seen {
  readonly keys: readonly (readonly [keyId: string, workspaceId: string])[];
  readonly refusals: readonly Refusal[];
}

interface Reached {
  readonly workspace_id: string;
  readonly scope: Layer;
  readonly scope_id: string;
  readonly cap_window: Window;
  readonly cap_nano: bigint;
  readonly threshold: number;
  readonly spent_nano: bigint;
  /** What people call the key or the workspace; null of a member: an address is not kept in texts that are sent. */
  readonly name: string | null;
  readonly workspace_name: string;
}

/** Starts to look. */
export function startSpendAlerts(options: SpendAlertsOptions): SpendAlerts {
  const { database, log } = options;
  let charged = new Map<string, string>();
  let refused = new Map<string, Refusal>();
  let looking: Promise<void> = Promise.resolve();

  async function look(all: boolean): Promise<void> {
    const taken = charged;
    const refusals = refused;
    charged = new Map();
    refused = new Map();
    try {
      if (all) await alertOn(options, null);
      await alertEach(options, { keys: [...taken], refusals: [...refusals.values()] });
      await warnOfLowBalances(options, all ? null : [...new Set(taken.values())]);
    } catch (error) {
      for (const [keyId, workspaceId] of taken) charged.set(keyId, workspaceId);
      for (const [name, refusal] of refusals) refused.set(name, refusal);
      log.warn(
        { err: error },
        "spend caps and balances could not be looked at; they are looked at again",
      );
    }
  }
  /** One look at a time; those without anything to see do not ask the database. */
  const next = (all: boolean): void => {
    if (all || charged.size + refused.size > 0) looking = looking.then(() => look(all));
  };

  const sweeps = options.sweeps ?? (() => true);
  next(sweeps());
  const often = setInterval(() => next(false), options.everyMs ?? everyMsDefault);
  const now = setInterval(() => {
    if (!sweeps()) return;
    next(true);
    forgetOld(database, options.clock.now()).catch((error: unknown) =>
      log.warn({ err: error }, "old alerts could not be removed"),
    );
  }, allEveryMs);
  return {
    charged: (workspaceId, keyId) => void charged.set(keyId, workspaceId),
    refused(workspaceId, keyId, code) {
      const [name, layer, window] = capCode.exec(code) ?? [];
      if (name === undefined || refused.size >= refusalsMax) return;
      refused.set(`${keyId} ${name}`, { workspaceId, keyId, layer: layer!, window: window! });
    },
    async close() {
      clearInterval(often);
      clearInterval(now);
      next(false);
      await looking;
    },
  };
}

async function alertEach(options: SpendAlertsOptions, { keys, refusals }: Seen): Promise<void> {
  for (let from = 0; from < keys.length; from += keysMax)
    await alertOn(options, { keys: keys.slice(from, from + keysMax), refusals: [] });
  if (refusals.length === 0) return;
  const refusedKeys = new Map(refusals.map(({ keyId, workspaceId }) => [keyId, workspaceId]));
  await alertOn(options, { keys: [...refusedKeys], refusals });
}

/** Alerts on the caps that hold for these keys, or on all. */
async function alertOn(options: SpendAlertsOptions, seen: Seen | null): Promise<void> {
  while ((await alertOnSome(options, seen)) === alertsMax);
}

/** The same of so many at most as one transaction takes; returns how many there were. */
async function alertOnSome(
  { database, clock, log, callbackDue }: SpendAlertsOptions,
  seen: Seen | null,
): Promise<number> {
  const { reached, posted, nowMs } = await database.transaction(async (tx) => {
    // Periods are the ledger's, whose clock is the database's.
    const [row] = await tx.query<{ at: Date }>("select ledger_now() as at", []);
    const atMs = row!.at.getTime();
    const added = await addReached(tx, seen, atMs);
    const events = added.map((alert) => ({
      workspaceId: alert.workspace_id,
      data: dataOf(alert, atMs),
    }));
    const sent = await postEvents(tx, { type: alertType, nowMs: clock.now() }, events);
    return { reached: added, posted: sent, nowMs: atMs };
  });
  for (const alert of reached) log.warn(dataOf(alert, nowMs), "a spend cap is reached or near");
  if (posted > 0) callbackDue();
  return reached.length;
}

/** Where the keys come from that are looked at: these, each by its index, or all there are. */
const keysSeen =
  "unnest($1::text[], $2::text[]) as t (workspace_id, id) join api_keys k using (workspace_id, id)";
const everyKey = "api_keys k where coalesce($1::text[], $2::text[]) is null";

/** What was added, with what people call it. */
const namedSql = `select a.*, w.name as workspace_name, case a.scope when 'workspace' then w.name else k.name end as name
     from added a join workspaces w on w.id = a.workspace_id
     left join api_keys k on a.scope = 'key' and k.workspace_id = a.workspace_id and k.id = a.scope_id
     order by a.workspace_id, a.scope, a.scope_id, a.cap_window, a.threshold`;

/** Adds the rows that are not there yet: those are ours to tell of. */
function addReached(tx: Queryable, seen: Seen | null, nowMs: number): Promise<Reached[]> {
  const { keys, refusals } = seen ?? { keys: null, refusals: [] };
  return tx.query<Reached>(
    `with touched as materialized (
       select k.workspace_id, k.id as key_id, k.created_by as member_id from ${seen === null ? everyKey : keysSeen}
     ),
     refused as (
       select k.workspace_id, r.layer as scope, r.cap_window,
         case r.layer when 'workspace' then k.workspace_id when 'member' then k.created_by else k.id end as scope_id
       from unnest($5::text[], $6::text[], $7::text[], $8::text[]) as r (workspace_id, key_id, layer, cap_window)
       join api_keys k on k.workspace_id = r.workspace_id and k.id = r.key_id
     ),
     capped as (
       select w.id as workspace_id, 'workspace' as scope, w.id as scope_id, w.cap_hard as hard,
         array[w.cap_total_nano, w.cap_monthly_nano, w.cap_weekly_nano, w.cap_daily_nano] as caps
       from workspaces w where w.id in (select workspace_id from touched)
       union all
       select m.workspace_id, 'member', m.user_id, m.cap_hard,
         array[m.cap_total_nano, m.cap_monthly_nano, m.cap_weekly_nano, m.cap_daily_nano]
       from members m where (m.workspace_id, m.user_id) in (select workspace_id, member_id from touched)
       union all
       select k.workspace_id, 'key', k.id, k.cap_hard,
         array[k.cap_total_nano, k.cap_monthly_nano, k.cap_weekly_nano, k.cap_daily_nano]
       from api_keys k where (k.workspace_id, k.id) in (select workspace_id, key_id from touched)
     ),
     added as (insert into spend_alerts (workspace_id, scope, scope_id, cap_window, period_start, cap_nano, threshold, spent_nano, created_at)
     select c.workspace_id, c.scope, c.scope_id, n.cap_window, n.period_start, x.cap, t.threshold, x.spent, $4
     from capped c
     left join ledger_counters s on s.workspace_id = c.workspace_id and s.scope = c.scope and s.scope_id = c.scope_id
     cross join lateral unnest(c.caps, array[coalesce(s.total_nano, 0),
       case when s.last_day >= date_trunc('month', $3::date::timestamp)::date then s.month_nano else 0 end,
       case when s.last_day >= date_trunc('week', $3::date::timestamp)::date then s.week_nano else 0 end,
       case when s.last_day >= $3::date then s.day_nano else 0 end]) with ordinality as x (cap, spent, place)
     cross join lateral (select (array['total', 'monthly', 'weekly', 'daily'])[x.place] as cap_window,
       (array[date '0001-01-01', date_trunc('month', $3::date::timestamp)::date,
         date_trunc('week', $3::date::timestamp)::date, $3::date])[x.place] as period_start) n
     join workspaces w on w.id = c.workspace_id
     cross join unnest(w.alert_thresholds) as t (threshold)
     where x.cap > 0 and (x.spent::numeric * 100 >= x.cap::numeric * t.threshold
       or t.threshold = 100 and c.hard and (c.workspace_id, c.scope, c.scope_id, n.cap_window) in (
         select r.workspace_id, r.scope, r.scope_id, r.cap_window from refused r))
       and not exists (select from spend_alerts a where a.workspace_id = c.workspace_id and a.scope = c.scope and a.scope_id = c.scope_id
         and a.cap_window = n.cap_window and a.period_start = n.period_start and a.cap_nano = x.cap and a.threshold = t.threshold)
     order by 1, 2, 3, 4, 7 limit ${alertsMax}
     on conflict do nothing
     returning workspace_id, scope, scope_id, cap_window, cap_nano, threshold, spent_nano)
     ${namedSql}`,
    [
      keys?.map(([, workspaceId]) => workspaceId) ?? null,
      keys?.map(([keyId]) => keyId) ?? null,
      new Date(nowMs).toISOString().slice(0, 10),
      new Date(nowMs),
      refusals.map(({ workspaceId }) => workspaceId),
      refusals.map(({ keyId }) => keyId),
      refusals.map(({ layer }) => layer),
      refusals.map(({ window }) => window),
    ],
    { name: seen === null ? "spend_alerts_add_all" : "spend_alerts_add" },
  );
}

/** A hard cap has refused a call, though less than the threshold was spent. */
const isRefusal = ({ cap_nano: cap, spent_nano: spent, threshold }: Reached): boolean =>
  spent * 100n < cap * BigInt(threshold);

/** The event's data; amounts in USD. */
function dataOf(alert: Reached, nowMs: number) {
  return {
    workspace_id: alert.workspace_id,
    workspace_name: alert.workspace_name,
    layer: alert.scope,
    id: alert.scope_id,
    name: alert.name,
    window: alert.cap_window,
    threshold: alert.threshold,
    cap: formatUsd(alert.cap_nano),
    spent: formatUsd(alert.spent_nano),
    refused: isRefusal(alert),
    resets_at: resetsAt(alert.cap_window, nowMs)?.toISOString() ?? null,
  };
}

/** Rows of periods that are over tell nobody anything. */
async function forgetOld(database: Database, nowMs: number): Promise<void> {
  const dayMs = 24 * 60 * 60 * 1000;
  await database.query(
    "delete from spend_alerts where cap_window <> 'total' and period_start < $1::date",
    [new Date(nowMs - 62 * dayMs).toISOString().slice(0, 10)],
  );
}
