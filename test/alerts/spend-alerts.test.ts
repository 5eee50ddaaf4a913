/** Alerts of spend caps: at 50, 80 and 100 %, once each, as log events and as signed callbacks. docs/callbacks.md "Spend caps". */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Webhook } from "standardwebhooks";
import { silentLog } from "../../src/base/log.ts";
import { listAlerts } from "../../src/admin/index.ts";
import { startSpendAlerts } from "../../src/tasks/index.ts";
import { formatUsd, parseUsd } from "../../src/base/money.ts";
import { changeWorkspace, readSigningSecret, seesEverything } from "../../src/tenancy/index.ts";
import { setLedgerClock } from "../ledger/support.ts";
import { answering, benchOf, chatConfig, talk, usageOf, type Bench } from "../money/support.ts";
import { startTestGateway } from "../support/gateway.ts";
import { sharedPostgres, temporaryDirectory } from "../support/postgres.ts";
import { startRecorder, type Recorder } from "../support/recorder.ts";
import { masterKey, secrets, startReceiver, until, type Receiver } from "../webhooks/support.ts";

/** A call of ten tokens costs a cent. */
const config = (url: string) => chatConfig(url, 'price: { input: "1000", output: "1000" }');
const cent = 10_000_000n;

interface Logged {
  readonly layer: string;
  readonly id: string;
  readonly name: string | null;
  readonly window: string;
  readonly threshold: number;
}

let aheadMs = 0;
const clock = { now: () => Date.now() + aheadMs };
const logged: Logged[] = [];
const log = {
  ...silentLog,
  warn(fields: object) {
    if ("threshold" in fields) logged.push(fields as Logged);
  },
};

async function startNode(up: Recorder, databaseUrl?: string, directory?: string): Promise<Bench> {
  const dataDir = temporaryDirectory();
  const gateway = await startTestGateway({
    config: config(up.url),
    clock,
    log,
    tasks: { alertEveryMs: 50, callbackEveryMs: 20 },
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    ...(directory === undefined ? {} : { directory }),
    environment: {
      TOLLGATE_DATA_DIR: dataDir,
      TOLLGATE_MASTER_KEY: masterKey.toString("base64"),
      TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on",
    },
  });
  return benchOf(gateway, up, { dataDir, clock });
}

describe("alerts of spend caps", () => {
  let up: Recorder;
  const nodes: Bench[] = [];
  let receiver: Receiver;
  beforeAll(async () => {
    up = await startRecorder(answering(usageOf(10, 0)));
    const databaseUrl = await (await sharedPostgres()).createMigrated();
    nodes.push(await startNode(up, databaseUrl));
    nodes.push(await startNode(up, databaseUrl));
    await node().credit("100");
    receiver = await startReceiver(200);
  });
  afterAll(async () => {
    for (const one of nodes) await one.close();
    await up.close();
  });
  const node = () => nodes[0]!;

  const address = (url: string | null) =>
    node().database.query("update workspaces set alert_webhook_url = $1", [url]);

  beforeEach(async () => {
    for (const layer of ["workspace", "member", "key"] as const) await node().setCaps(layer, null);
    await node().database.query("delete from spend_alerts; delete from webhook_deliveries");
    await address(receiver.url);
    // A new day, without charges yet.
    aheadMs += 24 * 60 * 60 * 1000;
    await setLedgerClock(node().database, new Date(clock.now()).toISOString());
    logged.length = 0;
    receiver.received.length = 0;
  });

  /** Makes `cents` calls, on each node in turn. Every call costs a cent. */
  async function spend(cents: number): Promise<void> {
    const key = node().key;
    for (let index = 0; index < cents; index += 1) {
      const headers = { authorization: `Bearer ${key}` };
      const answer = await nodes[index % nodes.length]!.post(
        "/v1/chat/completions",
        talk(),
        headers,
      );
      expect(answer.status).toBe(200);
      await answer.text();
    }
  }
  /** Waits long enough for two checks and a delivery. */
  const waitBriefly = () => new Promise((resolve) => setTimeout(resolve, 400));
  const events = () =>
    receiver.received.map(
      ({ body }) => JSON.parse(body) as { id: string; type: string; data: Logged },
    );

  it("use a workspace's own thresholds in every layer, and are off if it has none", async () => {
    const choose = (list: string) =>
      node().database.query("update workspaces set alert_thresholds = $1::integer[]", [list]);
    try {
      await choose("{20,95}");
      await node().setCaps("member", { dailyNano: 10n * cent });
      await node().setCaps("key", { dailyNano: 20n * cent });
      await spend(5);
      await until(() => logged.length === 2);
      await waitBriefly();
      expect(
        new Set(logged.map(({ layer, threshold, name }) => `${layer} ${threshold} ${name}`)),
      ).toEqual(new Set(["member 20 null", "key 20 first key"]));
      await choose("{}");
      await spend(5);
      await waitBriefly();
      expect(logged).toHaveLength(2);
    } finally {
      await choose("{50,80,100}");
    }
  });

  it("report once, as 100 %, a hard cap that refuses a call before it is spent; a soft cap is not reported", async () => {
    const refusedBy = async (one: Bench) => {
      const headers = { authorization: `Bearer ${node().key}` };
      const answer = await one.post("/v1/chat/completions", talk(), headers);
      expect(answer.status).toBe(402);
      await answer.text();
    };
    // A call costs a cent, but its upper bound is far higher.
    await node().setCaps("key", { dailyNano: 2n * cent, hard: true });
    for (const one of [...nodes, ...nodes]) await refusedBy(one);
    await until(() => receiver.received.length === 1);
    await waitBriefly();
    expect(events().map(({ data }) => data)).toEqual([
      expect.objectContaining({
        layer: "key",
        window: "daily",
        threshold: 100,
        cap: "0.02",
        spent: "0",
        refused: true,
      }),
    ]);
    expect(logged).toHaveLength(1);
    const { records } = await listAlerts(node().database, { visibility: seesEverything });
    expect(records).toEqual([expect.objectContaining({ threshold: 100, refused: true })]);
  });

  it("do not report a refusal of one period in the next period", async () => {
    await node().setCaps("key", { dailyNano: 2n * cent, monthlyNano: 2n * cent, hard: true });
    const { database, workspaceId } = node();
    const [key] = await database.query<{ id: string }>("select id from api_keys", []);
    const alerts = startSpendAlerts({
      database,
      clock,
      log,
      wakeDeliverer: () => undefined,
      sweeps: () => false,
    });
    aheadMs = Date.parse("2027-03-17T23:59:59Z") - Date.now();
    alerts.refused(workspaceId, key!.id, "key_daily_spend_cap_reached");
    alerts.refused(workspaceId, key!.id, "key_monthly_spend_cap_reached");
    aheadMs += 12 * 60 * 60 * 1000;
    await setLedgerClock(database, "2027-03-18T00:00:01Z");
    await alerts.close();
    expect(logged.map(({ window }) => window)).toEqual(["monthly"]);
  });

  it("report each threshold once, in the log and in a signed callback to the workspace's address", async () => {
    await node().setCaps("key", { dailyNano: 10n * cent });
    await spend(4);
    await waitBriefly();
    expect(logged).toEqual([]);
    await spend(1);
    await until(() => receiver.received.length === 1);
    const [first] = receiver.received;
    const secret = (
      await readSigningSecret({ database: node().database, secrets, clock }, node().workspaceId)
    ).secret;
    // The gateway signed with its own clock, which differs from the library's.
    const webhook = new Webhook(secret);
    const at = new Date(Number(first!.headers["webhook-timestamp"]) * 1000);
    expect(first!.headers["webhook-signature"]).toContain(
      webhook.sign(String(first!.headers["webhook-id"]), at, first!.body),
    );
    const [event] = events();
    const now = new Date(clock.now());
    const tomorrow = new Date(
      Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1),
    );
    expect(event).toEqual({
      id: expect.stringMatching(/^evt_/),
      type: "spend_cap.alert",
      created_at: expect.any(String),
      data: {
        workspace_id: node().workspaceId,
        workspace_name: "Default",
        layer: "key",
        id: node().keyId,
        name: "first key",
        window: "daily",
        threshold: 50,
        cap: "0.1",
        spent: "0.05",
        refused: false,
        resets_at: tomorrow.toISOString(),
      },
    });
    await spend(5);
    await until(() => receiver.received.length === 3);
    await waitBriefly();
    expect(
      events()
        .map(({ data }) => data.threshold)
        .sort((one, other) => one - other),
    ).toEqual([50, 80, 100]);
    expect(logged.map(({ threshold }) => threshold)).toEqual([50, 80, 100]);
    expect(new Set(events().map(({ id }) => id)).size).toBe(3);
  });

  it("report skipped thresholds too, and start again with a new period or another cap", async () => {
    await node().setCaps("key", { dailyNano: 2n * cent });
    await spend(2);
    await until(() => logged.length === 3);
    aheadMs += 24 * 60 * 60 * 1000;
    await setLedgerClock(node().database, new Date(clock.now()).toISOString());
    await setLedgerClock(node().database, new Date(clock.now()).toISOString());
    await spend(1);
    await until(() => logged.length === 4);
    expect(logged.at(-1)).toMatchObject({ window: "daily", threshold: 50 });
    await node().setCaps("key", { dailyNano: 3n * cent });
    await spend(1);
    await until(() => logged.length === 5);
    expect(logged.at(-1)).toMatchObject({ cap: "0.03", threshold: 50 });
    await waitBriefly();
    expect(logged).toHaveLength(5);
  });

  it("cover the caps of all layers and windows", async () => {
    const [{ total }] = (await node().database.query(
      "select total_nano as total from ledger_counters where scope = 'workspace'",
    )) as [{ total: bigint }];
    await node().setCaps("workspace", { totalNano: total + cent });
    await node().setCaps("member", { dailyNano: cent });
    await spend(1);
    await until(() => logged.length === 6);
    expect(logged.map(({ layer, window }) => `${layer} ${window}`).sort()).toEqual([
      ...Array.from({ length: 3 }, () => "member daily"),
      ...Array.from({ length: 3 }, () => "workspace total"),
    ]);
  });

  it("send a low balance to the same address, once for both nodes, and again after credit", async () => {
    const low = async (usd: string | null) =>
      changeWorkspace({ database: node().database, clock }, node().workspaceId, {
        lowBalanceNano: usd === null ? null : parseUsd(usd),
      });
    const lowBalanceEvents = () => events().filter(({ type }) => type === "balance.low");
    const left = await node().availableNano();
    await low(formatUsd(left - 2n * cent));
    await spend(1);
    await waitBriefly();
    expect(lowBalanceEvents()).toEqual([]);
    await spend(4);
    await until(() => lowBalanceEvents().length === 1);
    await waitBriefly();
    expect(lowBalanceEvents()).toMatchObject([
      {
        data: {
          workspace_id: node().workspaceId,
          workspace_name: "Default",
          low_balance_alert: formatUsd(left - 2n * cent),
        },
      },
    ]);
    await node().credit("0.05");
    await spend(1);
    await waitBriefly();
    await spend(4);
    await until(() => lowBalanceEvents().length === 2);
    await low(null);
  });

  it("are only log events without an address", async () => {
    await address(null);
    await node().setCaps("key", { dailyNano: 2n * cent });
    await spend(1);
    await until(() => logged.length === 1);
    await waitBriefly();
    expect(await node().database.query("select id from webhook_deliveries")).toEqual([]);
  });

  it("report nothing for a cap of 0", async () => {
    await node().setCaps("key", { dailyNano: 0n });
    const answer = await node().post("/v1/chat/completions", talk());
    expect(answer.status).toBe(402);
    await waitBriefly();
    expect(logged).toEqual([]);
  });

  it("are sent at the next start if the process ended before it checked", async () => {
    await spend(1);
    await waitBriefly();
    // The state after a process has charged and died: the counter stands, but no alert was sent.
    await node().database.query("update api_keys set cap_daily_nano = $1", [cent]);
    await waitBriefly();
    expect(logged).toEqual([]);
    const alerts = startSpendAlerts({
      database: node().database,
      clock,
      log,
      wakeDeliverer: () => undefined,
    });
    await until(() => logged.length === 3);
    await alerts.close();
  });
});
