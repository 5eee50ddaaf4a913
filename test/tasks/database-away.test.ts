// A database that fails after the check of a key: callers get an error that says so, not an internal error.
// docs/errors.md; T67, T68.
import { afterAll, beforeAll, expect, it } from "vitest";
import { ledgerReaderOf } from "../money/support.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { eventually } from "../support/patience.ts";
import { startBench, video, type Bench } from "../task-http/support.ts";

let postgres: TestPostgres;
let bench: Bench;
/** Runs within the transaction that creates a task. */
let within: (() => Promise<void>) | undefined;
beforeAll(async () => {
  postgres = await startPostgres();
  bench = await startBench({
    databaseUrl: await postgres.createDatabase(),
    tasks: {
      timing: { firstPollMs: 40, sweepMs: 100 },
      at: async (point) => {
        if (point === "submit.accepted") await within?.();
      },
    },
  });
  await bench.credit("100");
});
afterAll(async () => {
  await bench.close();
  await postgres.stop();
});

const errorOf = async (answer: Response) => ({
  status: answer.status,
  code: ((await answer.json()) as { error: { code: string } }).error.code,
  retryAfter: Number(answer.headers.get("retry-after")) > 0,
});
const unavailable = { status: 503, code: "database_unavailable", retryAfter: true };

it("T68: a request for a produced file gets 503 database_unavailable during an outage, and the file afterwards", async () => {
  const { id } = await bench.create(video);
  const { output } = await bench.until(id, "succeeded");
  const { pathname } = new URL(output.videos![0]!.url);
  const file = () => bench.send("GET", pathname, { key: null });
  const outage = await postgres.outage("immediate");
  await eventually(
    async () => (await bench.send("GET", "/readyz")).status === 503,
    "the database is away",
  );
  expect(await errorOf(await file())).toEqual(unavailable);
  const waiting = file();
  await outage.back();
  expect((await waiting).status).toBe(200);
});

it("T68: a submission during a database restart gets 503 database_unavailable, and a retry with its key makes one task", async () => {
  within = async () => {
    within = undefined;
    await postgres.restart("immediate");
  };
  const send = () =>
    bench.send("POST", "/v1/tasks", { body: video, headers: { "idempotency-key": "once" } });
  expect(await errorOf(await send())).toEqual(unavailable);
  const again = await eventually(async () => {
    const answer = await send();
    return answer.ok && answer;
  }, "the database is back");
  const { id } = (await again.json()) as { id: string };
  await bench.until(id, "succeeded");
  await ledgerReaderOf(bench.database).expectClean();
});
