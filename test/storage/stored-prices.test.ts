/** Migration 0054 on a log that was one large table, which has yet to become the first part (docs/architecture.md). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeDatabase } from "../support/postgres.ts";

const sql = readFileSync(
  join(import.meta.dirname, "../../src/storage/migrations/0054_kept_prices.sql"),
  "utf8",
);

/** Undoes the migration, except for the table that is not a part yet. */
const undo = [
  "drop view request_log",
  "alter table request_heads drop column price",
  "alter table requests drop column price",
  ...["usage_hours", "usage_days", "usage_tags"].map((table) => {
    const names = [...sql.matchAll(/add column (\w+) bigint/g)].map(([, name]) => name!);
    const drops = [...new Set(names)].map((name) => `drop column ${name}`);
    return `alter table ${table} ${drops.join(", ")}`;
  }),
];

describeDatabase("the migration that stores prices, on a log without parts", (open) => {
  it("the table that becomes the first part gets the column too, and its rows read as before", async () => {
    const database = await open();
    const [end] = await database.query<{ low: string }>(
      "select until as low from request_parts where name = 'requests_before'",
    );
    await database.query("alter table requests detach partition requests_before");
    for (const statement of [...undo, "alter table requests_before drop column price"])
      await database.query(statement);
    await database.query(
      "insert into requests_before (workspace_id, id, cost_nano) values ('w', 'odd', 5)",
    );
    await database.query(sql);
    await database.query(
      `alter table requests_before add constraint requests_before_end check (id < 'req_${end!.low}') not valid`,
    );
    for (;;) {
      const [row] = await database.query<{ more: boolean }>(
        "select request_parts_attach(100) as more",
      );
      if (!row!.more) break;
    }
    expect(await database.query("select id, cost_nano, price from request_log")).toEqual([
      { id: "odd", cost_nano: 5n, price: null },
    ]);
  });
});
