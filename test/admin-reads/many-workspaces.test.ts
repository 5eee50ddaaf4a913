/** Rare filters with many workspaces: a page has a time limit, and page by page no row is missed or comes twice. T86. */
import { afterEach, expect, it, vi } from "vitest";
import { listRequests, requestConditions } from "../../src/admin/index.ts";
import { newId } from "../../src/base/ids.ts";
import { createRequestLog } from "../../src/request-log/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { seesEverything } from "../../src/tenancy/index.ts";
import { describeDatabase, silentLog } from "../support/postgres.ts";

const workspaces = 30;
const dayMs = 24 * 3_600_000;

afterEach(() => void vi.restoreAllMocks());

describeDatabase("a log of many workspaces", (open) => {
  it("T86: is scanned in steps for rare filters, and each page says how far it came", async () => {
    const database = await open();
    await database.query(
      "insert into workspaces (id, name) select 'ws_' || n, 'w' from generate_series(1, $1) n",
      [workspaces],
    );
    const log = createRequestLog(database, silentLog);
    const nowMs = Date.now();
    const rare: string[] = [];
    // First close together, then ever further apart: a minute, an hour, months ago; and one with a clock that is ahead.
    for (let place = 0; place < 600; place += 1) {
      const at = nowMs + 60_000 - Math.round(1.035 ** place * 10_000);
      const id = newId(place % 3 === 0 ? "task" : "req", Math.max(at, nowMs - 400 * dayMs + place));
      const isRare = place % 7 === 0;
      if (isRare) rare.push(id);
      log.add({
        workspaceId: `ws_${1 + (place % workspaces)}`,
        id,
        createdAt: new Date(at),
        keyId: "key_1",
        model: "acme/talk",
        provider: "p",
        protocol: "chat",
        status: isRare ? "failed" : "succeeded",
        httpStatus: 200,
        costNano: 5n,
        attempts: [],
        explanation: { error: isRare ? "upstream_error" : null },
      });
    }
    await log.flush();
    const partOf = (id: string) => id.split("_")[1]!;
    const newestFirst = rare.toSorted((one, other) => (partOf(one) < partOf(other) ? 1 : -1));
    const filter = {
      visibility: seesEverything,
      rare: [requestConditions.error_code("upstream_error")],
      limit: 10,
    };
    let passedMs = 0;
    const realNow = performance.now.bind(performance);
    vi.spyOn(performance, "now").mockImplementation(() => realNow() + passedMs);
    /** Reads all pages while the database takes `moreMs` longer for each step. */
    async function readAll(moreMs: number) {
      const slow: Database = {
        ...database,
        query: (sql, params, options) => {
          if (sql.startsWith("select n.*")) passedMs += moreMs;
          return database.query(sql, params, options);
        },
      };
      const pages: { count: number; scannedTo: Date | null }[] = [];
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await listRequests(slow, {
          ...filter,
          ...(cursor !== undefined && { cursor }),
        });
        found.push(...page.records.map((row) => (row as { id: string }).id));
        pages.push({ count: page.records.length, scannedTo: page.scannedTo });
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined && pages.length < 100);
      return { pages, found };
    }
    const quick = await readAll(0);
    expect(quick.found).toEqual(newestFirst);
    expect(quick.pages.at(-1)!.scannedTo).toBeNull();

    // A page has time for three steps, or for one.
    const slow = await readAll(200);
    expect(slow.found).toEqual(newestFirst);
    expect((await readAll(600)).found).toEqual(newestFirst);
    const short = slow.pages.filter(({ count }) => count < 10);
    expect(short.length).toBeGreaterThan(2);
    // If there are few rows, the next page continues with the step size of this one.
    expect(slow.pages.length).toBeLessThan(quick.pages.length + 10);
    const times = slow.pages.flatMap(({ scannedTo }) => scannedTo?.getTime() ?? []);
    expect(times).toEqual(times.toSorted((one, other) => other - one));
    expect(slow.pages.at(-1)!.scannedTo).toBeNull();
  });
});
