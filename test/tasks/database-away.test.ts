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

it("T68: a submission that the database rolled back because of a deadlock is made again, and makes one task", async () => {
  await bench.database.query(
    `create sequence victims;
     create function once_in_a_deadlock() returns trigger language plpgsql as $$
     begin
       if nextval('victims') = 1 then raise exception 'deadlock detected' using errcode = '40P01'; end if;
       return new;
     end $$;
     create trigger once_in_a_deadlock after insert on ledger_holds for each row execute function once_in_a_deadlock()`,
  );
  const send = () =>
    bench.send("POST", "/v1/tasks", { body: video, headers: { "idempotency-key": "victim" } });
  const answer = await send();
  await bench.database.query("drop function once_in_a_deadlock cascade");
  expect(answer.status).toBe(200);
  const { id } = (await answer.json()) as { id: string };
  expect(((await (await send()).json()) as { id: string }).id).toBe(id);
  await bench.until(id, "succeeded");
  await ledgerReaderOf(bench.database).expectClean();
});
