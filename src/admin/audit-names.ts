/** Erases a person from the audit log: the entries stay, the person's name and address go. docs/data.md "Erasing a person". */
import type { Database, Queryable } from "../storage/index.ts";
import { addressEraser, type ErasedPerson } from "../tenancy/index.ts";

/** Audit entries read per page. */
const pageMax = 2_000;

interface NameErasure {
  readonly person: ErasedPerson;
  readonly token: string;
  /** Only counts; changes nothing. */
  readonly dryRun: boolean;
}

interface Entry {
  readonly workspace_id: string;
  readonly id: string;
  readonly actor_name: string;
  readonly before: unknown;
  readonly after: unknown;
  /** The person did this, or it was done to them. */
  readonly own: boolean;
  /** The person did this. */
  readonly acted: boolean;
}

/** The last id of a page, and the ids of its entries that name or may name the person. */
const pageSql = `
  select max(id) as last, coalesce(array_agg(id) filter (where actor_id = any($2) or object_id = any($2)
    or exists (select from unnest($3::text[]) email
      where strpos(lower(concat(actor_name, before::text, after::text)), email) > 0)), '{}') as ids
  from (select * from audit_entries where id > $1 order by id limit ${pageMax}) page`;

/** Locked, because another erasure may change the same entry. */
const entriesSql = `
  select workspace_id, id, actor_name, before, after, coalesce(actor_id = any($2), false) as acted,
    coalesce(actor_id = any($2) or object_id = any($2), false) as own
  from audit_entries where id = any($1::text[]) order by id for update`;

const renameSql = `
  update audit_entries e set actor_name = n.actor_name, before = n.before, after = n.after
  from json_to_recordset($1::json) as n (workspace_id text, id text, actor_name text, before jsonb, after jsonb)
  where e.workspace_id = n.workspace_id and e.id = n.id`;

/** Copies a JSON value and applies `change` to its strings; member names stay. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, mapTexts(member, change)]),
  );
}

/**
 * Replaces addresses everywhere. Names are replaced only as whole values in the person's own entries, because others may have the
 * same name.
 */
function withNamesErased(entries: readonly Entry[], { person, token }: NameErasure) {
  const withoutAddresses = addressEraser(person.emails, token);
  const names = new Set(person.names);
  return entries.map(({ own, acted, ...entry }) => {
    const change = (text: string): string =>
      own && names.has(text) ? token : withoutAddresses(text);
    return {
      ...entry,
      actor_name: acted ? token : withoutAddresses(entry.actor_name),
      before: mapTexts(entry.before, change),
      after: mapTexts(entry.after, change),
    };
  });
}

/** The changeable fields of an entry, as text to compare. */
const comparableText = ({
  actor_name: name,
  before,
  after,
}: Omit<Entry, "own" | "acted">): string => JSON.stringify([name, before, after]);

async function page(tx: Queryable, erasure: NameErasure, from: string) {
  const { person, dryRun } = erasure;
  const [found] = await tx.query<{ last: string | null; ids: string[] }>(pageSql, [
    from,
    person.userIds,
    person.emails,
  ]);
  const { last, ids } = found!;
  if (ids.length === 0) return { last, count: 0 };
  const entries = await tx.query<Entry>(entriesSql, [ids, person.userIds]);
  const changed = withNamesErased(entries, erasure).filter(
    (one, at) => comparableText(one) !== comparableText(entries[at]!),
  );
  if (changed.length > 0 && !dryRun) await tx.query(renameSql, [JSON.stringify(changed)]);
  return { last, count: changed.length };
}

/**
 * Processes the audit log after the entry `from`, one page per transaction.
 * @returns how many entries named the person, and the id of the last entry read
 */
export async function eraseAuditNames(
  database: Database,
  erasure: NameErasure,
  from = "",
): Promise<{ readonly entries: number; readonly last: string }> {
  let entries = 0;
  let last = from;
  for (;;) {
    const done = await database.transaction((tx) => page(tx, erasure, last));
    entries += done.count;
    if (done.last === null) return { entries, last };
    last = done.last;
  }
}
