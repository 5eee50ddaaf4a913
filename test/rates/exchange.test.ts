/** The limiter of a process, between its calls and the database: no call waits for ever, all use is counted. LIM-17; docs/limits.md. */
import { expect, it } from "vitest";
import { RateBatcher } from "../../src/rates/rate-batcher.ts";
import { createRateLimiter, type RateUse } from "../../src/rates/limiter.ts";
import { grantSender } from "../../src/rates/take.ts";
import type { Database } from "../../src/storage/index.ts";
import { noUsage } from "../../src/base/usage.ts";
import { describeDatabase } from "../support/postgres.ts";
import { eventually } from "../support/patience.ts";

let keys = 0;
/** A new key with a limit of tokens, and its own limiter. */
function limited(database: Database, tokensPerMinute: number) {
  keys += 1;
  const id = `exchange ${keys}`;
  const limits = { requestsPerMinute: null, tokensPerMinute, concurrency: null };
  const caller = { workspaceId: "w", limits: [{ scope: "key", id, limits }] } as const;
  const limiter = createRateLimiter(new RateBatcher(grantSender(database, "g", 60_000)));
  const admit = async (): Promise<RateUse> => limiter.admit(caller, () => undefined);
  const total = async () => {
    const [row] = await database.query<{ total: bigint }>(
      "select total from rate_windows where scope_id = $1 and unit = 'tokens'",
      [id],
    );
    return Number(row?.total ?? 0n);
  };
  return { id, limiter, admit, total };
}

const usageOf = (outputTokens: number) => ({ ...noUsage, inputTokens: 10, outputTokens });

describeDatabase("calls that outlast the limiter's memory of a limit", (open) => {
  it("LIM-17: two calls are both admitted and counted if the limiter forgot the limit between them", async () => {
    const { limiter, admit, total } = limited(await open(), 1_000);
    const early = await admit();
    // A heartbeat while the call waits for its body or a hook.
    limiter.heartbeat();
    const late = await admit();
    await Promise.all([early.takeTokens(10), late.takeTokens(20)]);
    expect(await total()).toBe(30);
    early.settle(usageOf(300));
    late.settle(usageOf(200));
    await eventually(async () => (await total()) === 520, "what both used");
  });
});

/** Runs `work` while the database fails every query about this limit, whose row is locked, until `isOver`. */
async function whileUnavailable(
  { database, id }: { readonly database: Database; readonly id: string },
  work: () => void,
  isOver: (cuts: number) => boolean,
) {
  await database.transaction(async (tx) => {
    await tx.query("select from rate_windows where scope_id = $1 for update", [id]);
    work();
    let cuts = 0;
    await eventually(async () => {
      const ended = await database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and query like '%from rate_take(%'`,
      );
      cuts += ended.length;
      // The server ends a transaction that is idle for some seconds.
      await tx.query("select 1");
      return isOver(cuts);
    }, "questions that are cut");
  });
}

describeDatabase("a limiter whose database is unavailable", (open) => {
  it("LIM-17: tokens used beyond those already taken are counted by a retry", async () => {
    const database = await open();
    const { id, admit, total } = limited(database, 1_000);
    const use = await admit();
    await use.takeTokens(10);
    await whileUnavailable(
      { database, id },
      () => use.settle(usageOf(600)),
      (cuts) => cuts > 0,
    );
    await eventually(async () => (await total()) >= 610, "what the call used");
  });

  it("LIM-17: if every retry failed, the tokens are counted once the database is back", async () => {
    const database = await open();
    const { id, limiter, admit, total } = limited(database, 1_000);
    const use = await admit();
    await use.takeTokens(10);
    const beganMs = performance.now();
    await whileUnavailable(
      { database, id },
      () => use.settle(usageOf(1_600)),
      () => performance.now() - beganMs > 5_000,
    );
    expect(await total()).toBe(10);
    const next = await admit();
    await expect((async () => next.takeTokens(10))()).rejects.toMatchObject({
      code: "rate_limit_exceeded",
    });
    limiter.heartbeat();
    await eventually(async () => (await total()) === 1_610, "what the call used");
  });
});
