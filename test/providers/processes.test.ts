/** Providers and gateway processes: the command line with and without a gateway, a backup and its master key, a stopped gateway. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminToken, call } from "../admin/support.ts";
import { tollgateHere } from "../support/command.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { eventually } from "../support/patience.ts";
import { sharedPostgres, temporaryDirectory } from "../support/postgres.ts";
import { spawnGateway } from "../support/process.ts";
import { startRecorder, type Recorder } from "../support/recorder.ts";
import { answering, allowPrivate, must, providerBody } from "./support.ts";
import { main } from "../support/program.ts";

const directory = temporaryDirectory();
const key = "sk-of-the-command-line-0123456789";
let upstream: Recorder;
let environment: Record<string, string>;
/** Runs in this process, and so does the restored one. Only a suspended gateway must be another process. */
let gateway: GatewayUnderTest;

/** Runs a command with the key on its standard input. */
async function withKey(args: readonly string[], stdin = key) {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...process.env, ...environment },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stdin.end(`${stdin}\n`);
  const [code] = (await once(child, "exit")) as [number];
  return { code, output };
}

const run = async (words: string) => {
  const { code, stdout, stderr } = await tollgateHere(words.split(" "), environment);
  return { code, text: stdout + stderr };
};

beforeAll(async () => {
  upstream = await startRecorder(answering);
  environment = {
    ...allowPrivate,
    TOLLGATE_DATA_DIR: join(directory, "data"),
    TOLLGATE_ADMIN_TOKEN: adminToken,
    TOLLGATE_MASTER_KEY: randomBytes(32).toString("base64"),
    TOLLGATE_SANDBOX: "off",
    TOLLGATE_LOG_LEVEL: "error",
    DATABASE_URL: await (await sharedPostgres()).createMigrated(),
  };
  gateway = await startTestGateway({ environment });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
  rmSync(directory, { recursive: true, force: true });
});

describe("tollgate providers", () => {
  it("adds a vendor by name with the key on standard input, tests, changes and removes it", async () => {
    const at = ["--base-url", upstream.url];
    const added = await withKey(["providers", "add", "mistral", "--key-stdin", "--test", ...at]);
    expect(added.output).toMatch(
      /^mistral was added\nmistral answers \(mistral\/\S+, \d+ ms, status 200\)\n$/,
    );
    expect(added.code).toBe(0);
    const again = await withKey(["providers", "add", "mistral", "--key-stdin"]);
    expect(again).toMatchObject({ code: 1 });
    expect(again.output).toContain('The provider "mistral" already exists.');
    const list = await run("providers list");
    expect(list.text).toMatch(
      /^PROVIDER +SOURCE +STATE +MODELS +CREDENTIALS +ADDRESS\nmistral +api +ready +\d+ +default +http/,
    );
    const models = await run("models mistral-large --provider mistral");
    expect(models.text).toMatch(/\nmistral\/mistral-large-latest +mistral +text +[\d.]+ \/ [\d.]+/);
    const more = await withKey([
      "providers",
      "credentials",
      "add",
      "mistral",
      "team-b",
      "--weight",
      "2",
    ]);
    expect(more.output).toBe("mistral has the credential team-b\n");
    expect((await run("providers credentials remove mistral team-b")).text).toBe(
      "mistral no longer has the credential team-b\n",
    );
    const paused = await run("providers pause mistral --json");
    expect(JSON.parse(paused.text).paused_until).toMatch(/^2/);
    expect((await run("providers list")).text).toContain("paused until 2");
    expect((await run("providers resume mistral")).text).toBe("mistral gets calls again\n");
    upstream.answer(
      (_request, response) => void response.writeHead(401).end('{"error":{"message":"bad key"}}'),
    );
    const refused = await run("providers test mistral");
    expect(refused.code).toBe(1);
    expect(refused.text).toMatch(/^mistral does not answer \(.*status 401\)\nbad key\n$/);
    upstream.answer(answering);
    expect(await run("providers remove mistral")).toEqual({
      code: 0,
      text: "mistral was removed\n",
    });
    for (const { output } of [added, again, more]) expect(output).not.toContain(key);
    expect((await withKey(["providers", "add", "x", "--key-stdin"], "two words")).code).not.toBe(0);
  });

  it("copies a provider with its models from a configuration file", async () => {
    const file = join(directory, "acme.yaml");
    writeFileSync(
      file,
      `providers:
  - { id: acme, dialect: openai-compatible, base_url: "${upstream.url}/v1", api_key: \${ACME_KEY} }
models:
  - id: acme/one
    kind: text
    context_length: 1000
    max_output_tokens: 100
    offers:
      - { provider: acme, protocol: chat, upstream_model: one, price: { input: "1", output: "2" } }
      - { provider: other, protocol: chat, upstream_model: one, price: { input: "1", output: "2" } }
`,
    );
    environment["ACME_KEY"] = key;
    const added = await run(`providers add acme --from ${file} --test --json`);
    expect(JSON.parse(added.text)).toMatchObject({
      id: "acme",
      models: ["acme/one"],
      test: { ok: true },
    });
    expect(upstream.requests.at(-1)!.headers.authorization).toBe(`Bearer ${key}`);
    expect(added.text).not.toContain(key);
    const nobody = await run(`providers add nobody --from ${file}`);
    expect(nobody.text).toContain("there is no provider");
    delete environment["ACME_KEY"];
    expect((await run(`providers add acme --from ${file}`)).text).toContain("ACME_KEY");
  });
});

describe("a backup with added providers", () => {
  it("cannot be restored with another master key, and is complete with its own", async () => {
    const file = join(directory, "all.backup");
    expect((await run(`backup ${file}`)).code).toBe(0);
    const databaseUrl = await (await sharedPostgres()).createDatabase();
    const restore = (masterKey: string) =>
      tollgateHere(["restore", file], {
        ...environment,
        DATABASE_URL: databaseUrl,
        TOLLGATE_DATA_DIR: join(directory, "restored"),
        TOLLGATE_MASTER_KEY: masterKey,
      });
    const refused = await restore(randomBytes(32).toString("base64"));
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toMatch(/master key is not the one .* no provider's key be read/);
    expect((await restore(environment["TOLLGATE_MASTER_KEY"]!)).code).toBe(0);
    const second = await startTestGateway({
      environment: {
        ...environment,
        DATABASE_URL: databaseUrl,
        TOLLGATE_DATA_DIR: join(directory, "restored"),
      },
    });
    try {
      const trial = must(
        await call(second.url, "POST", "/providers/acme/test", { token: adminToken, body: {} }),
      );
      expect(trial.ok).toBe(true);
      expect(upstream.requests.at(-1)!.headers.authorization).toBe(`Bearer ${key}`);
    } finally {
      await second.close();
    }
  });
});

describe("a gateway that was suspended (SIGSTOP) while providers changed", () => {
  it("delays the changes by at most 20 seconds, and has them soon after it resumes", async () => {
    const other = await spawnGateway({
      ...environment,
      TOLLGATE_DATA_DIR: join(directory, "other"),
    });
    const ask = (node: { readonly url: string }, method: string, path: string, body?: unknown) =>
      call(node.url, method, path, { token: adminToken, ...(body !== undefined && { body }) });
    try {
      other.child.kill("SIGSTOP");
      const started = performance.now();
      must(await ask(gateway, "POST", "/providers", providerBody("missed", upstream.url)));
      must(await ask(gateway, "DELETE", "/providers/acme"));
      expect(performance.now() - started).toBeLessThan(20_000);
      other.child.kill("SIGCONT");
      await eventually(async () => {
        const { data } = must(await ask(other, "GET", "/providers"));
        const ids = (data as { id: string }[]).map(({ id }) => id);
        return ids.includes("missed") && !ids.includes("acme");
      }, "both changes on the gateway that was stopped");
      expect(must(await ask(other, "POST", "/providers/missed/test", {})).ok).toBe(true);
    } finally {
      other.child.kill("SIGCONT");
      await other.stop();
    }
  });
});
