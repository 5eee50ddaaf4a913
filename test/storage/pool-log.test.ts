/** Log lines about connections to the database that break while no statement runs. docs/troubleshooting.md. */
import { expect, it } from "vitest";
import { createLogThrottle } from "../../src/base/log-throttle.ts";
import { createPool } from "../../src/storage/pool.ts";

it("ten connections that one restart of the database ends make one line in the log", async () => {
  const repeats = createLogThrottle(() => 0);
  const lines: object[] = [];
  const warn = (fields: object, message: string): void => {
    if (repeats(fields, message) !== undefined) lines.push(fields);
  };
  const pool = createPool({}, { warn });
  for (let at = 0; at < 10; at += 1)
    pool.emit(
      "error",
      new Error("terminating connection due to administrator command"),
      undefined!,
    );
  await pool.end();
  expect(lines).toMatchObject([
    { err: { message: "terminating connection due to administrator command" } },
  ]);
});
