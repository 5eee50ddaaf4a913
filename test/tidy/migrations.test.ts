/** Expand, then contract: a migration takes nothing away that the version before needs, unless it says when that is over. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { replaced } from "../../src/storage/baseline.ts";
import { compatibleFromOf } from "../../src/storage/migrate.ts";
import { removalsOf } from "./migrations.ts";

function textsOf(place: string) {
  const folder = new URL(`../../src/storage/${place}/`, import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith(".sql"));
  return names.sort().map((name) => ({ name, sql: readFileSync(new URL(name, folder), "utf8") }));
}
const baseline = textsOf("baseline");
const migrations = textsOf("migrations");

it("every migration keeps what previous versions need, or names the migration after which they no longer need it", () => {
  expect(migrations.length).toBeGreaterThan(0);
  const found = migrations.flatMap((one, at) => {
    const words = removalsOf(one, [...baseline, ...migrations.slice(0, at)]);
    return words.map((word) => `${one.name} ${word}`);
  });
  expect(found).toEqual([]);
});

it("every migration sorts after the baseline and has a valid name", () => {
  const last = replaced.at(-1)!.name;
  for (const { name } of migrations) {
    expect(name > last).toBe(true);
    expect(name).toMatch(/^\d{4}_[a-z0-9_-]+\.sql$/);
  }
  for (const { name } of baseline) expect(name).toMatch(/^\d{2}_[a-z0-9_]+\.sql$/);
});

it("the migration that a contraction names exists and sorts before it", () => {
  for (const { name, sql } of migrations) {
    const after = compatibleFromOf(sql);
    if (after === null) continue;
    expect(after < name).toBe(true);
    expect([...replaced, ...migrations].map((one) => one.name)).toContain(after);
  }
});

it("a baseline function that a migration replaces names the migration whose definition is in force", () => {
  const inForce = new Map(
    migrations.flatMap(({ name, sql }) =>
      Array.from(sql.matchAll(/^create or replace function (\w+)/gm), ([, made]) => [made!, name]),
    ),
  );
  const stale = [...inForce].filter(([made, name]) =>
    baseline.some(
      ({ sql }) =>
        sql.includes(`create function ${made}(`) &&
        !sql.includes(`-- In force as ${name} makes it.\ncreate function ${made}(`),
    ),
  );
  expect(inForce.get("usage_histogram")).toBe("0049_usage_histogram_list.sql");
  expect(stale).toEqual([]);
});

const earlier = [
  {
    name: "0001_a.sql",
    sql: "create table t (a text); create function f(p text) returns int language sql as $$ select 1 $$;",
  },
];
const removalsIn = (sql: string): string[] => removalsOf({ name: "0002_b.sql", sql }, earlier);

it.each([
  ["drops", "drop table t"],
  ["drops", "alter table t drop column a"],
  ["drops", "DROP VIEW\n  v"],
  ["drops", "do $$ begin drop table t; end $$"],
  ["drops", "drop function f(text)"],
  ["renames", "alter table t rename to u"],
  ["renames", "alter table t rename column a to b"],
  ["changes the type of a column", "alter table t alter column a type integer using a::integer"],
  ["forbids null in a column", "alter table t alter column a set not null"],
  ["takes a column's default", "alter table t alter column a drop default"],
  ["empties", "truncate t"],
  ["adds a column that must be given", "alter table t add column b text not null"],
  [
    "adds a column that must be given",
    "alter table t add column b text not null default '', add column c text not null",
  ],
  ["adds a rule to a table (t)", "alter table t add constraint c check (a <> '')"],
  ["adds a rule to a table (t)", "create unique index on_a on t (a)"],
  [
    "adds a trigger to a table (t)",
    "create trigger x before insert on t for each row execute function f()",
  ],
  [
    "changes what f takes",
    "create or replace function f(p text, q text) returns int language sql as $$ select 1 $$",
  ],
])('a migration is refused as "%s": %s', (words, sql) => {
  expect(removalsIn(sql)).toContain(words);
  expect(removalsIn(`-- contracts after: 0001_a.sql\n${sql}`)).toEqual([]);
  expect(removalsIn(`-- compatible: nothing that runs writes to this table\n${sql}`)).toEqual([]);
  expect(removalsIn(`-- compatible: yes\n${sql}`)).toContain(words);
});

it.each([
  "create table u (a text not null unique); alter table u add constraint c check (a <> '')",
  "alter table t add column b text",
  "alter table t add column b integer not null default 0",
  "alter table t alter column a drop not null",
  "alter table t drop constraint c",
  "create index on t (a)",
  "create or replace function f(p text) returns int language sql as $$ drop table t $$",
  "-- drop table t\nselect 1",
])("a migration is accepted: %s", (sql) => {
  expect(removalsIn(sql)).toEqual([]);
});
