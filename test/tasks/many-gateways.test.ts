/** Many concurrent tasks on several gateways: no double transition, no double result, no lost task. docs/tasks.md. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ledgerReaderOf, eventually } from "../money/support.ts";
import { startTestGateway } from "../support/gateway.ts";
import { shortOrLong } from "../support/long.ts";
import { sharedPostgres, temporaryDirectory } from "../support/postgres.ts";
import {
  clipConfiguration,
  endAll,
  live,
  liveHere,
  startVideoVendor,
  type VideoVendor,
} from "../support/task-life.ts";

let vendor: VideoVendor;
beforeAll(async () => {
  vendor = await startVideoVendor();
});
afterEach(endAll);
afterAll(() => vendor.recorder.close());

const queue = "limits: { queue: { global: 5000, per_workspace: 5000 } }\n";

/** Runs `work` for each number below `count`, `atOnce` at a time. */
async function runConcurrently(
  count: number,
  atOnce: number,
  work: (index: number) => Promise<void>,
) {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

const submit = (url: string, key: string, prompt: string) =>
  fetch(`${url}/v1/tasks`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "acme/clip", prompt, duration: 2 }),
  });

describe("two gateway processes and a third runner on one PostgreSQL", () => {
  const count = shortOrLong(90, 2_000);
  it(`T79: ${count} tasks are each submitted once, reported done once and charged once`, async () => {
    const directory = temporaryDirectory();
    const databaseUrl = await (await sharedPostgres()).createMigrated();
    const config = clipConfiguration(vendor.recorder.url, queue);
    writeFileSync(join(directory, "tollgate.yaml"), config);
    const environment = {
      TOLLGATE_DATA_DIR: directory,
      TOLLGATE_CONFIG: join(directory, "tollgate.yaml"),
      DATABASE_URL: databaseUrl,
      // No process dies here, so even on a slow machine no step may be taken over.
      TEST_LEASE_MS: "60000",
    };
    const first = await live(environment);
    // In the short form the second one runs in this process, like the third.
    const second = await shortOrLong(liveHere, live)(environment);
    const third = await startTestGateway({
      config,
      databaseUrl,
      environment: { TOLLGATE_DATA_DIR: directory },
      tasks: { timing: { firstPollMs: 30, sweepMs: 100 } },
    });
    try {
      const urls = [first.url, second.url, third.url];
      await runConcurrently(count, 24, async (index) => {
        const response = await submit(urls[index % 3]!, first.key!, `clip ${index}`);
        expect(`${response.status} ${await response.text()}`).toMatch(/^200 /);
      });
      const statusCounts = async () =>
        third.database.query<{ status: string; count: bigint }>(
          "select status, count(*) as count from tasks group by status",
        );
      await eventually(
        async () => {
          const rows = await statusCounts();
          return rows.every(({ status }) => status === "succeeded") ? true : undefined;
        },
        "the end of every task",
        120_000,
      );
      expect(await statusCounts()).toEqual([{ status: "succeeded", count: BigInt(count) }]);
      const notOnce = (counts: ReadonlyMap<string, number>) =>
        [...counts].filter(([, times]) => times !== 1);
      expect([vendor.submitted.size, notOnce(vendor.submitted)]).toEqual([count, []]);
      expect([vendor.done.size, notOnce(vendor.done)]).toEqual([count, []]);
      const books = ledgerReaderOf(third.database);
      await books.expectClean();
      expect((await books.charges()).map((row) => row.amount_nano)).toEqual(
        Array.from({ length: count }, () => 100_000_000n),
      );
    } finally {
      await Promise.all([first.end(), second.end(), third.close()]);
    }
  });
});

describe("concurrent submissions", () => {
  const [asked, paid] = shortOrLong([150, 60], [500, 200]);
  it(`TASK-14: with ${asked} submissions on a balance for ${paid}, exactly ${paid} succeed and nothing else is kept`, async () => {
    const gateway = await startTestGateway({
      config: clipConfiguration(vendor.recorder.url, queue),
      databaseUrl: await (await sharedPostgres()).createMigrated(),
      // No task ends during the submissions, so all holds stay.
      tasks: { timing: { firstPollMs: 60_000 } },
    });
    try {
      await gateway.credit(String(paid / 10));
      const statuses = await Promise.all(
        Array.from({ length: asked }, async (_, index) => {
          const response = await submit(gateway.url, gateway.key, `one of many ${index}`);
          await response.text();
          return response.status;
        }),
      );
      expect(statuses.filter((status) => status === 200)).toHaveLength(paid);
      expect(statuses.filter((status) => status === 402)).toHaveLength(asked - paid);
      const rows = await gateway.database.query("select id from tasks");
      expect(rows).toHaveLength(paid);
      expect((await gateway.ledger.balance(gateway.workspaceId)).availableNano).toBe(0n);
    } finally {
      await gateway.close();
    }
  });
});
