/** The process as its supervisor sees it: variables, addresses, a clean stop, a kill, and restarts. */
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { preparedDataDir } from "../support/postgres.ts";
import { spawnGateway } from "../support/process.ts";
import { chat, keyOf, start, useDirectory, type KeptProcess } from "./support.ts";

const directory = useDirectory();
const dataDir = join(directory, "data");
let key = "";
beforeAll(() => preparedDataDir(dataDir));

async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return String(typeof address === "object" ? address?.port : 0);
}

/** Each test starts on the same data directory after the one before has ended: by one signal, by two, or killed. */
describe("starts on one data directory, one after another", () => {
  it("HOST, PORT and TOLLGATE_DATA_DIR are used, and a second signal stops the gateway at once", async () => {
    const port = await freePort();
    const gateway = await start({ HOST: "0.0.0.0", PORT: port, TOLLGATE_DATA_DIR: dataDir });
    key = keyOf(gateway);
    // The wildcard address cannot be opened, so the banner shows one that can.
    expect(gateway.url).toBe(`http://127.0.0.1:${port}`);
    expect(await chat(`http://127.0.0.1:${port}`, key, "sandbox/chat")).toBe("200 ok");
    expect(existsSync(join(dataDir, "gateway.json"))).toBe(true);
    const before = (await journal(gateway.sandboxUrl!)).length;
    const slow = chat(gateway.url, key, "sandbox/chat", '#sandbox {"delay_ms": 120000}').catch(
      () => "cut",
    );
    await expect.poll(async () => (await journal(gateway.sandboxUrl!)).length).toBe(before + 1);
    gateway.child.kill("SIGTERM");
    const started = performance.now();
    // A sooner signal counts as the same one, passed on by npm (npm-start.test.ts).
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(await gateway.stop()).toBe(1);
    expect(performance.now() - started).toBeLessThan(60_000);
    expect(await slow).toBe("cut");
  });

  it("an empty variable counts as absent, and a clean stop releases the data directory", async () => {
    const empty = Object.fromEntries(
      [
        "HOST",
        "DATABASE_URL",
        "TOLLGATE_CONFIG",
        "TOLLGATE_MASTER_KEY",
        "TOLLGATE_ADMIN_TOKEN",
        "TOLLGATE_PUBLIC_URL",
        "TOLLGATE_SANDBOX",
        "TOLLGATE_LOG_LEVEL",
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
      ].map((name) => [name, ""]),
    );
    const gateway = await start({ ...empty, TOLLGATE_DATA_DIR: dataDir });
    expect(gateway.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(gateway.sandboxUrl).toBeDefined();
    expect(await chat(gateway.url, key, "sandbox/chat")).toBe("200 ok");
    await expect(spawnGateway({ TOLLGATE_DATA_DIR: dataDir })).rejects.toThrow(
      /is in use by process/,
    );
    expect(await gateway.stop()).toBe(0);
    expect(existsSync(join(dataDir, "gateway.json"))).toBe(false);
  });

  describe("a gateway at an IPv6 address, without the sandbox", () => {
    let gateway: KeptProcess;
    beforeAll(async () => {
      gateway = await start({ HOST: "::1", TOLLGATE_SANDBOX: "off", TOLLGATE_DATA_DIR: dataDir });
    });
    // A killed process releases the directory too: the next one starts on it.
    afterAll(() => gateway.kill());

    it("prints the address as it is typed", async () => {
      expect(gateway.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
      expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
    });

    it("has no simulated vendor with TOLLGATE_SANDBOX=off, and its models are unknown", async () => {
      expect(gateway.sandboxUrl).toBeUndefined();
      expect(await chat(gateway.url, key, "sandbox/chat")).toBe("404 model_not_found");
    });
  });

  it("a vendor's key in the environment is enough for its models after a kill, and the sandbox stays off", async () => {
    const gateway = await start({
      ANTHROPIC_API_KEY: "sk-ant-test",
      OPENAI_API_KEY: "sk-test",
      TOLLGATE_DATA_DIR: dataDir,
    });
    expect(gateway.sandboxUrl).toBeUndefined();
    const { data } = (await (await fetch(`${gateway.url}/v1/models`)).json()) as {
      data: { id: string; providers: { id: string }[] }[];
    };
    const providers = new Set(data.flatMap((model) => model.providers.map(({ id }) => id)));
    expect([...providers].sort()).toEqual(["anthropic", "openai"]);
    expect(gateway.banner).toMatch(/Models\s+\w+\//);
    // The key of the first start is known, so the killed process's writes are there.
    expect(await chat(gateway.url, key, "acme/none")).toBe("404 model_not_found");
    expect(await gateway.stop()).toBe(0);
  });
});

async function journal(url: string): Promise<unknown[]> {
  const { data } = (await (await fetch(`${url}/__journal`)).json()) as { data: unknown[] };
  return data;
}
