/**
 * SIGTERM under load. Calls in flight end and are charged, and requests on open connections are served. Late requests on them are
 * refused in their own protocol, and the process exits by itself with code 0. docs/operate.md.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/storage/index.ts";
import { tollgateHere } from "../support/command.ts";
import { preparedDataDir, silentLog } from "../support/postgres.ts";
import { spawnGateway, type GatewayProcess } from "../support/process.ts";
import { ledgerReaderOf, eventually, sleep } from "../money/support.ts";
import { drive, newLoad } from "./load.ts";

const costNano = 100n * 500n + 50n * 2_000n;
const script = (fields: object): string =>
  `#sandbox ${JSON.stringify({ reply: "a short answer", usage: { input: 100, output: 50 }, ...fields })}`;

/** Opens a connection with a half-sent request: it is not idle, so it stays open when the gateway begins to stop. */
async function halfARequest(gateway: GatewayProcess, path: string) {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  let text = "";
  socket.on("data", (bytes: Buffer) => (text += bytes.toString()));
  const ended = once(socket, "close");
  socket.write(`POST ${path} HTTP/1.1\r\nhost: gateway\r\ncontent-type: application/json\r\n`);
  return {
    async finish(key: string): Promise<string> {
      socket.write(`authorization: Bearer ${key}\r\ncontent-length: 2\r\n\r\n{}`);
      await ended;
      return text;
    },
  };
}

describe("SIGTERM under load", () => {
  let environment: Record<string, string>;
  let gateway: GatewayProcess;
  let key: string;

  beforeAll(async () => {
    const dataDir = await preparedDataDir();
    environment = {
      TOLLGATE_DATA_DIR: dataDir,
      TOLLGATE_SANDBOX: "on",
      TOLLGATE_LOG_LEVEL: "error",
      DATABASE_URL: "",
    };
    gateway = await spawnGateway(environment);
    key = /gw_live_\w+/.exec(gateway.banner)![0];
  });
  afterAll(() => gateway.kill());

  it("BILL-01: lets calls in flight end and be charged, refuses later requests, and exits with code 0", async () => {
    const paths = [
      "/v1/chat/completions",
      "/v1/messages",
      "/v1beta/models/sandbox/chat:generateContent",
    ];
    const half = () => Promise.all(paths.map((path) => halfARequest(gateway, path)));
    const soon = await half();
    const late = await half();
    const load = newLoad();
    const slow = newLoad();
    let over = false;
    const options = { url: gateway.url, key, model: "sandbox/chat", until: () => over };
    const driven = [
      drive({ ...options, perSecond: 100, text: script({ delay_ms: 100 }) }, load),
      drive({ ...options, perSecond: 10, text: script({ delay_ms: 1_500 }) }, slow),
    ];
    await sleep(500);
    const busy = () => (load.whole.size > 60 && slow.whole.size > 0 ? true : undefined);
    await eventually(busy, "a gateway at work");
    const started = performance.now();
    const code = gateway.stop();
    // Callers go on until the gateway no longer listens.
    await eventually(() => (load.cut > 0 ? true : undefined), "a closed listener");
    over = true;
    const served = await Promise.all(soon.map((one) => one.finish(key)));
    for (const text of served) {
      expect(text).toMatch(/^HTTP\/1\.1 400 /);
      expect(text).toMatch(/^connection: close\r$/im);
    }
    await sleep(3_500);
    const refusals = await Promise.all(late.map((one) => one.finish(key)));
    for (const text of refusals) {
      expect(text).toMatch(/^HTTP\/1\.1 503 /);
      expect(text).toMatch(/retry-after: \d/i);
    }
    expect(refusals[0]).toContain('"code":"shutting_down"');
    expect(refusals[1]).toContain('"type":"overloaded_error"');
    expect(refusals[2]).toContain('"status":"UNAVAILABLE"');
    await Promise.all(driven);
    expect(await code).toBe(0);
    // The slowest call takes 1.5 s; connections that clients keep open do not delay the exit.
    expect(performance.now() - started).toBeLessThan(60_000);
    await expect(fetch(`${gateway.url}/healthz`)).rejects.toThrow("fetch failed");

    const whole = [...load.whole, ...slow.whole].toSorted();
    expect(whole.length).toBeGreaterThan(50);
    expect(slow.whole.size).toBeGreaterThan(0);
    expect(load.cut + load.refused.size).toBeGreaterThan(0);
    for (const one of [...load.refused.keys(), ...slow.refused.keys()])
      expect(one).toBe("503 shutting_down");
    const database = await openDatabase({
      url: environment["DATABASE_URL"],
      dataDir: environment["TOLLGATE_DATA_DIR"],
      log: silentLog,
    });
    const books = ledgerReaderOf(database);
    await books.expectClean();
    const charges = await books.charges();
    const logged = await books.rowIds();
    const brokenOff = await database.query(
      "select reference, kind from ledger_entries where kind in ('void', 'expire')",
    );
    await database.close();
    expect(charges.filter((row) => row.amount_nano !== costNano)).toEqual([]);
    // Every call that had begun has ended: none was cut off.
    expect(brokenOff).toEqual([]);
    expect(charges.map((row) => row.reference).toSorted()).toEqual(whole);
    // The process writes out the request log before it ends.
    expect(whole.filter((id) => !logged.has(id))).toEqual([]);
    expect(await tollgateHere(["verify"], environment)).toMatchObject({ code: 0 });
  });
});
