/** When old addresses of keys are deleted. docs/management.md; test/admin-reads/key-clients.test.ts tests it with a database. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { openKeyClients } from "../../src/request-log/index.ts";
import type { Database } from "../../src/storage/index.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("a gateway without requests deletes old addresses once an hour, even after a failed query", async () => {
  const queries: string[] = [];
  const warnings: unknown[] = [];
  const query = (sql: string) => {
    queries.push(sql.trim().split(" ").slice(0, 3).join(" "));
    return queries.length === 2 ? Promise.reject(new Error("away")) : Promise.resolve([]);
  };
  const clients = openKeyClients({ query } as unknown as Database, {
    warn: (fields: unknown) => void warnings.push(fields),
  });
  const sweep = "delete from key_clients";
  await vi.advanceTimersByTimeAsync(10_000);
  expect(queries).toEqual([sweep]);
  await vi.advanceTimersByTimeAsync(60 * 60_000);
  expect([queries, warnings]).toEqual([[sweep, sweep], [{ err: new Error("away") }]]);
  await vi.advanceTimersByTimeAsync(60 * 60_000);
  expect(queries).toEqual([sweep, sweep, sweep]);
  await clients.close();
  await vi.advanceTimersByTimeAsync(60 * 60_000);
  expect(queries).toHaveLength(3);
});
