/**
 * `tollgate verify`: replays the entries by the rules, and compares them with the counters and reservations in the database. All reads
 * use one snapshot, so running traffic causes no differences. Entries are read in order, workspace by workspace, and only the sums of
 * one workspace are in memory. Then the request log's costs are compared with the entries.
 */
import type { Database, Queryable } from "../storage/index.ts";
import type { Difference } from "./difference.ts";
import { Replay, type Counted, type EntryRow } from "./replay.ts";
import { logDifferencesIn } from "./verify-log.ts";
import { usageDifferencesIn } from "./verify-usage.ts";

/** Called repeatedly with the number of entries read, and the database's estimate of their total. */
export type VerifyProgress = (done: number, estimated: number) => void;

const fetchedDefault = 20_000;
const differencesMax = 4_000;

const entriesSql = `
  select workspace_id, entry, kind, amount_nano, balance_after_nano, key_id, member_id,
    extract(epoch from created_at) * 1000 as at_ms
  from ledger_entries where entry > 0 order by workspace_id, entry`;

interface AccountRow {
  readonly workspace_id: string;
  readonly credits: bigint;
  readonly charged: bigint;
  readonly held: bigint;
  readonly aside: bigint;
  /** Ids of open holds that already have an entry. */
  readonly ended: string[];
  readonly counters: Counted[];
}

/** Accounts of the workspaces after `$1` and up to `$2`, with their reservations and counters. */
const accountsSql = `
  select a.workspace_id, a.credits_nano as credits, a.charged_nano as charged, a.held_nano as held,
    (select coalesce(sum(x.amount_nano), 0) from ledger_allowances x where x.workspace_id = a.workspace_id)::bigint
      + (select coalesce(sum(x.amount_nano), 0) from ledger_holds x where x.workspace_id = a.workspace_id)::bigint as aside,
    array(select h.id from ledger_holds h join ledger_entries e on e.workspace_id = h.workspace_id and e.reference = h.id
      where h.workspace_id = a.workspace_id) as ended,
    (select coalesce(json_agg(json_build_object('name', c.scope || ' ' || c.scope_id, 'total', c.total_nano::text,
      'monthly', c.month_nano::text, 'weekly', c.week_nano::text, 'daily', c.day_nano::text, 'last', c.last_day)), '[]')
      from ledger_counters c where c.workspace_id = a.workspace_id) as counters
  from ledger_accounts a
  where ($1::text is null or a.workspace_id > $1) and ($2::text is null or a.workspace_id <= $2)
  order by a.workspace_id limit $3`;

/** Yields all entries in order, `fetched` at a time. */
async function* entriesIn(tx: Queryable, fetched: number): AsyncGenerator<EntryRow[]> {
  await tx.query(`declare ledger_verify no scroll cursor for ${entriesSql}`);
  for (;;) {
    const rows = await tx.query<EntryRow>(`fetch ${fetched} from ledger_verify`);
    yield rows;
    if (rows.length < fetched) break;
  }
  await tx.query("close ledger_verify");
}

/** The database's estimate of the number of entries. */
async function estimateIn(tx: Queryable): Promise<number> {
  const [estimate] = await tx.query<{ n: number }>(
    "select greatest(reltuples, 0)::float8 as n from pg_class where oid = 'ledger_entries'::regclass",
  );
  return estimate?.n ?? 0;
}

/** Returns every difference visible to the transaction, at most some thousands. Holds `fetched` entries in memory at once. */
export async function differencesIn(
  tx: Queryable,
  progress: VerifyProgress = () => undefined,
  fetched = fetchedDefault,
): Promise<Difference[]> {
  const found: Difference[] = [];
  const estimated = await estimateIn(tx);
  let lastDone: string | null = null;
  let replay: Replay | undefined;
  let done = 0;
  const finish = async (one: Replay): Promise<void> => {
    await compareUpTo(tx, lastDone, one, found);
    lastDone = one.workspaceId;
  };
  for await (const rows of entriesIn(tx, fetched)) {
    for (const row of rows) {
      if (replay?.workspaceId !== row.workspace_id) {
        if (replay !== undefined) await finish(replay);
        replay = new Replay(row.workspace_id);
      }
      const balance = replay.add(row);
      if (balance !== row.balance_after_nano && found.length < differencesMax)
        found.push(
          difference(
            row.workspace_id,
            `entry entry_${row.entry} balance_after`,
            row.balance_after_nano,
            balance,
          ),
        );
    }
    done += rows.length;
    if (done > 0) progress(done, Math.max(done, estimated));
    if (found.length >= differencesMax) break;
  }
  if (replay !== undefined) await finish(replay);
  await compareUpTo(tx, lastDone, undefined, found);
  found.push(...(await usageDifferencesIn(tx, differencesMax - found.length)));
  return found;
}

/** The same, and compares the request log's costs. Not for a restore: the ledger alone decides whether a backup is sound. */
export async function allDifferencesIn(
  tx: Queryable,
  progress?: VerifyProgress,
  fetched?: number,
): Promise<Difference[]> {
  const found = await differencesIn(tx, progress, fetched);
  return [...found, ...(await logDifferencesIn(tx, differencesMax - found.length))];
}

const difference = (
  workspaceId: string,
  what: string,
  recordedNano: bigint,
  computedNano: bigint,
): Difference => ({ workspaceId, what, recordedNano, computedNano });

const accountsRead = 500;

/**
 * Compares accounts after `after`, up to that of `replay`, or to the end if it is absent. Those before that have no entries. Once the
 * list is full, no account is read, and `replay` may have only a part of the entries: nothing is reported then.
 */
async function compareUpTo(
  tx: Queryable,
  after: string | null,
  replay: Replay | undefined,
  found: Difference[],
): Promise<void> {
  let known = false;
  for (let from = after; ;) {
    if (found.length >= differencesMax) return;
    const upTo = replay?.workspaceId ?? null;
    const rows: AccountRow[] = await tx.query<AccountRow>(accountsSql, [from, upTo, accountsRead]);
    for (const row of rows) {
      const isReplayed = row.workspace_id === replay?.workspaceId;
      known ||= isReplayed;
      found.push(...compare(row, isReplayed ? replay : new Replay(row.workspace_id)));
    }
    if (rows.length < accountsRead) break;
    from = rows.at(-1)!.workspace_id;
  }
  if (replay !== undefined && !known)
    found.push(difference(replay.workspaceId, "account", 0n, replay.balance));
}

function compare(row: AccountRow, replay: Replay): Difference[] {
  const { workspace_id: id } = row;
  const found: Difference[] = [];
  const check = (what: string, recorded: bigint, computed: bigint, most = computed): void => {
    if (recorded < computed || recorded > most)
      found.push(difference(id, what, recorded, computed));
  };
  check("account credits", row.credits, replay.credits);
  check("account charged", row.charged, replay.charged);
  check("account held", row.held, row.aside);
  for (const hold of row.ended)
    found.push(difference(id, `hold ${hold} is open and has an entry`, 1n, 0n));
  const left = new Set(replay.scopes());
  for (const counted of row.counters) {
    left.delete(counted.name);
    for (const { window, recorded, least, most } of replay.compare(counted))
      check(`${counted.name} ${window}`, recorded, least, most);
  }
  for (const name of left) check(`${name} total`, 0n, replay.totalOf(name));
  return found;
}

const verifyMsMax = 24 * 3_600_000;

/** Returns every difference in one snapshot; an empty list means that the ledger adds up. */
export function verifyLedger(database: Database, progress?: VerifyProgress): Promise<Difference[]> {
  return database.transaction(
    async (tx) => {
      await tx.query(
        "set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0; set local cursor_tuple_fraction = 0.001",
      );
      return allDifferencesIn(tx, progress);
    },
    { isolation: "repeatable read", readOnly: true, msMax: verifyMsMax },
  );
}
