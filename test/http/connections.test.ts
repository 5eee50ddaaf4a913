/** How many connections the gateway accepts, and how long a client may leave an answer unread, on both front ends. */
import { networkInterfaces } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { silentLog, type Log } from "../../src/base/log.ts";
import { planDescriptors } from "../../src/cli/descriptors.ts";
import { createPools, openExchange } from "../../src/upstream/index.ts";
import { Slots } from "../../src/base/slots.ts";
import { closeAll, openRaw, type RawClient, type RawRequest } from "../attack/raw-clients.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { startRecorder } from "../support/recorder.ts";

let gateway: GatewayUnderTest | undefined;
const clients: RawClient[] = [];
afterEach(async () => {
  closeAll(clients.splice(0));
  await gateway?.close();
  gateway = undefined;
});

type Options = Parameters<typeof startTestGateway>[0];

async function start(connections: string, options: Options = {}): Promise<GatewayUnderTest> {
  gateway = await startTestGateway({
    config: `limits: { connections: { ${connections} } }\n`,
    sandbox: "on",
    ...options,
  });
  await gateway.credit("10");
  return gateway;
}

function ask(request: RawRequest, reads = true): RawClient {
  const client = openRaw(gateway!.url, request, { reads });
  clients.push(client);
  return client;
}

const answered = (client: RawClient) => expect.poll(() => client.status());

describe("a connection without a request", () => {
  it.each(["/healthz", "/v1/chat/completions"])(
    "stays open for server.keep_alive_s after its last answer, which announces that time: %s",
    async (path) => {
      gateway = await startTestGateway({
        config: "server: { keep_alive_s: 1 }\n",
        receive: { headersMs: 30_000, requestMs: 30_000, checkMs: 50 },
      });
      const client = ask({ path, ...(path !== "/healthz" && { body: "{}" }) });
      await answered(client).toBeGreaterThan(0);
      const answeredMs = performance.now();
      expect(client.text()).toMatch(/\r\nKeep-Alive: timeout=1\r\n/i);
      await expect.poll(() => client.closed()).toBe(true);
      // Node waits another second, because clients may still be sending.
      expect(performance.now() - answeredMs).toBeGreaterThan(950);
    },
  );
});

describe("a connection beyond the limit", () => {
  it("gets 503 in the shape of its path, with Retry-After, and is closed", async () => {
    await start("total: 2");
    const first = ask({ path: "/healthz" });
    await answered(first).toBe(200);
    await answered(ask({ path: "/healthz" })).toBe(200);
    const refused = ask({ path: "/v1/messages", body: "{}" });
    await answered(refused).toBe(503);
    await expect.poll(() => refused.closed()).toBe(true);
    expect(refused.text()).toMatch(/\r\nretry-after: [1-9]\d*\r\n/i);
    expect(refused.text()).toMatch(/\r\nconnection: close\r\n/i);
    expect(JSON.parse(refused.text().split("\r\n\r\n")[1]!)).toMatchObject({
      type: "error",
      error: { type: "overloaded_error" },
    });
    // Open connections still work, and a closed one frees its slot.
    first.socket.write("GET /readyz HTTP/1.1\r\nhost: gateway\r\n\r\n");
    await expect.poll(() => first.text()).toContain('"status":"ready"');
    first.socket.destroy();
    await expect
      .poll(async () => {
        const next = ask({ path: "/healthz" });
        await answered(next).toBeDefined();
        return next.status();
      })
      .toBe(200);
  });

  it("is closed even if it sends nothing", async () => {
    await start("total: 1");
    await answered(ask({ path: "/healthz" })).toBe(200);
    const silent = ask({ path: "" });
    silent.socket.write("");
    await expect.poll(() => silent.closed()).toBe(true);
  });

  const own = Object.values(networkInterfaces())
    .flat()
    .find((one) => one !== undefined && one.family === "IPv4" && !one.internal)?.address;

  it.skipIf(own === undefined)("is counted per address, except for a trusted proxy", async () => {
    const said: object[] = [];
    const log: Log = { ...silentLog, warn: (fields: object) => void said.push(fields) };
    await start("total: 20, per_address: 2", { environment: { HOST: own! }, log });
    for (const status of [200, 200, 503]) await answered(ask({ path: "/healthz" })).toBe(status);
    // The operator is told which limit it was.
    const fix = expect.stringMatching(/per_address.*TOLLGATE_TRUSTED_PROXIES/);
    await expect
      .poll(() => said)
      .toContainEqual(expect.objectContaining({ refused: 1, refused_per_address: 1, fix }));
    closeAll(clients.splice(0));
    await gateway!.close();
    await start("total: 20, per_address: 2", {
      environment: { HOST: own!, TOLLGATE_TRUSTED_PROXIES: own! },
    });
    for (const status of [200, 200, 200]) await answered(ask({ path: "/healthz" })).toBe(status);
  });

  it("is counted only in the total on loopback", async () => {
    await start("total: 20, per_address: 1");
    for (const status of [200, 200, 200]) await answered(ask({ path: "/healthz" })).toBe(status);
  });
});

describe.each([
  ["the fast path", true],
  ["Node's HTTP", false],
] as const)("an unread answer on %s", (_name, fastPath) => {
  const long = (extra: object): RawRequest => {
    const script = { flood: 12_000_000, usage: { input: 1, output: 1 } };
    const content = `Hi\n#sandbox ${JSON.stringify(script)}`;
    return {
      path: "/v1/chat/completions",
      headers: { authorization: `Bearer ${gateway!.key}` },
      body: JSON.stringify({
        model: "sandbox/chat",
        messages: [{ role: "user", content }],
        ...extra,
      }),
    };
  };
  /** The amounts of all charges. */
  const charges = async (): Promise<bigint[]> => {
    const rows = await gateway!.database.query<{ amount_nano: bigint }>(
      "select amount_nano from ledger_entries where kind = 'charge'",
    );
    return rows.map((row) => row.amount_nano);
  };

  it.each([
    ["whole", {}],
    ["streamed", { stream: true }],
  ])("is cut off after unread_s without progress: %s", async (_form, extra) => {
    let late = 0;
    const warn = (fields: { readonly late?: number }): void => void (late += fields.late ?? 0);
    const log = { ...silentLog, warn } as Log;
    await start("unread_s: 0.6", { fastPath, log });
    const stuck = ask(long(extra), false);
    // A whole answer is charged before it is sent; a stream when its client is gone, for the part that arrived.
    await expect.poll(charges).toHaveLength(1);
    expect((await charges())[0]).toBeGreaterThan(0n);
    await expect.poll(() => late).toBe(1);
    // The client can still read the kernel's buffers; then the answer breaks off.
    stuck.socket.resume();
    await expect.poll(() => stuck.closed()).toBe(true);
    expect(stuck.socket.bytesRead).toBeLessThan(12_000_000);
    expect(stuck.socket.bytesRead).toBeGreaterThan(0);
  });

  it("goes on as long as the client reads some of it", async () => {
    await start("unread_s: 1.2", { fastPath });
    const slow = ask(long({}), false);
    const started = performance.now();
    const { socket } = slow;
    let read = 0;
    socket.on("data", (bytes: Buffer) => {
      read += bytes.length;
      socket.pause();
      // Reading in small steps spreads the bytes over about two seconds.
      setTimeout(() => socket.resume(), 10);
    });
    await expect.poll(() => read).toBeGreaterThan(12_000_000);
    expect(performance.now() - started).toBeGreaterThan(1_200);
    expect(slow.closed()).toBe(false);
  });
});

describe("the budget of open files", () => {
  it.each([
    { limit: 400, sandbox: true },
    { limit: 400, sandbox: false },
    { limit: 1_024, sandbox: false },
    { limit: 20_000, sandbox: true },
    { limit: undefined, sandbox: false },
  ])("is split for %o, with a reserve for other files", (input) => {
    const plan = planDescriptors({ ...input, asked: {} });
    const used = plan.total + plan.refused + plan.outgoing;
    const reserve = 64 + 24;
    expect(used + reserve).toBeLessThanOrEqual(input.limit ?? 100_000);
    expect(plan.total).toBeGreaterThan(20);
    // Each call may open the connections that it needs.
    expect(plan.outgoing).toBeGreaterThanOrEqual(plan.total * (input.sandbox ? 2 : 1));
    expect(plan.perAddress).toBeLessThan(plan.total);
  });

  it("can be lowered by the configuration, but not raised", () => {
    const plan = (total: number) =>
      planDescriptors({ limit: 400, sandbox: false, asked: { total } }).total;
    expect(plan(10)).toBe(10);
    expect(plan(10_000)).toBe(plan(20_000));
  });

  it("refuses a provider connection at once if none is left, and idle connections make room", async () => {
    const slots = new Slots(1);
    const pools = createPools({ slots, quietMs: 0 });
    let hold = true;
    const recorder = await startRecorder((_request, response) => {
      if (!hold) response.end("{}");
    });
    const other = await startRecorder((_request, response) => void response.end("{}"));
    const post = (origin: string) =>
      openExchange(pools.get(origin, 20_000), {
        path: "/",
        headers: {},
        body: "{}",
        firstByteMs: 30_000,
        idleMs: 30_000,
        totalMs: 30_000,
      });
    const open = post(recorder.url);
    open.answer.catch(() => undefined);
    await expect(post(other.url).answer).rejects.toMatchObject({ failure: "shortage" });
    open.abort();
    hold = false;
    for (const { url } of [recorder, other, recorder]) {
      const exchange = await post(url).answer;
      await exchange.readAll(1_000);
      expect(slots.taken).toBe(1);
      await sleep(1);
    }
    await pools.close();
    expect(slots.taken).toBe(0);
    await recorder.close();
    await other.close();
  });
});
