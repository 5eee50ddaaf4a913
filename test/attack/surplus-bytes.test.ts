/**
 * A vendor that sends a second 200 answer after its answer. No other caller of that origin ever gets it, whole or streamed, text
 * or picture.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tollgateHere } from "../support/command.ts";
import { shortOrLong } from "../support/long.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { spawnGateway, type GatewayProcess } from "../support/process.ts";
import { measure, stallMsMax, type Figures } from "./support.ts";

/** Each origin is attacked once: after its first surplus bytes there is nothing more to gain. */
const origins = shortOrLong(4, 60);
const roundMs = shortOrLong(1_000, 1_500);
/** Milliseconds between the answer and the surplus bytes; `packet`: in the same packet. */
const delays = ["packet", "0", "1", "3", "10", "20"] as const;

const program = new URL("./surplus-vendor.ts", import.meta.url).pathname;

async function startVendor(): Promise<{ child: ChildProcess; ports: number[] }> {
  // The last origin is honest: it serves the other caller of `measure`.
  const child = spawn(process.execPath, [program, String(origins + 1)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ports: number[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    ports.push(Number(line));
    if (ports.length > origins) break;
  }
  return { child, ports };
}

const price = `price: { input: "1", output: "1" }`;
const imagePrice = `price: { input: "1", image_input: "1", output: "1", image_output: "1" }`;

function configuration(ports: readonly number[]): string {
  const providers = ports.map(
    (port, index) =>
      `  - { id: v${index}, dialect: openai-compatible, base_url: "http://127.0.0.1:${port}/v1", api_key: none, tier: official }`,
  );
  const text = (id: string, index: number) => `  - id: ${id}
    kind: text
    endpoints: [chat_completions]
    context_length: 100000
    max_output_tokens: 1000
    offers: [{ provider: v${index}, protocol: chat, upstream_model: up, ${price} }]`;
  const image = (id: string, index: number) => `  - id: ${id}
    kind: image
    family: image-a
    offers: [{ provider: v${index}, upstream_model: up, ${imagePrice} }]`;
  const models = ports
    .slice(0, -1)
    .flatMap((_, index) => [text(`acme/talk-${index}`, index), image(`acme/draw-${index}`, index)]);
  return `providers:\n${providers.join("\n")}\nmodels:\n${[...models, text("sandbox/chat", ports.length - 1)].join("\n")}\n`;
}

describe("a vendor that sends bytes after its answer", () => {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-attack-"));
  let gateway: GatewayProcess;
  let vendor: Awaited<ReturnType<typeof startVendor>>;
  let keys: { attacker: string; innocent: string };
  beforeAll(async () => {
    vendor = await startVendor();
    const file = join(directory, "tollgate.yaml");
    writeFileSync(file, configuration(vendor.ports));
    const environment = {
      TOLLGATE_DATA_DIR: directory,
      TOLLGATE_CONFIG: file,
      DATABASE_URL: await (await sharedPostgres()).createMigrated(),
      TOLLGATE_LOG_LEVEL: "error",
    };
    gateway = await spawnGateway(environment);
    await tollgateHere(["credits", "add", "1000"], environment);
    const made = await tollgateHere(
      ["keys", "create", "--name", "attacker", "--json"],
      environment,
    );
    keys = {
      attacker: (JSON.parse(made.stdout) as { key: string }).key,
      innocent: /gw_live_\w+/.exec(gateway.banner)![0],
    };
  });
  afterAll(async () => {
    await gateway?.kill();
    vendor?.child.kill("SIGKILL");
    rmSync(directory, { recursive: true, force: true });
  });

  let calls = 0;

  /** Makes one call in one of three forms; returns the answer and the expected one. */
  async function call(key: string, origin: number, surplus?: string) {
    calls += 1;
    const word = `w${calls}`;
    const prompt = `call:${word} ${surplus === undefined ? "" : `surplus:${surplus}`}`;
    const isPicture = calls % 3 === 0;
    const messages = [{ role: "user", content: prompt }];
    const body = isPicture
      ? { model: `acme/draw-${origin}`, prompt }
      : { model: `acme/talk-${origin}`, messages, stream: calls % 3 === 1 };
    const path = isPicture ? "images/generations" : "chat/completions";
    const response = await fetch(`${gateway.url}/v1/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, text: await response.text(), word };
  }

  /** The attacker and six innocent callers at one origin, for `roundMs`. */
  async function round(origin: number) {
    const untilMs = performance.now() + roundMs;
    const seen = { calls: 0, poisoned: 0, failed: 0, attacks: 0 };
    async function innocent(): Promise<void> {
      while (performance.now() < untilMs) {
        const { status, text, word } = await call(keys.innocent, origin);
        seen.calls += 1;
        if (status !== 200) seen.failed += 1;
        else if (!text.includes(`"${word}"`)) seen.poisoned += 1;
        await sleep(10);
      }
    }
    async function attacker(lane: number): Promise<void> {
      for (let turn = lane; performance.now() < untilMs; turn += 1) {
        await call(keys.attacker, origin, delays[turn % delays.length]);
        seen.attacks += 1;
        await sleep(10);
      }
    }
    await Promise.all([...Array.from({ length: 6 }, innocent), ...[0, 3].map(attacker)]);
    return seen;
  }

  it("never has them sent to another caller, whole or streamed; another caller waits less than 250 ms", async () => {
    const total = { calls: 0, poisoned: 0, failed: 0, attacks: 0 };
    const target = { url: gateway.url, pid: gateway.child.pid!, key: keys.innocent };
    const figures: Figures[] = [];
    for (const half of [0, 1]) {
      const attack = async (): Promise<void> => {
        for (let origin = half; origin < origins; origin += 2) {
          const seen = await round(origin);
          for (const name of Object.keys(total) as (keyof typeof total)[])
            total[name] += seen[name];
        }
      };
      figures.push(await measure(`surplus bytes, half ${half + 1}`, target, attack));
    }
    console.log(
      `attack: surplus bytes: ${total.attacks} attacks, ${total.calls} innocent calls, ` +
        `${total.poisoned} of them poisoned, ${total.failed} failed`,
    );
    expect(total.calls).toBeGreaterThan(origins * shortOrLong(10, 20));
    expect(total).toMatchObject({ poisoned: 0, failed: 0 });
    expect(figures).toMatchObject([{ failed: 0 }, { failed: 0 }]);
    // Another program on the machine may stall one half; a stall by the attack shows in both.
    expect(Math.min(...figures.map(({ stallMs }) => stallMs))).toBeLessThan(stallMsMax);
    expect(Math.max(...figures.map(({ memoryMax }) => memoryMax))).toBeLessThan(1.5e9);
  });
});
