/**
 * Gateways on one database (two; three in full), restarted one after the other behind a balancer under load: no call fails. Once
 * with a balancer that checks /readyz and never resends a call, and once with nginx as installed, which notices only refused
 * connections. docs/operate.md "Restarting behind a balancer".
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifyLedger } from "../../src/verification/index.ts";
import { openDatabase } from "../../src/storage/index.ts";
import { startBalancer, type Balancer } from "../support/balancer.ts";
import { shortOrLong, isLong } from "../support/long.ts";
import { exampleOf, freePort, hasNginx, startNginx } from "../support/nginx.ts";
import { sharedPostgres, silentLog, temporaryDirectory } from "../support/postgres.ts";
import { spawnGateway, type GatewayProcess } from "../support/process.ts";
import { eventually } from "../money/support.ts";
import { drive, newLoad, type Load } from "./load.ts";

const script = { reply: "a short answer", delay_ms: 60, usage: { input: 10, output: 5 } };
const text = `#sandbox ${JSON.stringify(script)}`;
const gatewayCount = shortOrLong(2, 3);
const perSecond = shortOrLong(60, 200);
/** If each call takes 60 ms, a dozen are open at a time. */
const openMax = 100;
const rounds = shortOrLong(1, 4);

const onCut = (reason: string): void => console.log(`rolling: a call was cut: ${reason}`);

/** The number of calls that one gateway has served since it started. */
async function served(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const counts = metrics.matchAll(/^tollgate_calls_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** nginx with its defaults. */
async function nginx(urls: readonly string[]): Promise<Balancer> {
  const port = await freePort();
  const servers = urls.map((url) => `server ${new URL(url).host};`).join(" ");
  return startNginx(
    `upstream gateways { ${servers} }
     server { listen 127.0.0.1:${port}; location / { proxy_pass http://gateways; } }`,
    port,
  );
}

/** nginx as in deploy/compose. */
async function exampleNginx(urls: readonly string[]): Promise<Balancer> {
  const port = await freePort();
  const [first, ...others] = urls.map((url) => new URL(url).host);
  const example = exampleOf("compose/nginx.conf", {
    "gateway-1:8080": first!,
    "gateway-2:8080": others.join("; server "),
    "listen 80;": `listen 127.0.0.1:${port};`,
  });
  return startNginx(example, port);
}

/** Milliseconds until the first and the last piece of a slow stream arrived. */
async function streamTimes({ url, key }: { url: string; key: string }) {
  const slowly = { reply: "one two three four five six", chunk_chars: 5, chunk_delay_ms: 400 };
  const started = performance.now();
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({
      model: "sandbox/chat",
      stream: true,
      messages: [{ role: "user", content: `#sandbox ${JSON.stringify(slowly)}` }],
    }),
  });
  const times: number[] = [];
  for await (const _ of response.body!) times.push(performance.now() - started);
  return { status: response.status, first: times[0]!, last: times.at(-1)! };
}

/**
 * Only in full: nginx does not resend a POST. A connection that the system accepted between our last check and the end of the
 * listener is reset. On a machine whose processors many tests share, that moment is long.
 */
if (isLong && !hasNginx) console.log("rolling: nginx is not installed here, its tests are skipped");
const noNginx = !isLong || !hasNginx;

describe.each([
  { name: "a balancer that asks /readyz", start: startBalancer, drain: "1", skipped: false },
  { name: "nginx with its defaults", start: nginx, drain: "0", skipped: noNginx },
  { name: "nginx as in deploy/", start: exampleNginx, drain: "0", skipped: noNginx },
])("gateways behind $name", ({ start, drain, skipped }) => {
  const gateways: GatewayProcess[] = [];
  let balancer: Balancer;
  let environments: Record<string, string>[];
  let key: string;
  /** Calls of earlier tests. */
  let answered = 0;

  beforeAll(async () => {
    if (skipped) return;
    const shared = {
      DATABASE_URL: await (await sharedPostgres()).createMigrated(),
      TOLLGATE_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
      TOLLGATE_SANDBOX: "on",
      TOLLGATE_LOG_LEVEL: "error",
      TOLLGATE_DRAIN_SECONDS: drain,
    };
    environments = [];
    for (let at = 0; at < gatewayCount; at += 1)
      environments.push({
        ...shared,
        TOLLGATE_DATA_DIR: temporaryDirectory(),
        PORT: String(await freePort()),
      });
    for (const environment of environments) gateways.push(await spawnGateway(environment));
    key = gateways.map(({ banner }) => /gw_live_\w+/.exec(banner)?.[0]).find((one) => one)!;
    balancer = await start(gateways.map(({ url }) => url));
  });
  afterAll(async () => {
    if (skipped) return;
    await balancer.close();
    for (const gateway of gateways) await gateway.kill();
  });

  it.skipIf(skipped || start !== exampleNginx)("pass a stream on as it comes", async () => {
    answered += 1;
    const { status, first, last } = await streamTimes({ url: balancer.url, key });
    expect(status).toBe(200);
    expect(last - first).toBeGreaterThan(1_500);
  });

  it.skipIf(skipped)("are restarted one after another and 0 calls fail", async () => {
    const load = newLoad();
    let over = false;
    const driven = drive(
      {
        url: balancer.url,
        key,
        model: "sandbox/chat",
        perSecond,
        openMax,
        text,
        until: () => over,
        onCut,
      },
      load,
    );
    const busy = (at: number) =>
      eventually(
        async () => ((await served(gateways[at]!.url)) > 20 ? true : undefined),
        `gateway ${at} at work`,
        60_000,
      );
    const allBusy = () => Promise.all(gateways.map((_, at) => busy(at)));
    let restarts = 0;
    for (let round = 0; round < rounds; round += 1) {
      for (let at = 0; at < gatewayCount; at += 1) {
        await allBusy();
        expect(await gateways[at]!.stop()).toBe(0);
        gateways[at] = await spawnGateway(environments[at]!);
        restarts += 1;
      }
    }
    await allBusy();
    over = true;
    await driven;
    answered += load.whole.size;
    console.log(
      `rolling: ${restarts} restarts, ${load.begun} calls, ${load.cut} cut, refused ${JSON.stringify([...load.refused])}`,
    );
    expect(load.whole.size).toBeGreaterThan(100);
    expect({ cut: load.cut, refused: [...load.refused], whole: load.whole.size }).toEqual({
      cut: 0,
      refused: [],
      whole: load.begun,
    });
  });

  it.skipIf(skipped || !isLong)(
    "lose only the calls of one that is killed, and each answer is charged once",
    async () => {
      const load = newLoad();
      let over = false;
      const until = () => over;
      const driven = drive(
        { url: balancer.url, key, model: "sandbox/chat", perSecond, openMax, text, until, onCut },
        load,
      );
      const whole = (more: number): Promise<true> => {
        const least = load.whole.size + more;
        return eventually(() => (load.whole.size >= least ? true : undefined), "calls", 60_000);
      };
      await whole(500);
      const refusedBefore = [...load.refused];
      await gateways[0]!.kill();
      await whole(1_000);
      over = true;
      await driven;
      const failed = load.cut + [...load.refused.values()].reduce((sum, n) => sum + n, 0);
      console.log(
        `rolling: one killed: ${load.begun} calls, ${failed} failed, ${JSON.stringify([...load.refused])}`,
      );
      expect(refusedBefore).toEqual([]);
      expect(load.whole.size + failed).toBe(load.begun);
      // A call takes 60 ms, and a third of the calls in flight are on the killed gateway.
      expect(failed).toBeLessThan(perSecond / 4);
      await holdsAreOver(environments[0]!["DATABASE_URL"]!, load, failed + answered);
    },
  );
});

/** Waits until no reservation is left. Every whole answer was charged once; at most `others` more calls were charged. */
async function holdsAreOver(url: string, load: Load, others: number): Promise<void> {
  const database = await openDatabase({ url, log: silentLog });
  try {
    const held = "select coalesce(sum(held_nano), 0)::text as held from ledger_accounts";
    await eventually(
      async () =>
        (await database.query<{ held: string }>(held))[0]?.held === "0" ? true : undefined,
      "nothing held",
      180_000,
    );
    const charges = await database.query<{ id: string; n: number }>(
      "select reference as id, count(*)::int as n from ledger_entries where kind = 'charge' group by 1",
    );
    expect(charges.filter(({ n }) => n !== 1)).toEqual([]);
    const charged = new Set(charges.map(({ id }) => id));
    expect([...load.whole].filter((id) => !charged.has(id))).toEqual([]);
    expect(charges.length).toBeLessThanOrEqual(load.whole.size + others);
    expect(await verifyLedger(database)).toEqual([]);
  } finally {
    await database.close();
  }
}
