/** The configuration file of a running process: reloaded if it is valid, reported if it is not. docs/configuration.md. */
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { tollgateHere } from "../support/command.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import { chat, keyOf, start, useDirectory, type KeptProcess } from "./support.ts";

const directory = useDirectory();
const file = join(directory, "tollgate.yaml");
const environment = {
  TOLLGATE_DATA_DIR: join(directory, "data"),
  TOLLGATE_CONFIG: file,
  TOLLGATE_LOG_LEVEL: "info",
  VENDOR_KEY: "sk-from-the-environment",
};

let upstream: Recorder;
let gateway: KeptProcess;
let key: string;

const model = (id: string): string => `
  - id: ${id}
    kind: text
    endpoints: [chat_completions]
    context_length: 100000
    max_output_tokens: 1000
    offers: [{ provider: up, protocol: chat, upstream_model: m, price: { input: "1", output: "1" } }]`;

const config = (...ids: string[]): string => `
providers:
  - { id: up, dialect: openai, base_url: "${upstream.url}/v1", api_key: \${VENDOR_KEY}, tier: official }
models:${ids.map(model).join("")}
limits: { body_mb: 1 }
`;

beforeAll(async () => {
  upstream = await startRecorder(
    json({
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [
        { index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" },
      ],
      usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
    }),
  );
  writeFileSync(file, config("acme/one"));
  gateway = await start(environment);
  key = keyOf(gateway);
  await tollgateHere(["credits", "add", "10"], environment);
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

it("a vendor's key comes from the environment variable that the file names", async () => {
  expect(await chat(gateway.url, key, "acme/one")).toBe("200 ok");
  expect(upstream.requests.at(-1)!.headers.authorization).toBe("Bearer sk-from-the-environment");
});

it("the sandbox is off with a configuration file and without TOLLGATE_SANDBOX", () => {
  expect(gateway.sandboxUrl).toBeUndefined();
});

it("a model that is added to the file can be called a moment later, without a restart", async () => {
  expect(await chat(gateway.url, key, "acme/two")).toBe("404 model_not_found");
  writeFileSync(file, config("acme/one", "acme/two"));
  await expect.poll(() => chat(gateway.url, key, "acme/two")).toBe("200 ok");
  expect(gateway.printed()).toContain("the configuration was reloaded");
});

it("a key that was copied with another word is reported when the file brings it, once", async () => {
  const wrong = 'its key begins with \\"Bearer\\"';
  writeFileSync(file, config("acme/one").replace("${VENDOR_KEY}", '"Bearer sk-1"'));
  await expect.poll(() => gateway.printed()).toContain(wrong);
  writeFileSync(file, config("acme/one", "acme/two").replace("${VENDOR_KEY}", '"Bearer sk-1"'));
  await expect.poll(() => chat(gateway.url, key, "acme/two")).toBe("200 ok");
  expect(gateway.printed().split(wrong)).toHaveLength(2);
});

it("a file that replaces the old one is reloaded too, as editors and mounted volumes do it", async () => {
  writeFileSync(`${file}.new`, config("acme/one", "acme/three"));
  renameSync(`${file}.new`, file);
  await expect.poll(() => chat(gateway.url, key, "acme/three")).toBe("200 ok");
  expect(await chat(gateway.url, key, "acme/two")).toBe("404 model_not_found");
});

it("a wrong file changes nothing and each mistake is logged; a later valid file is used", async () => {
  writeFileSync(
    file,
    config("acme/four").replace("official", "free").replace("protocol: chat", "protocol: telex"),
  );
  await expect.poll(() => gateway.printed()).toContain("the old one stays in force");
  const [line] = gateway
    .printed()
    .split("\n")
    .filter((one) => one.includes("stays in force"));
  const { mistakes } = JSON.parse(line!) as { mistakes: string };
  expect(mistakes).toMatch(/tollgate\.yaml:\d+:\d+ .*tier/);
  expect(mistakes).toMatch(/telex|protocol/);
  expect(await chat(gateway.url, key, "acme/one")).toBe("200 ok");
  expect(await chat(gateway.url, key, "acme/four")).toBe("404 model_not_found");
  writeFileSync(file, config("acme/four"));
  await expect.poll(() => chat(gateway.url, key, "acme/four")).toBe("200 ok");
});

it("changes that wait for the next start are named, as after SIGHUP", async () => {
  const settings = "server: { keep_alive_s: 620 }\nwebhooks: { timeout_s: 20 }\n";
  writeFileSync(file, config("acme/four") + settings);
  const names = `"restart":["server.keep_alive_s","webhooks"]`;
  await expect
    .poll(() => gateway.printed())
    .toContain(`${names},"msg":"changes that take effect at the next start, and not before"`);
  expect(gateway.printed()).toContain(`${names},"msg":"the configuration was reloaded"`);
  expect(gateway.printed()).toContain(`"restart":[],"msg":"the configuration was reloaded"`);
  writeFileSync(file, config("acme/four"));
});

it("a file that is missing for a moment changes nothing", async () => {
  renameSync(file, `${file}.away`);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await chat(gateway.url, key, "acme/four")).toBe("200 ok");
  renameSync(`${file}.away`, file);
});

it("limits.body_mb limits the size of a body", async () => {
  expect(await chat(gateway.url, key, "acme/four", "x".repeat(900_000))).toBe("200 ok");
  expect(await chat(gateway.url, key, "acme/four", "x".repeat(1_100_000))).toBe(
    "413 request_too_large",
  );
});
