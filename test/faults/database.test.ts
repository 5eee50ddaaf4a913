/**
 * The PostgreSQL server restarts and crashes under load. Calls wait or get `database_unavailable`, none is lost or charged twice,
 * and no vendor is called without a reservation. T67, T68.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestGateway } from "../support/gateway.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";
import { startRecorder, type Recorder } from "../support/recorder.ts";
import {
  answering,
  benchOf,
  chatConfig,
  delta,
  doneFrame,
  errorOf,
  eventually,
  finishFrame,
  idOf,
  sleep,
  talk,
  usageFrame,
  usageOf,
  type Bench,
} from "../money/support.ts";
import { drive, newLoad } from "./load.ts";

const usage = usageOf(100, 40);
const costNano = 100n * 3_000n + 40n * 15_000n;

let postgres: TestPostgres;
let up: Recorder;
let bench: Bench;

beforeAll(async () => {
  postgres = await startPostgres();
  up = await startRecorder(() => undefined);
  const gateway = await startTestGateway({
    databaseUrl: await postgres.createDatabase(),
    config: chatConfig(up.url, 'price: { input: "3", output: "15" }'),
    holdLeaseMs: 3_000,
  });
  await gateway.credit("1000");
  bench = await benchOf(gateway, up, { dataDir: gateway.directory });
});
afterAll(async () => {
  await bench.close();
  await up.close();
  await postgres.stop();
});
beforeEach(() => {
  up.answer(async (request, response) => {
    await sleep(30);
    await answering(usage)(request, response);
  });
});

/** Every charge belongs to an answer that a caller got whole, and the reverse; each is the exact price. */
async function expectExact(before: ReadonlySet<string>, whole: ReadonlySet<string>): Promise<void> {
  // A reservation whose answer was lost with its connection ends with its lease.
  await eventually(async () => {
    await bench.ledger.expire();
    return (await bench.holds()).length === 0 ? true : undefined;
  }, "no open hold");
  await bench.expectClean();
  const charges = (await bench.charges()).filter((row) => !before.has(row.reference));
  expect(charges.filter((row) => row.amount_nano !== costNano)).toEqual([]);
  expect(charges.map((row) => row.reference).toSorted()).toEqual([...whole].toSorted());
}

const chargeIds = async (): Promise<Set<string>> =>
  new Set((await bench.charges()).map((row) => row.reference));

describe("PostgreSQL under load", () => {
  it.each(["fast", "immediate"] as const)(
    "T67 T68: restarts (%s) twice: calls wait or are refused, and each answer is charged once",
    async (how) => {
      const before = await chargeIds();
      const requestsBefore = up.requests.length;
      const load = newLoad();
      let over = false;
      const driven = drive(
        { ...bench, perSecond: 100, model: "acme/talk", text: "Hello", until: () => over },
        load,
      );
      for (let round = 0; round < 2; round += 1) {
        await sleep(500);
        await postgres.restart(how);
      }
      await sleep(500);
      over = true;
      await driven;
      expect(load.cut).toBe(0);
      expect([...load.refused.keys()].filter((one) => one !== "503 database_unavailable")).toEqual(
        [],
      );
      expect(load.whole.size).toBeGreaterThan(100);
      await expectExact(before, load.whole);
      expect(up.requests.length - requestsBefore).toBe(load.whole.size);
    },
  );

  it("T68: has an outage: new calls get 503 with Retry-After, and calls in flight end and are charged afterwards", async () => {
    const before = await chargeIds();
    const whole = new Set<string>();
    const ends: (() => void)[] = [];
    up.answer((request, response) => {
      if (request.body["stream"] === true)
        response.writeHead(200, { "content-type": "text/event-stream" }).write(delta("Hello"));
      ends.push(() => {
        if (request.body["stream"] !== true) return void answering(usage)(request, response);
        response.end(finishFrame + usageFrame(usage) + doneFrame);
      });
    });
    const underWay = [false, true].map((stream) =>
      bench.post("/v1/chat/completions", talk({ stream })),
    );
    await eventually(() => (ends.length === 2 ? true : undefined), "two calls under way");

    const outage = await postgres.outage("immediate");
    await eventually(
      async () => ((await bench.get("/readyz")).status === 503 ? true : undefined),
      "the outage",
    );
    // Their answers are complete now but cannot be charged yet, so the callers wait.
    for (const end of ends) end();
    const requestsBefore = up.requests.length;
    const refused = await Promise.all(
      ["chat/completions", "messages"].map((path) =>
        bench.post(`/v1/${path}`, { ...talk(), max_tokens: 10 }),
      ),
    );
    for (const response of refused) {
      expect(response.status).toBe(503);
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(await errorOf(refused[0]!)).toMatchObject({ code: "database_unavailable" });
    expect(await errorOf(refused[1]!)).toMatchObject({ type: "overloaded_error" });
    expect((await bench.get("/readyz")).status).toBe(503);
    expect((await bench.get("/healthz")).status).toBe(200);
    expect(up.requests).toHaveLength(requestsBefore);
    await outage.back();
    for (const call of underWay) {
      const response = await call;
      expect(response.status).toBe(200);
      const text = await response.text();
      expect(text.endsWith(doneFrame) || text.endsWith("}")).toBe(true);
      whole.add(idOf(response));
    }
    up.answer(answering(usage));
    const after = await eventually(async () => {
      const response = await bench.post("/v1/chat/completions", talk());
      await response.text();
      return response.status === 200 ? response : undefined;
    }, "calls work again");
    whole.add(idOf(after));
    await expectExact(before, whole);
  });
});
