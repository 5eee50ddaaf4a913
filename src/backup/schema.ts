/** Reads the parts of the database's schema that a backup needs: tables, their order, their sequences. */
import type { Log } from "../base/log.ts";
import { limitLockWaits, retryWhileLocked, type Queryable } from "../storage/index.ts";

/** The migration records of the schema; a backup has them in its header. */
const ownTable = "schema_migrations";

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The tables, each after the tables that it refers to. */
export async function tablesOf(tx: Queryable): Promise<string[]> {
  const rows = await tx.query<{ name: string; targets: string[] }>(
    `select c.relname as name,
       array(select f.relname::text from pg_constraint k join pg_class f on f.oid = k.confrelid
         where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid) as targets
     from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and c.relname <> $1
       and not c.relispartition
     order by c.relname`,
    [ownTable],
  );
  const ordered: string[] = [];
  const place = (name: string): void => {
    if (ordered.includes(name)) return;
    for (const target of rows.find((row) => row.name === name)?.targets ?? []) place(target);
    ordered.push(name);
  };
  for (const { name } of rows) place(name);
  return ordered;
}

/**
 * Locks all tables for this transaction, and drops the views. Calls lock tables in other orders, so a restore that takes them one by
 * one can deadlock with a call. A failed try therefore releases all of them.
 */
export async function lockAllTables(tx: Queryable, log?: Pick<Log, "warn">): Promise<void> {
  const found = await tx.query<{ names: string; is_view: boolean }>(
    `select string_agg(format('%I.%I', current_schema(), relname), ', ' order by relname) as names, relkind = 'v' as is_view
     from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v') and not relispartition
       and oid not in (select objid from pg_depend where deptype = 'e')
     group by is_view order by is_view desc`,
    [],
  );
  await tx.query("savepoint untaken");
  await retryWhileLocked(tx, log, async () => {
    try {
      await limitLockWaits(tx);
      // Locking a view also locks everything that it reads, including the server's own tables.
      for (const { names, is_view: isView } of found)
        await tx.query(isView ? `drop view ${names} cascade` : `lock table ${names}`);
    } catch (error) {
      await tx.query("rollback to savepoint untaken").catch(() => undefined);
      throw error;
    }
  });
  await tx.query("set local lock_timeout = 0");
}

/** Drops the tables, views, functions and types of the schema, except those of extensions. */
export async function dropSchemaObjects(tx: Queryable): Promise<void> {
  const found = await tx.query<{ statement: string }>(
    `with brought as (select objid from pg_depend where deptype = 'e')
     select 1 as turn, format('drop table if exists %I.%I cascade', current_schema(), relname) as statement
     from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
       and oid not in (select objid from brought)
     union all
     select 2, format('drop %s if exists %I.%I cascade',
       case relkind when 'v' then 'view' when 'm' then 'materialized view' else 'sequence' end, current_schema(), relname)
     from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('v', 'm', 'S')
       and oid not in (select objid from brought)
     union all
     select 3, format('drop routine if exists %s cascade', p.oid::regprocedure) from pg_proc p
     where p.pronamespace = current_schema()::regnamespace and p.oid not in (select objid from brought)
     union all
     select 4, format('drop type if exists %I.%I cascade', current_schema(), t.typname) from pg_type t
     left join pg_class c on c.oid = t.typrelid
     where t.typnamespace = current_schema()::regnamespace and t.oid not in (select objid from brought)
       and (t.typtype in ('e', 'd') or c.relkind = 'c')
     order by turn`,
    [],
  );
  for (const { statement } of found) await tx.query(statement);
}

/** Sets every sequence of a table to continue after its highest value. */
export async function advanceCounters(tx: Queryable, table: string): Promise<void> {
  const columns = await tx.query<{ name: string; sequence: string }>(
    `select a.attname as name, pg_get_serial_sequence($1, a.attname) as sequence
     from pg_attribute a where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped
       and pg_get_serial_sequence($1, a.attname) is not null`,
    [quoted(table)],
  );
  for (const { name, sequence } of columns) {
    await tx.query(
      `select setval($1, coalesce((select max(${quoted(name)}) from ${quoted(table)}), 0) + 1, false)`,
      [sequence],
    );
  }
}

/** Columns that a restore writes: not generated ones, nor those whose default is the id of the writing transaction. */
export async function columnsOf(tx: Queryable, table: string): Promise<string[]> {
  const rows = await tx.query<{ name: string }>(
    `select attname as name from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''
       and not exists (select from pg_attrdef d where d.adrelid = attrelid and d.adnum = attnum
         and pg_get_expr(d.adbin, d.adrelid) like '%pg_current_xact_id()%')
     order by attnum`,
    [quoted(table)],
  );
  return rows.map(({ name }) => name);
}

export async function countOf(tx: Queryable, table: string): Promise<number> {
  const [row] = await tx.query<{ n: bigint }>(`select count(*) as n from ${quoted(table)}`, []);
  return Number(row!.n);
}

/** Sums of the ledger by kind of entry, for comparison: nano-USD as text. */
export async function sumsOf(tx: Queryable): Promise<Record<string, string>> {
  const rows = await tx.query<{ name: string; amount: string }>(
    "select kind as name, coalesce(sum(amount_nano), 0)::text as amount from ledger_entries group by kind order by kind",
    [],
  );
  return Object.fromEntries(rows.map(({ name, amount }) => [name, amount]));
}

/** Records that the data was restored from a backup now. Files exported earlier may hold later data (src/exports/before-restore.ts). */
export async function noteRestore(tx: Queryable): Promise<void> {
  await tx.query(
    `insert into settings (name, value) values ('restored_at', to_jsonb(now()))
     on conflict (name) do update set value = excluded.value`,
  );
}
