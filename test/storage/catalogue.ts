/**
 * A database's schema as its own catalogue describes it: a text for each object. Two databases with the same texts have the
 * same tables (columns in their order, types, defaults), constraints, indexes, triggers, functions, views, sequences, parts,
 * comments, privileges and settings, by name.
 */
import { createHash } from "node:crypto";
import type { Database } from "../../src/storage/index.ts";

/** One row for each object. `whole` is the table, view or function that it belongs to; `text` is its complete definition. */
const questions: readonly string[] = [
  // Properties of whole tables, views, indexes and sequences.
  `select coalesce(t.relname, c.relname), c.relkind::text || ' ' || c.relname, concat_ws(' | ', c.relpersistence, am.amname,
       c.reloptions::text, c.relacl::text, c.relrowsecurity, c.relforcerowsecurity, c.relreplident, c.relhasrules, c.relispartition,
       pg_get_partkeydef(c.oid), pg_get_expr(c.relpartbound, c.oid), obj_description(c.oid, 'pg_class'), c.relowner::regrole::text,
       c.reltablespace, (select string_agg(p.relname, ',' order by p.relname)
         from pg_inherits i join pg_class p on p.oid = i.inhparent where i.inhrelid = c.oid),
       case when c.relkind = 'v' then pg_get_viewdef(c.oid) end,
       case when x.indexrelid is not null then concat_ws(' ', pg_get_indexdef(c.oid), x.indisvalid, x.indisprimary, x.indisunique) end,
       (select to_jsonb(q) - 'seqrelid' || jsonb_build_object('type', q.seqtypid::regtype) from pg_sequence q where q.seqrelid = c.oid))
   from pg_class c left join pg_am am on am.oid = c.relam
     left join pg_index x on x.indexrelid = c.oid left join pg_class t on t.oid = x.indrelid
   where c.relnamespace = current_schema()::regnamespace and c.relkind <> 'c'`,
  // Columns in their order; gaps of dropped columns do not count.
  `select c.relname, 'columns ' || c.relname, string_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
       a.attidentity, a.attgenerated, a.attstorage, a.attcompression, a.attcollation::regcollation, a.attstattarget, a.attacl::text,
       a.attoptions::text, a.attislocal, a.attinhcount, pg_get_expr(d.adbin, d.adrelid), col_description(c.oid, a.attnum)),
       E'\n' order by a.attnum)
   from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
   where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v') group by c.relname`,
  `select conrelid::regclass::text, 'constraint ' || conrelid::regclass || ' ' || conname, concat_ws(' | ', pg_get_constraintdef(oid),
       contype, convalidated, conenforced, condeferrable, condeferred, conislocal, coninhcount, connoinherit,
       obj_description(oid, 'pg_constraint'))
   from pg_constraint where connamespace = current_schema()::regnamespace`,
  `select tgrelid::regclass::text, 'trigger ' || tgrelid::regclass || ' ' || tgname,
       concat_ws(' | ', pg_get_triggerdef(oid), tgenabled, tgparentid <> 0)
   from pg_trigger where not tgisinternal`,
  `select proname || '()', 'function ' || oid::regprocedure, concat_ws(' | ', pg_get_functiondef(oid), proacl::text, proowner::regrole,
       obj_description(oid, 'pg_proc'))
   from pg_proc where pronamespace = current_schema()::regnamespace`,
  // Kinds of objects that a schema may also have, but ours has not.
  `select typname, 'type ' || typname, concat_ws(' | ', typtype, typacl::text) from pg_type t
   where typnamespace = current_schema()::regnamespace
     and (typtype in ('e', 'd', 'r') or typrelid in (select oid from pg_class where relkind = 'c'))`,
  `select 'extension ' || extname, 'extension ' || extname, extversion from pg_extension`,
  `select polrelid::regclass::text, 'policy ' || polname, concat_ws(' | ', polcmd, pg_get_expr(polqual, polrelid)) from pg_policy`,
  `select ev_class::regclass::text, 'rule ' || ev_class::regclass || ' ' || rulename, pg_get_ruledef(oid) from pg_rewrite
   where ev_class in (select oid from pg_class where relnamespace = current_schema()::regnamespace) and rulename <> '_RETURN'`,
  `select stxrelid::regclass::text, 'statistics ' || stxname, pg_get_statisticsobjdef(oid) from pg_statistic_ext`,
  `select 'schema ' || nspname, 'schema ' || nspname, concat_ws(' | ', nspacl::text, obj_description(oid, 'pg_namespace'))
   from pg_namespace where nspname !~ '^pg_|^information_schema$'`,
  `select 'privileges', 'default privileges ' || defaclobjtype::text, defaclacl::text from pg_default_acl`,
];

/** Removes times: the names and bounds of request log parts depend on the moment when they are made. */
const timeless = (text: string): string =>
  text.replaceAll(/\d{8}_\d{8}/g, "DAY_DAY").replaceAll(/\b(req|task)_[0-9a-z]{10}\b/g, "$1_TIME");

/** A database's schema: for each table, view, function or sequence the texts of everything that belongs to it, in order. */
export type Catalogue = Readonly<Record<string, readonly string[]>>;

/** Reads the schema of a database. */
export async function catalogueOf(database: Database): Promise<Catalogue> {
  const found = new Map<string, Set<string>>();
  for (const question of questions) {
    const rows = await database.query<{ whole: string; object: string; text: string }>(
      `select whole, object, text from (${question}) x (whole, object, text)`,
    );
    // Parts of several days become one: the day decides their number, but not their definition.
    for (const { whole, object, text } of rows) {
      const texts = found.get(timeless(whole)) ?? new Set();
      found.set(timeless(whole), texts.add(timeless(`${object}: ${text}`)));
    }
  }
  const sorted = [...found.keys()].sort().map((whole) => [whole, [...found.get(whole)!].sort()]);
  return Object.fromEntries(sorted) as Catalogue;
}

/** The same in short: a digest for each entry. */
export const digestsOf = (catalogue: Catalogue): Record<string, string> =>
  Object.fromEntries(
    Object.entries(catalogue).map(([whole, texts]) => [
      whole,
      createHash("sha256").update(texts.join("\n")).digest("hex").slice(0, 16),
    ]),
  );
