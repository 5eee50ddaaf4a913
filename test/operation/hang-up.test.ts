/** SIGHUP with one process: it reloads what can change, reports what cannot, and ends when the terminal closes. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tollgateHere } from "../support/command.ts";
import { preparedDataDir } from "../support/postgres.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import { isAlive } from "../workers/support.ts";
import { chat, keyOf, start, useDirectory, type KeptProcess } from "./support.ts";
import { main } from "../support/program.ts";

const directory = useDirectory();
const at = (name: string): string => join(directory, name);
const environment = {
  TOLLGATE_DATA_DIR: at("data"),
  TOLLGATE_CONFIG: at("tollgate.yaml"),
  TOLLGATE_LOG_LEVEL: "info",
  HOUSE_KEY_FILE: at("house-key"),
  OPENAI_API_KEY_FILE: at("openai-key"),
  TOLLGATE_METRICS_TOKEN_FILE: at("metrics-token"),
};

let upstream: Recorder;
let gateway: KeptProcess;
let key: string;

const config = (rest = ""): string => `
providers:
  - { id: up, dialect: openai, base_url: "${upstream.url}/v1", api_key: \${HOUSE_KEY} }
models:
  - id: acme/one
    kind: text
    endpoints: [chat_completions]
    context_length: 100000
    max_output_tokens: 1000
    offers: [{ provider: up, protocol: chat, upstream_model: m, price: { input: "1", output: "1" } }]
${rest}`;

const message = { role: "assistant", content: "Hello" };
const answer = json({
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message, finish_reason: "stop" }],
  usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
});

beforeAll(async () => {
  upstream = await startRecorder(answer);
  writeFileSync(environment.TOLLGATE_CONFIG, config());
  writeFileSync(environment.HOUSE_KEY_FILE, "sk-one\n");
  writeFileSync(environment.OPENAI_API_KEY_FILE, "sk-openai-one");
  writeFileSync(environment.TOLLGATE_METRICS_TOKEN_FILE, "metrics-one");
  await preparedDataDir(environment.TOLLGATE_DATA_DIR);
  gateway = await start({ ...environment, OPENAI_BASE_URL: upstream.url });
  key = keyOf(gateway);
  await tollgateHere(["credits", "add", "10"], environment);
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

interface Line {
  readonly msg: string;
  readonly reason?: string;
  readonly secrets?: readonly string[];
  readonly restart?: readonly string[];
}

/** The lines about reloads that the gateway has written so far. */
const lines = (): Line[] =>
  gateway
    .printed()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Line)
    .filter(({ msg }) => /read again|nothing was reloaded/.test(msg));

/** Sends SIGHUP, and waits for the log lines. */
async function hangUp(): Promise<Line[]> {
  const before = lines().length;
  gateway.child.kill("SIGHUP");
  await expect.poll(() => lines().length).toBeGreaterThan(before);
  return lines().slice(before);
}

/** `nginx` opens its logs again at this signal, so rotation scripts send it. */
it("SIGUSR1 opens no debugger, through which other users of the machine could run code in the gateway", async () => {
  gateway.child.kill("SIGUSR1");
  // Handled one after the other.
  await hangUp();
  expect(await chat(gateway.url, key, "acme/one")).toBe("200 ok");
  expect(gateway.printed()).not.toContain("Debugger");
});

it("SIGUSR2, at which other servers start a new program, does not end the gateway", async () => {
  gateway.child.kill("SIGUSR2");
  await hangUp();
  expect(await chat(gateway.url, key, "acme/one")).toBe("200 ok");
});

describe("SIGHUP to one process", () => {
  it("reloads the keys of providers from their files, for the configuration and for the environment", async () => {
    expect(await chat(gateway.url, key, "acme/one")).toBe("200 ok");
    expect(upstream.requests.at(-1)!.headers.authorization).toBe("Bearer sk-one");
    writeFileSync(environment.HOUSE_KEY_FILE, "sk-two\n");
    writeFileSync(environment.OPENAI_API_KEY_FILE, "sk-openai-two");
    const [line] = await hangUp();
    expect(line).toMatchObject({
      msg: "the configuration was read again",
      secrets: ["HOUSE_KEY", "OPENAI_API_KEY"],
      restart: [],
    });
    expect(await chat(gateway.url, key, "acme/one")).toBe("200 ok");
    expect(upstream.requests.at(-1)!.headers.authorization).toBe("Bearer sk-two");
    await chat(gateway.url, key, "openai/gpt-4o-mini");
    expect(upstream.requests.at(-1)!.headers.authorization).toBe("Bearer sk-openai-two");
    expect(gateway.printed()).not.toMatch(/sk-(?:two|openai)/);
  });

  it("names the settings that wait for a restart", async () => {
    writeFileSync(environment.TOLLGATE_METRICS_TOKEN_FILE, "metrics-two");
    const settings = "limits: { body_mb: 1 }\nserver: { keep_alive_s: 620 }\n";
    writeFileSync(environment.TOLLGATE_CONFIG, config(settings));
    const restart = ["limits", "server.keep_alive_s", "TOLLGATE_METRICS_TOKEN"];
    expect((await hangUp())[0]).toMatchObject({ secrets: [], restart });
    const logLine = `"restart":${JSON.stringify(restart)},"msg":"changes that take effect at the next start`;
    await expect.poll(() => gateway.printed()).toContain(logLine);
    // Repeated as long as a restart is pending: each reload reports it.
    expect((await hangUp())[0]).toMatchObject({ secrets: [], restart });
    const statusWith = (token: string) =>
      fetch(`${gateway.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    expect((await statusWith("metrics-one")).status).toBe(200);
    expect((await statusWith("metrics-two")).status).toBe(401);
  });

  it("changes nothing if a file is wrong or a secret is gone, and names it; a later valid file is used", async () => {
    writeFileSync(environment.HOUSE_KEY_FILE, "sk-three");
    writeFileSync(environment.TOLLGATE_CONFIG, config("limits: { body_mb: many }\n"));
    expect((await hangUp())[0]).toMatchObject({
      msg: "nothing was reloaded",
      reason: expect.stringMatching(/tollgate\.yaml:\d+:\d+ .*body_mb/s),
    });
    writeFileSync(environment.TOLLGATE_CONFIG, config());
    rmSync(environment.OPENAI_API_KEY_FILE);
    expect((await hangUp())[0]).toMatchObject({
      msg: "nothing was reloaded",
      reason: `OPENAI_API_KEY_FILE: ${at("openai-key")} does not exist`,
    });
    rmSync(environment.TOLLGATE_CONFIG);
    writeFileSync(environment.OPENAI_API_KEY_FILE, "sk-openai-two");
    expect((await hangUp())[0]).toMatchObject({
      reason: expect.stringContaining("no configuration file"),
    });
    expect(await chat(gateway.url, key, "acme/one")).toBe("200 ok");
    expect(upstream.requests.at(-1)!.headers.authorization).toBe("Bearer sk-two");
    writeFileSync(environment.TOLLGATE_CONFIG, config());
    expect((await hangUp())[0]).toMatchObject({ secrets: ["HOUSE_KEY"] });
    expect(await chat(gateway.url, key, "acme/one")).toBe("200 ok");
    expect(upstream.requests.at(-1)!.headers.authorization).toBe("Bearer sk-three");
  });
});

const signalsCaught = (pid: number): bigint => {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return BigInt(`0x${/SigCgt:\s*(\w+)/.exec(status)![1]}`);
};

it.skipIf(process.platform !== "linux")("a SIGHUP during the start waits for its end", async () => {
  const dataDir = await preparedDataDir();
  const child = spawn(process.execPath, [main, "serve"], {
    env: { ...process.env, PORT: "0", TOLLGATE_DATA_DIR: dataDir, TOLLGATE_LOG_LEVEL: "info" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (bytes: Buffer) => (printed += bytes.toString()));
  await expect.poll(() => signalsCaught(child.pid!) & 1n, { interval: 1 }).toBe(1n);
  expect(printed).toBe("");
  child.kill("SIGHUP");
  await expect.poll(() => printed).toMatch(/^curl .*/m);
  await expect.poll(() => printed).toContain("the configuration was read again");
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

let left: string | undefined;
const hasScript = spawnSync("script", ["--version"]).status === 0;

it.skipIf(!hasScript || process.platform !== "linux")(
  "a gateway ends when its terminal is closed",
  async () => {
    const dataDir = await preparedDataDir();
    const pidFile = at("pid");
    const command = `echo $$ > ${pidFile}; exec ${process.execPath} ${main} serve`;
    const terminal = spawn("script", ["-qfec", command, "/dev/null"], {
      env: { ...process.env, PORT: "0", TOLLGATE_DATA_DIR: dataDir },
      stdio: ["ignore", "pipe", "ignore"],
    });
    let printed = "";
    terminal.stdout.on("data", (bytes: Buffer) => (printed += bytes.toString()));
    await expect.poll(() => printed).toMatch(/ready at/);
    const pid = Number(readFileSync(pidFile, "utf8"));
    process.kill(pid, "SIGHUP");
    expect(isAlive(pid)).toBe(true);
    terminal.kill("SIGKILL");
    await expect.poll(() => isAlive(pid)).toBe(false);
    // An orderly end removes the file; this one was not orderly.
    expect(existsSync(join(dataDir, "address.json"))).toBe(false);
    // Nothing is left that would hinder the next start: the test below uses the same directory.
    left = dataDir;
  },
);

it.skipIf(!hasScript || process.platform !== "linux")(
  "a gateway started by nohup outlives its terminal, in the directory that the one before left",
  async () => {
    const dataDir = left ?? (await preparedDataDir());
    const [pidFile, output] = [at("nohup-pid"), at("nohup-output")];
    // npm and scripts run between nohup and the gateway, so only the gateway's output shows nohup.
    const command = `echo $$ > ${pidFile}; exec ${process.execPath} ${main} serve < /dev/null > ${output} 2>&1`;
    const terminal = spawn("script", ["-qfec", command, "/dev/null"], {
      env: {
        ...process.env,
        PORT: "0",
        TOLLGATE_DATA_DIR: dataDir,
        TOLLGATE_LOG_LEVEL: "info",
      },
      stdio: "ignore",
    });
    const printed = (): string => (existsSync(output) ? readFileSync(output, "utf8") : "");
    await expect.poll(printed).toMatch(/ready at/);
    const pid = Number(readFileSync(pidFile, "utf8"));
    terminal.kill("SIGKILL");
    await expect.poll(printed).toContain("the configuration was read again");
    expect(isAlive(pid)).toBe(true);
    expect(existsSync(join(dataDir, "address.json"))).toBe(true);
    process.kill(pid, "SIGTERM");
    await expect.poll(() => isAlive(pid)).toBe(false);
  },
);
