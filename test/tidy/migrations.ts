/**
 * Finds what a migration takes away from the version before it, which still runs on the schema during an upgrade
 * (CONTRIBUTING.md "Migrations").
 */

export interface MigrationText {
  readonly name: string;
  readonly sql: string;
}

/** A first line of the file that says after which migration versions no longer need the removed objects. */
const contracts = /^-- contracts after: \d{4}_[a-z0-9_-]+\.sql$/m;
/** A line that says why a statement that looks like a removal removes nothing. */
const compatible = /^-- compatible: \S.{20,}/m;

/** The statements, in lower case and on one line each, without comments and without the bodies of functions. */
function statementsOf(sql: string): string[] {
  return sql
    .toLowerCase()
    .replaceAll(/--.*$/gm, "")
    .replaceAll(/\bas \$(\w*)\$[\s\S]*?\$\1\$/g, "as body")
    .split(";")
    .map((statement) => statement.replaceAll(/\s+/g, " ").trim());
}

/** The kinds of removal, by their SQL. They do not apply to a table that the same file makes, because no version uses it yet. */
const always: readonly (readonly [string, RegExp])[] = [
  ["drops", /\bdrop (?:table|view|materialized view|function|column|index|type|schema|sequence)\b/],
  ["renames", /\balter [\s\S]*\brename\b/],
  ["empties", /\btruncate\b/],
  ["changes the type of a column", /\balter column \S+ (?:set data )?type\b/],
  ["forbids null in a column", /\balter column \S+ set not null\b/],
  ["takes a column's default", /\balter column \S+ drop default\b/],
];
const onOldTables: readonly (readonly [string, RegExp])[] = [
  [
    "adds a rule to a table",
    /\balter table (?:only )?(\S+) .*\badd (?:constraint|check|unique|primary key|foreign key|exclude)\b/,
  ],
  ["adds a rule to a table", /\bcreate unique index .*\bon (?:only )?(\w+)/],
  ["adds a trigger to a table", /\bcreate (?:constraint )?trigger .*\bon (\w+)/],
];

/** True if the statement adds a required column, which the version before does not fill. */
function neededColumns(statement: string): boolean {
  const columns = statement.split(/\badd column\b/).slice(1);
  return columns.some(
    (column) => / not null\b/.test(column) && !/ default\b| generated\b/.test(column),
  );
}

/** The functions that a text makes, with the types of their parameters. */
function functionsOf(statements: readonly string[]): Map<string, string> {
  const found = statements.flatMap((statement): [string, string][] => {
    const [, name, taken] =
      /^create (?:or replace )?function (\w+) ?\(([^)]*)\)/.exec(statement) ?? [];
    return name === undefined ? [] : [[name, taken!.trim()]];
  });
  return new Map(found);
}

/** The removals of a migration, as texts. Empty if it says after which migration, or why it removes nothing. */
export function removalsOf(one: MigrationText, before: readonly MigrationText[]): string[] {
  if (contracts.test(one.sql) || compatible.test(one.sql)) return [];
  const statements = statementsOf(one.sql);
  const own = new Set(
    statements.flatMap(
      (text) => /\bcreate (?:unlogged )?table (?:if not exists )?(\w+)/.exec(text)?.[1] ?? [],
    ),
  );
  const known = new Map(before.flatMap(({ sql }) => [...functionsOf(statementsOf(sql))]));
  const found = statements.flatMap((statement) => [
    ...always.flatMap(([words, pattern]) => (pattern.test(statement) ? [words] : [])),
    ...onOldTables.flatMap(([words, pattern]) => {
      const table = pattern.exec(statement)?.[1];
      return table === undefined || own.has(table) ? [] : [`${words} (${table})`];
    }),
    ...(neededColumns(statement) ? ["adds a column that must be given"] : []),
  ]);
  for (const [name, taken] of functionsOf(statements))
    if (known.has(name) && known.get(name) !== taken) found.push(`changes what ${name} takes`);
  return found;
}
