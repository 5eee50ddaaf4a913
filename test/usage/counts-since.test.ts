/** Sums from before a count was added lack it, but the log has it: no answer subtracts below zero. docs/management.md. */
import { expect, it } from "vitest";
import { idTime } from "../../src/base/ids.ts";
import { createRequestLog } from "../../src/request-log/index.ts";
import { seesEverything } from "../../src/tenancy/index.ts";
import { foldUsage, readUsage } from "../../src/usage/index.ts";
import { divide } from "../../src/usage/segments.ts";
import { addKey, addWorkspace } from "../ledger/support.ts";
import { describeDatabase, silentLog } from "../support/postgres.ts";

const at = (time: string, day = 20): Date => new Date(`2026-11-${day}T${time}:00Z`);

describeDatabase("usage of hours that were summed before a count was added", (open) => {
  it("a part of such an hour has the log's counts, a whole one has none, and later hours have all", async () => {
    const database = await open();
    await addWorkspace(database, "w");
    await addKey(database, { workspaceId: "w", id: "k" });
    const log = createRequestLog(database, silentLog);
    const times = ["10:05", "10:45", "11:10", "12:10", "12:50", "18:05", "18:45"];
    for (const began of [at("18:05", 19), at("18:45", 19), ...times.map((time) => at(time))])
      log.add({
        workspaceId: "w",
        id: `req_${idTime(began.getTime())}0000000000000000`,
        createdAt: began,
        keyId: "k",
        model: "a/b",
        status: "succeeded",
        usage: { inputTokens: 1, webSearches: 1 },
        costNano: 0n,
      });
    await log.flush();
    await foldUsage(database);
    // The sums as an earlier gateway has written them.
    await database.query("update usage_hours set web_searches = 0 where hour < $1", [at("12:00")]);
    await database.query("update schema_migrations set applied_at = $1", [
      new Date(at("12:00").getTime() - 24 * 3_600_000),
    ]);
    const searches = async (from: string, to: string): Promise<[unknown, unknown] | undefined> => {
      const rows = (await readUsage(database, {
        visibility: seesEverything,
        granularity: "total",
        from: at(from),
        to: at(to),
      })) as { requests: unknown; web_searches: unknown }[];
      return rows[0] && [rows[0].requests, rows[0].web_searches];
    };
    expect(await searches("10:15", "12:15")).toEqual([3, 2]);
    expect(await searches("10:15", "11:45")).toEqual([2, 2]);
    expect(await searches("10:15", "10:50")).toEqual([1, 1]);
    expect(await searches("10:15", "10:40")).toBeUndefined();
    expect(await searches("10:00", "13:00")).toEqual([5, 2]);
    expect(await searches("12:15", "12:55")).toEqual([1, 1]);
    // Kathmandu's days begin at 18:15 UTC: calls at 18:05 and 18:45, in an hour before the change and in one after it.
    const days = (await readUsage(database, {
      visibility: seesEverything,
      granularity: "day",
      timeZone: "Asia/Kathmandu",
      from: at("00:00", 18),
      to: at("00:00", 22),
    })) as { start: string; requests: unknown; web_searches: unknown }[];
    expect(
      days.map(({ start, ...row }) => [start.slice(8, 16), row.requests, row.web_searches]),
    ).toEqual([
      ["18T18:15", 1, 0],
      ["19T18:15", 7, 3],
      ["20T18:15", 1, 1],
    ]);
  });
});

it("no period subtracts log rows from an hour whose sums lack counts", () => {
  const wholeSince = at("12:00");
  const minutes = [0, 1, 29, 30, 31, 59].map((minute) => String(minute).padStart(2, "0"));
  for (const first of minutes)
    for (const last of minutes)
      for (const [from, to] of [
        [at(`10:${first}`), at(`11:${last}`)],
        [at(`10:${first}`), at(`12:${last}`)],
        [at(`11:${first}`), new Date(at(`11:${first}`).getTime() + 60_000)],
      ] as const) {
        const { hours, ends } = divide({ from, to }, { byDay: false, wholeSince });
        const taken = ends.filter(({ sign, from: begin }) => sign === -1 && begin < wholeSince);
        expect(taken).toEqual([]);
        const length = (span: { from: Date; to: Date }) => span.to.getTime() - span.from.getTime();
        const sum = [...hours.map(length), ...ends.map((end) => end.sign * length(end))].reduce(
          (all, one) => all + one,
          0,
        );
        expect(sum).toBe(to.getTime() - from.getTime());
      }
});
