/** Calls that are cut when the gateway stops: they are charged, so the log has them too. docs/operate.md "Starting and stopping". */
import { expect, it } from "vitest";
import { idTime, newId } from "../../src/base/ids.ts";
import { InFlightCalls } from "../../src/calls/index.ts";
import { silentLog } from "../../src/base/log.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { startGateway } from "../../src/cli/gateway.ts";
import { openDatabase } from "../../src/storage/index.ts";
import { callUnderWay } from "./support.ts";
import { sharedPostgres, temporaryDirectory } from "../support/postgres.ts";

const content = '#sandbox {"reply": "one two three four five six seven", "chunk_delay_ms": 20000}';

it("BILL-01 T65: each call that a stop cuts has its row in the request log as well as its charge", async () => {
  const databaseUrl = await (await sharedPostgres()).createMigrated();
  const dataDir = temporaryDirectory();
  // With production settings, so that rows of the log wait for a batch.
  const gateway = await startGateway({
    environment: readEnvironment({
      PORT: "0",
      DATABASE_URL: databaseUrl,
      TOLLGATE_DATA_DIR: dataDir,
      TOLLGATE_SANDBOX: "on",
    }),
    log: silentLog,
    stopMs: 300,
  });
  const answers = await Promise.all(
    Array.from({ length: 12 }, () =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          authorization: `Bearer ${gateway.first!.apiKey}`,
        },
        body: JSON.stringify({
          model: "sandbox/chat",
          stream: true,
          messages: [{ role: "user", content }],
        }),
      }),
    ),
  );
  const read = answers.map((answer) => answer.text().catch(() => "cut"));
  await gateway.close();
  await Promise.all(read);
  const database = await openDatabase({ url: databaseUrl, dataDir, log: silentLog });
  const rows = await database.query("select cost_nano > 0 as charged from requests");
  await database.close();
  expect(rows).toEqual(Array.from({ length: 12 }, () => ({ charged: true })));
});

it("a stop waits for the end of calls, up to its time limit", async () => {
  const calls = new InFlightCalls();
  expect(await calls.over(60_000)).toBe(0);
  const both = [callUnderWay(newId("req")), callUnderWay(newId("req"))];
  for (const call of both) calls.began(call);
  expect(await calls.over(10)).toBe(2);
  const over = calls.over(60_000);
  for (const call of both) calls.ended(call);
  expect(await over).toBe(0);
});

it("the start of the oldest call in flight is known in any order of starts; without calls it is now", () => {
  const calls = new InFlightCalls();
  const nowMs = Date.now();
  expect(calls.since(nowMs)).toBe(idTime(nowMs));
  const early = callUnderWay(newId("req", nowMs - 5_000));
  const late = callUnderWay(newId("req", nowMs - 1_000));
  calls.began(late);
  calls.began(early);
  expect(calls.since(nowMs)).toBe(idTime(nowMs - 5_000));
  calls.ended(early);
  expect(calls.since(nowMs)).toBe(idTime(nowMs - 1_000));
});
