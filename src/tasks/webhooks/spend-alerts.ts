/**
 * Alerts at the thresholds that a workspace has chosen for a spend cap: a log event, and a signed callback if it has an address for
 * them.
 * Calls do not wait for this: a charge is noted in memory, and looked at a moment later. There is exactly one alert
 * for a cap, period and threshold: the process that inserts its row sends it. docs/callbacks.md "Spend caps".
 */
import { formatUsd } from "../../base/money.ts";
import { layers, resetsAt, windows, type Window } from "../../base/cap-windows.ts";
import { dayText } from "../../base/days.ts";
import { dayMs } from "../../base/durations.ts";
import type { Queryable } from "../../storage/index.ts";
import { postEvents } from "./events.ts";
import { warnOfLowBalances, type AlertOptions } from "./low-balance.ts";
import { addReached, alertsMax, type Reached, type Refusal, type Seen } from "./reached-caps.ts";

/** The type of an alert's event. */
const alertType = "spend_cap.alert";

export interface SpendAlertsOptions extends AlertOptions {
  /** True if this process is the sweeper of its gateway, which looks at all caps without a signal; true if absent. */
  readonly sweeps?: (() => boolean) | undefined;
  /** Milliseconds between looks at charged keys; 2 s if absent. */
  readonly everyMs?: number | undefined;
}

export interface SpendAlerts {
  /** Notes that a call of this key was charged. Costs next to nothing. */
  charged(workspaceId: string, keyId: string): void;
  /** Notes that a call of this key was refused. A hard cap refuses before all of it is spent: its alert at 100 % might never come. */
  refused(workspaceId: string, keyId: string, code: string): void;
  /** Stops, after a last look at recent charges. */
  close(): Promise<void>;
}

const everyMsDefault = 2_000;
/** Milliseconds between looks at all caps: a process may have died between a charge and its look, or a cap may have been lowered. */
const allEveryMs = 600_000;
/** Keys per statement. */
const keysMax = 1_000;

/** Refusals that wait for a look. More are dropped: a caller that goes on makes new ones. */
const refusalsMax = 1_000;
const capCode = new RegExp(`^(${layers.join("|")})_(${windows.join("|")})_spend_cap_reached$`);

/** Starts the looks. */
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
  /** One look at a time; without anything to look at, it does not ask the database. */
  const next = (all: boolean): void => {
    if (all || charged.size + refused.size > 0) looking = looking.then(() => look(all));
  };

  const sweeps = options.sweeps ?? (() => true);
  next(sweeps());
  const often = setInterval(() => next(false), options.everyMs ?? everyMsDefault);
  const now = setInterval(() => {
    if (!sweeps()) return;
    next(true);
    forgetOldAlerts(database, options.clock.now()).catch((error: unknown) =>
      log.warn({ err: error }, "old alerts could not be removed"),
    );
  }, allEveryMs);
  return {
    charged: (workspaceId, keyId) => void charged.set(keyId, workspaceId),
    refused(workspaceId, keyId, code) {
      const [name, layer, window] = capCode.exec(code) ?? [];
      if (name === undefined || refused.size >= refusalsMax) return;
      refused.set(`${keyId} ${name}`, {
        workspaceId,
        keyId,
        layer: layer!,
        window: window as Window,
        atMs: options.clock.now(),
      });
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

/** Sends alerts for the caps of these keys, or for all caps. */
async function alertOn(options: SpendAlertsOptions, seen: Seen | null): Promise<void> {
  while ((await alertOnSome(options, seen)) === alertsMax);
}

/** Sends the alerts of one transaction; returns how many there were. */
async function alertOnSome(
  { database, clock, log, wakeDeliverer }: SpendAlertsOptions,
  seen: Seen | null,
): Promise<number> {
  const { reached, posted, nowMs } = await database.transaction(async (tx) => {
    // The ledger defines the periods, by the database's clock.
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
  if (posted > 0) wakeDeliverer();
  return reached.length;
}

/** True if a hard cap has refused a call, although less than the threshold was spent. */
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

/** The total cap that the object of an alert `a` has now, if it can still be reached. */
const totalCapSql = `case a.scope
    when 'workspace' then (select w.cap_total_nano from workspaces w where w.id = a.workspace_id)
    when 'member' then (select m.cap_total_nano from members m where m.workspace_id = a.workspace_id and m.user_id = a.scope_id)
    else (select k.cap_total_nano from api_keys k where k.workspace_id = a.workspace_id and k.id = a.scope_id and k.status <> 'revoked') end`;

/** Deletes rows that are 62 days old and no longer needed: those of past periods, and of total caps that are others by now. */
export async function forgetOldAlerts(database: Queryable, nowMs: number): Promise<void> {
  await database.query(
    `delete from spend_alerts a where case a.cap_window
       when 'total' then a.created_at < $1::date and a.cap_nano is distinct from ${totalCapSql}
       else a.period_start < $1::date end`,
    [dayText(nowMs - 62 * dayMs)],
  );
}
