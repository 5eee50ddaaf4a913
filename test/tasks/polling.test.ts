// Tasks whose vendors answer late, wrongly or not at all: polls, cancellations, late results. docs/tasks.md.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ledgerReaderOf, eventually, type LedgerReader } from "../money/support.ts";
import { shortOrLong, isLong } from "../support/long.ts";
import { startBench, type Bench } from "../task-http/support.ts";
import {
  clipModel,
  configurationOf,
  oneKey,
  says,
  startArkVendor,
  type ArkVendor,
  type Reply,
} from "./support.ts";

const timing = { firstPollMs: 20, sweepMs: 50, missesMin: 3, missingMs: 50 };
/** For vendors that do not answer. On a slow machine other vendors also need longer, so only these tests have the short limit. */
const impatientTiming = { ...timing, questionMs: shortOrLong(250, 1_000) };
const charge = 1_000_000_000n;

let vendor: ArkVendor;
let spare: ArkVendor;
let bench: Bench;
let books: LedgerReader;
/** A gateway that waits less for its vendors. */
let impatient: Bench;
/** Each test has its own model and providers, so that failures in one test do not affect the next. */
let clip: { readonly model: string; readonly prompt: string; readonly duration: number };
let tests = 0;
beforeAll(async () => {
  [vendor, spare] = await Promise.all([startArkVendor(), startArkVendor()]);
  const numbers = Array.from({ length: 24 }, (_, index) => index + 1);
  const config = configurationOf(
    numbers.flatMap((number) => [
      oneKey(`first${number}`, vendor),
      oneKey(`spare${number}`, spare),
    ]),
    numbers.map((number) => clipModel(`acme/clip${number}`, [`first${number}`, `spare${number}`])),
  );
  [bench, impatient] = await Promise.all([
    startBench({ config, tasks: { timing } }),
    startBench({ config, tasks: { timing: impatientTiming } }),
  ]);
  for (const one of [bench, impatient]) await one.credit("1000");
  books = ledgerReaderOf(bench.database);
});
beforeEach(() => {
  tests += 1;
  clip = { model: `acme/clip${tests}:@price`, prompt: "A boat", duration: 2 };
  vendor.reset();
  spare.reset();
});
afterAll(async () => {
  await Promise.all([bench?.close(), impatient?.close()]);
  await Promise.all([vendor?.close(), spare?.close()]);
});

const cancel = (id: string, at = bench) => at.send("POST", `/v1/tasks/${id}/cancel`);
/** The gateway for a vendor's reply. */
const benchFor = (reply: Reply): Bench => (reply === says.nothing ? impatient : bench);
/** The ledger's charges and open holds of a task. After its end there is at most one charge. */
async function moneyOf(id: string, of = books): Promise<{ charges: bigint[]; held: bigint[] }> {
  const charges = (await of.charges()).filter(({ reference }) => reference === id);
  const holds = (await of.holds()).filter((hold) => hold.id === id);
  return {
    charges: charges.map((entry) => entry.amount_nano),
    held: holds.map((hold) => hold.amount_nano),
  };
}
const chargedOnce = { charges: [charge], held: [] };
const released = { charges: [], held: [] };

describe("a poll that fails", () => {
  it.each([
    // After these the gateway does not poll for seconds, so the short form tests each once.
    ["is not answered", says.nothing, isLong],
    ["is answered with 429", says.refused(429), isLong],
    ["is closed", says.closed, true],
    ["is cut off", says.brokenOff, true],
    ["is answered with an HTML page", says.page, true],
    ["is answered with 500", says.refused(500), true],
    ["is answered with 401", says.refused(401), true],
  ])("T80: when it %s, the task succeeds later and is charged once", async (...row) => {
    const [, reply, isTwice] = row;
    const replies = isTwice ? [reply, reply, says.running, vendor.done] : [reply, vendor.done];
    vendor.plan("GET", ...replies);
    const at = benchFor(reply);
    const { id } = await at.create(clip);
    const task = await at.until(id, "succeeded", "failed", "expired");
    expect(task).toMatchObject({ status: "succeeded", cost: "1" });
    // The impatient gateway may also give up a poll that the vendor answers, and then it polls again.
    const polls =
      at === impatient ? vendor.calls("GET").slice(0, replies.length) : vendor.calls("GET");
    expect([polls.length, vendor.calls("POST").length]).toEqual([replies.length, 1]);
    expect(await moneyOf(id, ledgerReaderOf(at.database))).toEqual(chargedOnce);
  });

  it("T80: a job that its vendor does not know counts as lost only after some time, without a charge", async () => {
    vendor.plan("GET", says.refused(404), says.refused(404), says.running, vendor.done);
    const { id } = await bench.create(clip);
    expect((await bench.until(id, "succeeded", "expired")).status).toBe("succeeded");
    vendor.plan("GET", says.refused(404));
    const lost = await bench.create(clip);
    expect(await bench.until(lost.id, "succeeded", "expired")).toMatchObject({
      status: "expired",
      cost: "0",
    });
    expect([await moneyOf(id), await moneyOf(lost.id)]).toEqual([chargedOnce, released]);
  });
});

describe("a submission", () => {
  it.each([
    ["answered with a cut body", says.brokenOff],
    ["never answered", says.closed],
    ["answered without an id", says.page],
  ])("T81: is not sent again to any vendor when it is %s", async (_how, reply) => {
    vendor.plan("POST", reply);
    const body = { body: clip, headers: { "idempotency-key": clip.model } };
    const first = await bench.send("POST", "/v1/tasks", body);
    const { id } = (await first.json()) as { id: string };
    const task = await bench.until(id, "failed");
    expect(task.error!.code).toBe("submission_uncertain");
    const again = await bench.send("POST", "/v1/tasks", body);
    expect(await again.json()).toMatchObject({ id, status: "failed" });
    expect([vendor.calls("POST").length, spare.calls("POST").length]).toEqual([1, 0]);
    expect(await moneyOf(id)).toEqual(released);
  });
});

describe("a cancellation", () => {
  it("T82: goes to the vendor that accepted the task, with the id that it gave", async () => {
    // The first vendor refuses but names a job id; the second one accepts with another id.
    vendor.plan("POST", says.refused(503, "Busy", { id: "job-of-the-first" }));
    spare.plan("POST", says.taken("job-of-the-spare"));
    spare.plan("GET", says.running);
    const { id } = await bench.create(clip);
    await bench.until(id, "running");
    expect((await cancel(id)).status).toBe(200);
    expect(vendor.calls("DELETE")).toEqual([]);
    expect(spare.calls("DELETE").map(({ path }) => path)).toEqual([
      "/api/v3/contents/generations/tasks/job-of-the-spare",
    ]);
    expect(await bench.read(id)).toMatchObject({ status: "canceled", cost: "0" });
    expect(await moneyOf(id)).toEqual(released);
  });

  it.each([
    ["refuses", says.refused(409)],
    ["answers 200 with an error", says.notCanceled],
    ["answers with an HTML page", says.page],
    ["does not answer", says.nothing],
    ["closes the connection", says.closed],
  ])("T82: if the vendor %s, the task goes on and is charged once", async (_how, reply) => {
    vendor.plan("GET", says.running);
    vendor.plan("DELETE", reply);
    const at = benchFor(reply);
    const { id } = await at.create(clip);
    await at.until(id, "running");
    expect((await cancel(id, at)).status).toBe(409);
    vendor.plan("GET", vendor.done);
    await at.until(id, "succeeded");
    expect((await cancel(id, at)).status).toBe(409);
    expect(await moneyOf(id, ledgerReaderOf(at.database))).toEqual(chargedOnce);
  });
});

describe("a result that arrives too late", () => {
  it.each(["canceled", "expired"] as const)(
    "T83 TASK-36: for a task that was %s meanwhile, changes nothing, is not stored, and delays no other task",
    async (status) => {
      const { promise: held, resolve: release } = Promise.withResolvers<void>();
      vendor.plan(
        "GET",
        (response, request) => void held.then(() => vendor.done(response, request)),
        says.running,
      );
      // The impatient gateway looks at the task again once it has given up the poll.
      const at = status === "expired" ? impatient : bench;
      const { id } = await at.create(clip);
      await eventually(() => vendor.calls("GET")[0], "a poll under way");
      // Either its caller cancels it, or its lease and its deadline have ended.
      if (status === "canceled") await cancel(id, at);
      else
        await at.database.query(
          "update tasks set expires_at = now(), due_at = now(), lease_until = now() where id = $1",
          [id],
        );
      const ended = await at.until(id, status);
      release();
      vendor.plan("GET", vendor.done);
      // The next task works as usual.
      const other = await at.create(clip);
      await at.until(other.id, "succeeded");
      expect(await at.read(id)).toEqual(ended);
      const books = ledgerReaderOf(at.database);
      expect([await moneyOf(id, books), await moneyOf(other.id, books)]).toEqual([
        released,
        chargedOnce,
      ]);
      const files = await at.database.query(
        "select name from files where task_id = $1 and expires_at > now() + interval '2 days'",
        [id],
      );
      expect(files).toEqual([]);
    },
  );
});

it("the ledger is consistent after all of these tests", async () => {
  for (const { database } of [bench, impatient]) await ledgerReaderOf(database).expectClean();
});

describe("several providers and keys", () => {
  let vendors: ArkVendor[];
  let twoProviders: Bench;
  beforeAll(async () => {
    vendors = await Promise.all([startArkVendor(), startArkVendor()]);
    const provider = (id: string, one: ArkVendor) =>
      `  - { id: ${id}, dialect: ark, base_url: "${one.url}/api/v3", credentials: [{ id: a, api_key: ${id}-a }, { id: b, api_key: ${id}-b }] }`;
    twoProviders = await startBench({
      config: configurationOf(
        [provider("one", vendors[0]!), provider("two", vendors[1]!)],
        [clipModel("acme/clip", ["one", "two"])],
      ),
      tasks: { timing },
    });
    await twoProviders.credit("1000");
  });
  afterAll(async () => {
    await twoProviders?.close();
    await Promise.all((vendors ?? []).map((one) => one.close()));
  });

  it("T84: each task is polled at the provider that accepted it, with the same credential", async () => {
    const keyOf = new Map<string, string>();
    for (const [index, one] of vendors.entries()) {
      let jobs = 0;
      one.plan("POST", (response, request) => {
        const job = `${index}-${(jobs += 1)}`;
        keyOf.set(job, request.headers.authorization!);
        says.taken(job)(response, request);
      });
      one.plan("GET", says.running, says.running, says.running, says.running, one.done);
    }
    const made = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        twoProviders.create({ ...clip, model: `acme/clip:${index % 2 === 0 ? "one" : "two"}` }),
      ),
    );
    for (const { id } of made) await twoProviders.until(id, "succeeded");
    expect(new Set(keyOf.values())).toEqual(
      new Set(["one-a", "one-b", "two-a", "two-b"].map((key) => `Bearer ${key}`)),
    );
    for (const [index, one] of vendors.entries()) {
      const asked = one
        .calls("GET")
        .map(({ path, headers }) => [path.split("/").at(-1)!, headers.authorization] as const);
      expect(new Set(asked.map(([job]) => job)).size).toBe(12);
      for (const [job, key] of asked) {
        expect(job.startsWith(`${index}-`)).toBe(true);
        expect(key).toBe(keyOf.get(job));
      }
    }
  });
});
