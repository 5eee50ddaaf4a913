// The memory of a gateway that is a process of its own: idle, with many open streams, and under mixed load, where it must not
// grow. Each stream gets a frame a second, whole and soon (STREAM-02), on the fast path and through Node's own HTTP.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { startUpstream, type Upstream } from "../../bench/upstream/index.ts";
import { tollgateHere } from "../support/command.ts";
import { shortOrLong } from "../support/long.ts";
import { memoryProbe, type MemoryProbe } from "../support/memory.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { spawnGateway, type GatewayProcess } from "../support/process.ts";
import { mixedLoad } from "./mixed-load.ts";
import { Readers, startTicking, type Ticking } from "./ticking.ts";

const idleMbMax = 180;
const streams = shortOrLong(200, 2_000);
const heldMs = shortOrLong(1_000, 60_000);
const streamKbMax = 40;
/** Delay beyond that of the same frames without a gateway. The short form runs beside other tests. */
const lateMsMax = shortOrLong(5_000, 50);
const soakMs = shortOrLong(1_500, 30 * 60_000);
/** Growth that the last two thirds of the load may leave. In the short form, some one-time allocations come late. */
const grownMbMax = shortOrLong(16, 5);

const compileCache = join(import.meta.dirname, "../../node_modules/.cache/node-compile");

let gateway: GatewayProcess;
let ticking: Ticking;
let vendor: Upstream;
let directory: string;
let environment: Record<string, string>;
let probe: MemoryProbe;

const configuration = (): string => `
providers:
  - { id: ticking, dialect: openai-compatible, base_url: "${ticking.url}/v1", api_key: none, tier: community }
  - { id: chat, dialect: openai-compatible, base_url: "${vendor.url}/v1", api_key: none, tier: community }
  - { id: messages, dialect: anthropic, base_url: "${vendor.url}/v1", api_key: none, tier: community }
models:
${["ticking", "chat", "messages"].map(model).join("")}`;

const model = (name: string): string => `  - id: acme/${name}
    kind: text
    context_length: 200000
    max_output_tokens: 32000
    offers:
      - { provider: ${name}, protocol: ${name === "messages" ? name : "chat"}, upstream_model: m,
          price: { input: "0.5", output: "2" } }
`;

beforeAll(async () => {
  ticking = await startTicking();
  vendor = await startUpstream({});
  directory = mkdtempSync(join(tmpdir(), "tollgate-memory-"));
  const config = join(directory, "tollgate.yaml");
  writeFileSync(config, configuration());
  probe = memoryProbe(directory);
  environment = {
    TOLLGATE_CONFIG: config,
    TOLLGATE_DATA_DIR: directory,
    DATABASE_URL: await (await sharedPostgres()).createMigrated(),
    // As for every start (scripts/setup.mjs): without the cache, the code that strips types stays in memory.
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? compileCache,
  };
  gateway = await spawnGateway({ ...environment, ...probe.environment });
});
afterAll(async () => {
  await gateway.kill();
  ticking.close();
  vendor.close();
  rmSync(directory, { recursive: true, force: true });
});

const keyOf = ({ banner }: GatewayProcess): string => /gw_live_\w+/.exec(banner)![0];

it(`the gateway idles below ${idleMbMax} MB`, async () => {
  const idles = async (): Promise<void> => {
    const { residentMb, usedMb } = await probe.read(gateway.child);
    console.log(`idle: ${residentMb.toFixed(0)} MB, ${usedMb.toFixed(0)} MB of it in use`);
    expect(residentMb).toBeLessThan(idleMbMax);
  };
  // The memory for the start is released after a while.
  await vi.waitFor(idles, { timeout: 20_000, interval: 1_000 });
  const credited = await tollgateHere(["credits", "add", "100000"], environment);
  expect(credited).toMatchObject({ code: 0 });
});

const body =
  '{"model":"acme/ticking","stream":true,"messages":[{"role":"user","content":"Hold."}]}';
const request = (key: string, header: string): string =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${key}\r\n` +
  `content-type: application/json\r\n${header}content-length: ${body.length}\r\n\r\n${body}`;

/** Opens streams, and waits until the upstream has all of them. */
async function hold(readers: Readers, count: number, header: string): Promise<void> {
  const begun = ticking.begun() + count;
  for (let index = 0; index < count; index += 1) {
    readers.open(gateway.url, request(keyOf(gateway), header));
    if (index % 20 === 19) await sleep(20);
  }
  const held = (): void => expect(ticking.begun()).toBe(begun);
  await vi.waitFor(held, { timeout: 60_000, interval: 50 });
}

async function release(...all: Readers[]): Promise<void> {
  ticking.end();
  for (const readers of all) await readers.ended();
}

it.each([
  ["on the fast path", ""],
  ["through Node's HTTP", "connection: close\r\n"],
])(`the gateway holds ${streams} streams %s`, async (_, header) => {
  // Warm up: memory of code that loads once belongs to no stream.
  const first = new Readers();
  await hold(first, 20, header);
  await release(first);
  const before = await probe.read(gateway.child);

  const [readers, direct] = [new Readers(), new Readers()];
  await hold(readers, streams, header);
  for (let index = 0; index < streams / 10; index += 1) direct.open(ticking.url, request("", ""));
  await sleep(heldMs);
  const lateMs = readers.late99Ms() - direct.late99Ms();
  const during = await probe.read(gateway.child);
  await release(readers, direct);

  const streamKb = ((during.usedMb - before.usedMb) * 1_000) / streams;
  const residentKb = ((during.residentMb - before.residentMb) * 1_000) / streams;
  console.log(
    `${streams} streams: ${streamKb.toFixed(1)} kB each (${residentKb.toFixed(1)} kB resident), ` +
      `99 % of frames at most ${lateMs.toFixed(1)} ms later than without a gateway`,
  );
  expect({ whole: readers.whole, broken: readers.broken }).toEqual({ whole: streams, broken: 0 });
  expect(streamKb).toBeLessThan(streamKbMax);
  expect(lateMs).toBeLessThan(lateMsMax);
});

it(`the gateway does not grow in ${soakMs / 1_000} seconds of mixed load`, async () => {
  const load = { url: gateway.url, key: keyOf(gateway) };
  const early = await mixedLoad(load, soakMs / 3);
  const before = await probe.read(gateway.child);
  const late = await mixedLoad(load, (soakMs / 3) * 2);
  const after = await probe.read(gateway.child);
  console.log(
    `${early.calls + late.calls} calls: ${before.usedMb.toFixed(1)} MB in use after a third, ` +
      `${after.usedMb.toFixed(1)} MB at the end (${after.residentMb.toFixed(0)} MB resident)`,
  );
  expect([early.surprises, late.surprises]).toEqual([[], []]);
  expect(late.calls).toBeGreaterThan(0);
  expect(after.usedMb - before.usedMb).toBeLessThan(grownMbMax);
});
