/**
 * Two workers do the work of two cores. Compares the processor time of a call with two workers and with one, including all
 * processes of the gateway. So a machine without spare cores for the load suffices. In full only.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isLong } from "../support/long.ts";
import { sharedPostgres, temporaryDirectory } from "../support/postgres.ts";
import { startWorkers, workedMs, workersOf } from "./support.ts";
import { main } from "../support/program.ts";

const rounds = 3;
const callsARound = 6_000;
const connections = 128;

/** The simulated vendors in a process of their own, so that their time does not count for the gateway. */
async function startVendors(): Promise<{ url: string; stop: () => void }> {
  const child = spawn(process.execPath, [main, "sandbox", "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { url: /http:\S+/.exec(line)![0], stop: () => void child.kill() };
}

async function drive(url: string, key: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const body = JSON.stringify({ model: "acme/talk", messages: [{ role: "user", content: "Hi" }] });
  const headers = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    authorization: `Bearer ${key}`,
  };
  const options = { method: "POST", agent, headers };
  let left = callsARound;
  const call = () =>
    new Promise<void>((resolve, reject) => {
      const sent = request(`${url}/v1/chat/completions`, options, (answer) => {
        answer.resume();
        if (answer.statusCode !== 200) reject(new Error(`${answer.statusCode}`));
        answer.on("end", resolve);
      });
      sent.on("error", reject);
      sent.end(body);
    });
  const client = async () => {
    while ((left -= 1) >= 0) await call();
  };
  await Promise.all(Array.from({ length: connections }, client));
  agent.destroy();
}

it.skipIf(!isLong || process.platform !== "linux")(
  "two workers on two cores have at least 1.7 times the throughput of one, by processor time per call",
  async () => {
    const vendors = await startVendors();
    const directory = temporaryDirectory();
    const config = join(directory, "tollgate.yaml");
    writeFileSync(
      config,
      `providers: [{id: acme, dialect: openai, base_url: "${vendors.url}/openai/v1", api_key: sandbox}]
models:
  - {id: acme/talk, kind: text, context_length: 100000, max_output_tokens: 1000, offers:
      [{provider: acme, protocol: chat, upstream_model: talk, price: {input: "0.01", output: "0.01"}}]}
`,
    );
    const start = async (workers: string) =>
      startWorkers({
        DATABASE_URL: await (await sharedPostgres()).createMigrated(),
        TOLLGATE_DATA_DIR: temporaryDirectory(),
        TOLLGATE_CONFIG: config,
        TOLLGATE_SANDBOX: "off",
        TOLLGATE_WORKERS: workers,
        TOLLGATE_LOG_LEVEL: "error",
      });
    const gateways = { one: await start("1"), two: await start("2") };
    const times: Record<keyof typeof gateways, number[]> = { one: [], two: [] };
    const names = ["one", "two"] as const;
    for (const name of names) await drive(gateways[name].url, gateways[name].key);
    for (let round = 0; round < rounds; round += 1)
      for (const name of names) {
        const { url, key, child } = gateways[name];
        const pids = [child.pid!, ...workersOf(child.pid!)];
        const processorMs = () => pids.reduce((sum, pid) => sum + workedMs(pid), 0);
        const before = processorMs();
        await drive(url, key);
        times[name].push((processorMs() - before) / callsARound);
      }
    const median = (list: number[]) => list.toSorted((a, b) => a - b)[list.length >> 1]!;
    const [one, two] = [median(times.one), median(times.two)];
    console.log(
      `workers: ${one.toFixed(3)} ms of processor time a call with one, ${two.toFixed(3)} with two: ` +
        `${((2 * one) / two).toFixed(2)} times the throughput of one on two cores of their own`,
    );
    for (const name of names) expect(await gateways[name].stop()).toBe(0);
    vendors.stop();
    expect((2 * one) / two).toBeGreaterThan(1.7);
  },
);
