/**
 * Two gateways on one database, both under load. A change that takes a key's right or money applies on both as soon as it is
 * answered: no later call succeeds. In the short form each change is made on one of them in turn, in the long form 100 times on
 * both (TOLLGATE_TEST_ROUNDS sets the number).
 */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { verifyLedger } from "../../src/verification/index.ts";
import { openDatabase } from "../../src/storage/index.ts";
import { startFarDatabase, type FarDatabase } from "../ledger/far-database.ts";
import { shortOrLong } from "../support/long.ts";
import { sharedPostgres, temporaryDirectory } from "../support/postgres.ts";
import { spawnGateway, type GatewayProcess } from "../support/process.ts";
import { adminToken, call } from "./support.ts";

const rounds = Number(process.env["TOLLGATE_TEST_ROUNDS"] ?? shortOrLong(1, 100));
const callersPerGateway = shortOrLong(2, 16);
/** Calls that each gateway must refuse before a change is undone. */
const refusalsMin = 8;
const chat = { model: "sandbox/chat", messages: [{ role: "user", content: "hi" }], max_tokens: 5 };

/** Results of the callers of one gateway. */
interface CallerCounts {
  refused: number;
  granted: number;
}

describe("two gateways under load", () => {
  let far: FarDatabase;
  let databaseUrl: string;
  let gateways: GatewayProcess[];
  let workspaceId: string;
  let keyId: string;
  let secret: string;
  /** The time of the change's answer: calls that begin later must be refused. */
  let answeredMs = Infinity;
  let counts: CallerCounts[];
  const stop = new AbortController();
  let callers: Promise<void>[] = [];
  const lateSuccesses: string[] = [];

  /** Calls one after another on the `place`th gateway. Calls that begin after a change's answer count while the change stands. */
  async function keepCalling(place: number): Promise<void> {
    while (!stop.signal.aborted) {
      const [startedMs, sinceMs] = [performance.now(), answeredMs];
      const response = await fetch(`${gateways[place]!.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
        body: JSON.stringify(chat),
      });
      const text = await response.text();
      // A call that was still open when the change was undone may have either result.
      if (sinceMs !== answeredMs) continue;
      const isForbidden = startedMs >= sinceMs;
      if (response.status !== 200) counts[place]!.refused += 1;
      else if (isForbidden) lateSuccesses.push(`${(startedMs - sinceMs).toFixed(1)} ms: ${text}`);
      else counts[place]!.granted += 1;
    }
  }

  async function admin(place: number, method: string, path: string, body?: object) {
    const answer = await call(gateways[place]!.url, method, path, { token: adminToken, body });
    if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
    return answer.json;
  }

  const newKey = (place: number): Promise<{ id: string; key: string }> =>
    admin(place, "POST", "/keys", { workspace_id: workspaceId, name: "under load" });

  beforeAll(async () => {
    databaseUrl = await (await sharedPostgres()).createMigrated();
    far = await startFarDatabase({ url: databaseUrl, delayMs: 5 });
    const masterKey = randomBytes(32).toString("base64");
    const start = () =>
      spawnGateway({
        DATABASE_URL: far.url,
        TOLLGATE_DATA_DIR: temporaryDirectory(),
        TOLLGATE_ADMIN_TOKEN: adminToken,
        TOLLGATE_MASTER_KEY: masterKey,
        TOLLGATE_SANDBOX: "on",
        TOLLGATE_LOG_LEVEL: "silent",
      });
    gateways = [await start(), await start()];
    workspaceId = (await admin(0, "GET", "/workspaces")).data[0].id;
    await admin(0, "POST", `/workspaces/${workspaceId}/credits`, { amount: "1000" });
    ({ id: keyId, key: secret } = await newKey(0));
    counts = gateways.map(() => ({ refused: 0, granted: 0 }));
    callers = gateways.flatMap((_, place) =>
      Array.from({ length: callersPerGateway }, () => keepCalling(place)),
    );
  });
  afterAll(async () => {
    stop.abort();
    await Promise.all(callers);
    for (const gateway of gateways) await gateway.kill();
    far.close();
  });

  const everywhere = (count: (one: CallerCounts) => number, min: number) =>
    expect.poll(() => Math.min(...counts.map(count)), { interval: 5 }).toBeGreaterThanOrEqual(min);

  const key = (place: number, action: string) => admin(place, "POST", `/keys/${keyId}/${action}`);
  const capOf = (place: number, layer: string, total: string | null) =>
    admin(place, "PATCH", layer, { spend_caps: { total } });
  const credit = (place: number, amount: string) =>
    admin(place, "POST", `/workspaces/${workspaceId}/credits`, { amount });

  /** Each makes a change on one gateway, and returns a function that undoes it. */
  const changes: Record<string, (place: number) => Promise<() => Promise<unknown>>> = {
    async disable(place) {
      await key(place, "disable");
      return () => key(place, "enable");
    },
    async revoke(place) {
      await key(place, "revoke");
      return async () => ({ id: keyId, key: secret } = await newKey(place));
    },
    async rotate(place) {
      const rotated = await key(place, "rotate");
      return async () => (secret = rotated.key);
    },
    async expire(place) {
      await admin(place, "PATCH", `/keys/${keyId}`, { expires_at: new Date().toISOString() });
      return () => admin(place, "PATCH", `/keys/${keyId}`, { expires_at: null });
    },
    async "cap of the key to 0"(place) {
      await capOf(place, `/keys/${keyId}`, "0");
      return () => capOf(place, `/keys/${keyId}`, null);
    },
    async "cap of the workspace to 0"(place) {
      await capOf(place, `/workspaces/${workspaceId}`, "0");
      return () => capOf(place, `/workspaces/${workspaceId}`, null);
    },
    async "credit line to 0"(place) {
      const { credits } = await admin(place, "GET", `/workspaces/${workspaceId}/balance`);
      const line = (credit_line: string) =>
        admin(place, "PATCH", `/workspaces/${workspaceId}`, { credit_line });
      await line("1000");
      await credit(place, `-${credits}`);
      await line("0");
      return () => credit(place, credits);
    },
    async "credit to 0"(place) {
      const { credits } = await admin(place, "GET", `/workspaces/${workspaceId}/balance`);
      await credit(place, `-${credits}`);
      return () => credit(place, credits);
    },
  };

  it.each(Object.keys(changes).map((name, index) => [name, index] as const))(
    "KEY-13 T70 T73: %s: no call that begins after the answer succeeds, on either gateway",
    { timeout: shortOrLong(300_000, 1_800_000) },
    async (name, index) => {
      for (let round = 0; round < rounds; round += 1) {
        for (const one of counts) one.granted = 0;
        await everywhere(({ granted }) => granted, 2);
        const takeBack = await changes[name]!((index + round) % 2);
        for (const one of counts) one.refused = 0;
        answeredMs = performance.now();
        await everywhere(({ refused }) => refused, refusalsMin);
        expect(lateSuccesses).toEqual([]);
        answeredMs = Infinity;
        await takeBack();
      }
    },
  );

  it("BILL-04 T63: the charges of all calls add up", async () => {
    stop.abort();
    await Promise.all(callers);
    const database = await openDatabase({ url: databaseUrl, log: silentLog });
    try {
      const held = () =>
        database.query("select 1 as held from ledger_accounts where held_nano <> 0");
      await expect.poll(held).toEqual([]);
      expect(await verifyLedger(database)).toEqual([]);
    } finally {
      await database.close();
    }
  });
});
