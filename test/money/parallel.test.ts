/** Many concurrent calls on one balance: exactly the covered calls are served, whichever gateway gets them. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { revokeKey } from "../../src/tenancy/index.ts";
import { systemClock } from "../../src/base/clock.ts";
import { verifyLedger } from "../../src/verification/index.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { shortOrLong } from "../support/long.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { json, startRecorder, type Answer, type Recorder } from "../support/recorder.ts";
import {
  answering,
  chatConfig,
  delta,
  describeGateways,
  doneFrame,
  errorOf,
  eventually,
  finishFrame,
  idOf,
  talk,
  usageFrame,
  usageOf,
} from "./support.ts";

const config = (url: string) => chatConfig(url, 'price: { input: "3", output: "15" }');
/** 100 tokens in, 40 out. */
const usage = usageOf(100, 40);
const costNano = 100n * 3_000n + 40n * 15_000n;

const atOnce = shortOrLong(300, 1_000);

/** An upstream that answers only when `release` is called. */
function deferred(answer: Answer): { answer: Answer; release(): void; waiting(): number } {
  let waiting: (() => void)[] = [];
  return {
    answer: (request, response) => void waiting.push(() => void answer(request, response)),
    release() {
      const all = waiting;
      waiting = [];
      for (const one of all) one();
    },
    waiting: () => waiting.length,
  };
}

/**
 * Sends a call, and sends it again, as clients do, while a busy gateway refuses it with 503. The gateway's load guard refuses calls
 * while the process is slow, and the database ends a reservation that waits for a stopped process.
 */
const postUntilAccepted = (send: () => Promise<Response>): Promise<Response> =>
  eventually(async () => {
    const response = await send();
    if (response.status !== 503) return response;
    expect(["overloaded", "database_unavailable"]).toContain((await errorOf(response)).code);
    return undefined;
  }, "a call that the busy gateway accepts");

/** Counts the calls refused so far, while others are in flight. */
function countRefused(calls: readonly Promise<Response>[]): () => number {
  let refused = 0;
  for (const call of calls)
    void call.then((response) => (refused += response.status === 402 ? 1 : 0));
  return () => refused;
}

describeGateways(`${atOnce} simultaneous calls`, { config }, (bench) => {
  it("BILL-23 T63: exactly a hundred are served with credit for a hundred; the others are refused before any upstream request", async () => {
    const other = await bench().addWorkspace("1");
    const headers = { authorization: `Bearer ${other.key}` };
    bench().up.answer(answering(usage));
    // Learn the reservation of one call from a call of the same size.
    const first = await bench().post("/v1/chat/completions", talk(), headers);
    await first.text();
    const held = (await bench().entry(idOf(first)))!.held_nano;
    const balanceOf = () => bench().ledger.balance(other.workspaceId);
    await expect.poll(balanceOf).toMatchObject({ heldNano: 0n });
    const { availableNano } = await balanceOf();
    await bench().ledger.credit({
      workspaceId: other.workspaceId,
      amountNano: 100n * held + (held - 1n) - availableNano,
      reference: "a hundred calls",
    });

    const up = deferred(answering(usage));
    bench().up.answer(up.answer);
    const requestsBefore = bench().up.requests.length;
    const calls = Array.from({ length: atOnce }, (_, index) =>
      postUntilAccepted(() =>
        bench().post("/v1/chat/completions", talk({ stream: index % 2 === 0 }), headers),
      ),
    );
    const refused = countRefused(calls);
    await eventually(
      () => (refused() === atOnce - 100 && up.waiting() === 100 ? true : undefined),
      "100 under way, and the others refused",
    );
    const during = await bench().ledger.balance(other.workspaceId);
    expect(during).toMatchObject({ heldNano: 100n * held, availableNano: held - 1n });
    up.release();
    const responses = await Promise.all(calls);
    const served = responses.filter((response) => response.status === 200);
    expect(served).toHaveLength(100);
    await Promise.all(served.map((response) => response.text()));
    for (const response of responses.filter((one) => one.status !== 200)) {
      expect(response.status).toBe(402);
      expect(response.headers.get("x-should-retry")).toBe("false");
      expect(await errorOf(response)).toMatchObject({
        code: "insufficient_balance",
        type: "insufficient_quota",
      });
    }
    expect(bench().up.requests.length - requestsBefore).toBe(100);
    const charges = new Map((await bench().charges()).map((row) => [row.reference, row]));
    for (const response of served)
      expect(charges.get(idOf(response))).toMatchObject({ amount_nano: costNano });
    expect(charges.size).toBe(101);
    await expect
      .poll(() => bench().ledger.balance(other.workspaceId))
      .toMatchObject({
        chargedNano: 101n * costNano,
        heldNano: 0n,
      });
    await bench().expectClean();
  });

  it("KEY-13: a call whose key is revoked while it runs ends and is charged, and the next one fails", async () => {
    const up = deferred(answering(usage));
    bench().up.answer(up.answer);
    const other = await bench().addWorkspace("1");
    const headers = { authorization: `Bearer ${other.key}` };
    const calls = [false, true].map((stream) =>
      bench().post("/v1/chat/completions", talk({ stream }), headers),
    );
    await eventually(() => (up.waiting() === 2 ? true : undefined), "two calls under way");
    const [{ id }] = (await bench().database.query<{ id: string }>(
      "select id from api_keys where workspace_id = $1",
      [other.workspaceId],
    )) as [{ id: string }];
    await revokeKey({ database: bench().database, clock: systemClock }, { id });
    const refused = await bench().post("/v1/chat/completions", talk(), headers);
    expect(refused.status).toBe(401);
    expect(await errorOf(refused)).toMatchObject({ code: "api_key_revoked" });
    up.release();
    for (const call of calls) {
      const response = await call;
      expect(response.status).toBe(200);
      await response.text();
      expect(await bench().entry(idOf(response))).toMatchObject({
        kind: "charge",
        amount_nano: costNano,
      });
    }
    await expect
      .poll(() => bench().ledger.balance(other.workspaceId))
      .toMatchObject({
        chargedNano: 2n * costNano,
        heldNano: 0n,
      });
  });

  it("T85: more open streams than database connections all run at once, and all are charged", async () => {
    const streams = shortOrLong(40, 120);
    const ends: (() => void)[] = [];
    bench().up.answer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(delta("Hello"));
      ends.push(() => response.end(finishFrame + usageFrame(usage) + doneFrame));
    });
    const calls = await Promise.all(
      Array.from({ length: streams }, () =>
        postUntilAccepted(() => bench().post("/v1/chat/completions", talk({ stream: true }))),
      ),
    );
    expect(calls.every((response) => response.status === 200)).toBe(true);
    // One allowance covers all calls once the headroom was returned.
    await expect.poll(async () => (await bench().holds()).length).toBe(1);
    // The database serves other requests while all streams are open.
    expect((await bench().get("/v1/key")).status).toBe(200);
    for (const end of ends) end();
    const texts = await Promise.all(calls.map((response) => response.text()));
    expect(texts.filter((text) => text.endsWith(doneFrame))).toHaveLength(streams);
    for (const response of calls)
      expect(await bench().entry(idOf(response))).toMatchObject({ amount_nano: costNano });
    await bench().expectClean();
  });
});

describe("two gateways on one PostgreSQL", () => {
  let up: Recorder;
  const nodes: GatewayUnderTest[] = [];
  let key = "";

  beforeAll(async () => {
    up = await startRecorder(json({}));
    const databaseUrl = await (await sharedPostgres()).createMigrated();
    // Gateways on one database share the master key; otherwise neither could read the other's API keys.
    const environment = {
      TOLLGATE_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
    };
    for (let index = 0; index < 2; index += 1)
      nodes.push(await startTestGateway({ databaseUrl, environment, config: config(up.url) }));
    key = nodes[0]!.key;
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await up.close();
  });

  it("BILL-23 T63: serve in parallel exactly what one balance covers", async () => {
    const [first, second] = nodes as [GatewayUnderTest, GatewayUnderTest];
    const headers = { authorization: `Bearer ${key}` };
    up.answer(answering(usage));
    await first.credit("1");
    await (await first.post("/v1/chat/completions", talk(), headers)).text();
    const [{ held_nano: held }] = (await first.database.query<{ held_nano: bigint }>(
      "select held_nano from ledger_entries where kind = 'charge'",
    )) as [{ held_nano: bigint }];
    // Wait until the headroom was returned.
    const balanceOf = () => second.ledger.balance(second.workspaceId);
    await expect.poll(balanceOf).toMatchObject({ heldNano: 0n });
    const { availableNano } = await balanceOf();
    await second.ledger.credit({
      workspaceId: second.workspaceId,
      amountNano: 60n * held - availableNano,
      reference: "sixty calls",
    });
    const upstream = deferred(answering(usage));
    up.answer(upstream.answer);
    const requestsBefore = up.requests.length;
    const calls = Array.from({ length: 300 }, (_, index) =>
      postUntilAccepted(() =>
        nodes[index % 2]!.post("/v1/chat/completions", talk({ stream: index % 3 === 0 }), headers),
      ),
    );
    const refused = countRefused(calls);
    await eventually(
      () => (refused() === 240 && upstream.waiting() === 60 ? true : undefined),
      "60 under way, 240 refused",
    );
    upstream.release();
    const served = (await Promise.all(calls)).filter((response) => response.status === 200);
    await Promise.all(served.map((response) => response.text()));
    expect(served).toHaveLength(60);
    expect(up.requests.length - requestsBefore).toBe(60);
    await expect.poll(balanceOf).toMatchObject({ chargedNano: 61n * costNano, heldNano: 0n });
    expect(await verifyLedger(second.database)).toEqual([]);
  });

  it("KEY-11 KEY-13 T73: refuse a revoked key at once on both, and still charge the call that runs", async () => {
    const [first, second] = nodes as [GatewayUnderTest, GatewayUnderTest];
    const headers = { authorization: `Bearer ${key}` };
    const upstream = deferred(answering(usage));
    up.answer(upstream.answer);
    const running = second.post("/v1/chat/completions", talk(), headers);
    await eventually(() => (upstream.waiting() === 1 ? true : undefined), "a call under way");
    const [{ id }] = (await first.database.query<{ id: string }>("select id from api_keys")) as [
      { id: string },
    ];
    await revokeKey({ database: first.database, clock: systemClock }, { id });
    const refused = await second.post("/v1/chat/completions", talk(), headers);
    expect(refused.status).toBe(401);
    expect(await errorOf(refused)).toMatchObject({ code: "api_key_revoked" });
    upstream.release();
    const response = await running;
    await response.text();
    expect(response.status).toBe(200);
    const charged = await first.database.query(
      "select 1 from ledger_entries where reference = $1 and kind = 'charge' and amount_nano = $2",
      [idOf(response), costNano],
    );
    expect(charged).toHaveLength(1);
  });
});
