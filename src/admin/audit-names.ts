/** What the audit log says of a person who is erased: that somebody did it stays, who that was goes. docs/operate.md "Erasing a person". */
import type { Database } from "../storage/index.ts";
import type { ErasedPerson } from "../tenancy/index.ts";

/** Entries that a page looks at. */
const pageMax = 2_000;

interface Naming {
  readonly person: ErasedPerson;
  readonly token: string;
  /** Counts, and changes nothing. */
  readonly dryRun: boolean;
}

/** Addresses wherever they stand; names as whole values, and in entries of the person alone: others may have the same. */
function replaced(column: string, { person, token }: Naming, bind: (value: string) => string) {
  const addresses = person.emails.reduce(
    (text, email) => `replace(${text}, ${bind(email)}, ${bind(`${token}@erased.invalid`)})`,
    `${column}::text`,
  );
  const both = person.names.reduce(
    (text, name) =>
      `replace(${text}, ${bind(JSON.stringify(name))}, ${bind(JSON.stringify(token))})`,
    addresses,
  );
  return `(case when own then ${both} else ${addresses} end)::jsonb`;
}

/** The statement of a page: the last id that it looked at, and how many entries name the person. */
function pageStatement(naming: Naming, after: string) {
  const { person, token, dryRun } = naming;
  const params: unknown[] = [after, person.userIds, person.emails];
  const bind = (value: string): string => `$${params.push(value)}::text`;
  const change = (): string => `
    update audit_entries e set actor_name = case when e.actor_id = any($2) then ${bind(token)} else e.actor_name end,
      before = ${replaced("e.before", naming, bind)}, after = ${replaced("e.after", naming, bind)}
    from naming n where e.workspace_id = n.workspace_id and e.id = n.id returning 1`;
  const sql = `
    with page as materialized (
      select workspace_id, id, actor_id, object_id, before, after from audit_entries where id > $1 order by id limit ${pageMax}),
    naming as materialized (
      select * from (
        select workspace_id, id, coalesce(actor_id = any($2) or object_id = any($2), false) as own,
          exists (select from unnest($3::text[]) email where strpos(coalesce(before::text, '') || coalesce(after::text, ''), email) > 0) as said
        from page) x
      where own or said),
    changed as (${dryRun ? "select 1 from naming" : change()})
    select (select max(id) from page) as last, (select count(*)::integer from changed) as n`;
  return { sql, params };
}

/**
 * Goes through the audit log from behind an entry on, a page a transaction.
 * @returns how many entries named the person, and the last that was looked at
 */
export async function eraseAuditNames(
  database: Database,
  naming: Naming,
  from = "",
): Promise<{ readonly entries: number; readonly last: string }> {
  let entries = 0;
  let last = from;
  for (;;) {
    const { sql, params } = pageStatement(naming, last);
    const [row] = await database.query<{ last: string | null; n: number }>(sql, params);
    entries += row!.n;
    if (row!.last === null) return { entries, last };
    last = row!.last;
  }
}
