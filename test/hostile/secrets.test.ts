/** No log line has a secret: a gateway that logs everything (debug), through every error that can be provoked. */
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { generateKey } from "../../src/tenancy/key-format.ts";
import { tollgateHere } from "../support/command.ts";
import { startTestGateway } from "../support/gateway.ts";
import { preparedDataDir } from "../support/postgres.ts";
import { spawnGateway, type GatewayProcess } from "../support/process.ts";
import { eventually } from "../support/patience.ts";
import { startRecorder, type Recorder } from "../support/recorder.ts";

const vendorSecret = "sk-vendor-3f9a1c77e0b24d5e";
const adminToken = "admin-token-8d1f6b2a9c";
const masterKey = Buffer.alloc(32, 7).toString("base64");

let directory: string;
let upstream: Recorder;
let gateway: GatewayProcess;
let environment: Record<string, string>;
let key: string;
let printed = "";

const config = (url: string): string => `
providers:
  - { id: rude, dialect: openai, base_url: "${url}/v1", api_key: \${VENDOR_KEY}, tier: official }
  - { id: gone, dialect: openai, base_url: "http://127.0.0.1:9/v1", api_key: \${VENDOR_KEY}, tier: official }
  - { id: xai, dialect: xai, base_url: "${url}/v1", api_key: \${VENDOR_KEY}, tier: official }
  - { id: google, dialect: google, base_url: "${url}/v1beta", api_key: \${VENDOR_KEY}, tier: official }
models:
${["rude", "gone", "google"]
  .map((id) => {
    const protocol = id === "google" ? "generate_content" : "chat";
    const endpoint = id === "google" ? "generate_content" : "chat_completions";
    return `  - id: acme/${id}
    kind: text
    endpoints: [${endpoint}]
    context_length: 100000
    max_output_tokens: 1000
    offers: [{ provider: ${id}, protocol: ${protocol}, upstream_model: up, price: { input: "1", output: "1" } }]`;
  })
  .join("\n")}
  - id: acme/vector
    kind: embedding
    context_length: 8192
    offers: [{ provider: rude, upstream_model: up, price: { input: "1" } }]
  - id: acme/draw
    kind: image
    family: image-a
    offers: [{ provider: rude, upstream_model: up, price: { input: "1", image_input: "1", output: "1", image_output: "1" } }]
  - id: acme/pictures
    kind: image
    family: task-image-1
    offers: [{ provider: xai, upstream_model: up, price: { output_image: { low: { 1K: "0.01", 2K: "0.02" }, medium: { 1K: "0.03", 2K: "0.04" } }, input_image: "0.001" } }]
`;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "tollgate-secrets-"));
  upstream = await startRecorder((_request, response) => void response.end());
  const file = join(directory, "tollgate.yaml");
  writeFileSync(file, config(upstream.url));
  environment = {
    TOLLGATE_DATA_DIR: await preparedDataDir(),
    TOLLGATE_CONFIG: file,
    TOLLGATE_LOG_LEVEL: "debug",
    TOLLGATE_ADMIN_TOKEN: adminToken,
    TOLLGATE_MASTER_KEY: masterKey,
    VENDOR_KEY: vendorSecret,
  };
  // The very first start shows a key once, on purpose; the test checks only later starts.
  const first = await startTestGateway({ environment });
  key = first.key;
  await first.close();
  gateway = await spawnGateway(environment);
  printed = gateway.banner;
  for (const stream of [gateway.child.stdout!, gateway.child.stderr!])
    stream.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  await tollgateHere(["credits", "add", "5"], environment);
});
afterAll(async () => {
  await gateway?.stop();
  await upstream.close();
  rmSync(directory, { recursive: true, force: true });
});

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}`, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

const chat = (model: string, more: object = {}, content = "Hi") =>
  post("/v1/chat/completions", { model, messages: [{ role: "user", content }], ...more });

/** Errors of an upstream; each answer quotes the credential that it got. */
const vendorErrors: ((request: { headers: object }) => [status: number, body: string])[] = [
  ({ headers }) => [
    401,
    JSON.stringify({
      error: { message: `bad key ${JSON.stringify(headers)}`, code: "invalid_api_key" },
    }),
  ],
  ({ headers }) => [500, JSON.stringify({ error: { message: JSON.stringify(headers) } })],
  ({ headers }) => [200, `<html>${JSON.stringify(headers)}</html>`],
  ({ headers }) => [429, JSON.stringify(headers)],
  ({ headers }) => [301, JSON.stringify(headers)],
  // If the vendor refuses the caller's request, the caller gets the vendor's words.
  ...[
    (secret: string) => secret,
    (secret: string) => `https://vendor.example/v1?key=${encodeURIComponent(secret)}`,
    (secret: string) => JSON.stringify({ inner: JSON.stringify({ key: secret }) }),
    (secret: string) => `${secret.slice(0, 12)}********${secret.slice(-4)}`,
    (secret: string) => `...${secret.slice(-10)}`,
  ].map((echo, index) => (): [number, string] => [
    index % 2 === 0 ? 400 : 404,
    JSON.stringify({
      error: { message: `No such File object: ${echo(vendorSecret)}`, param: echo(vendorSecret) },
    }),
  ]),
  () => [400, `{"error":{"message":"${escapedSecret}","code":400,"status":"INVALID_ARGUMENT"}}`],
  () => [200, JSON.stringify({ error: { message: `unknown key ${vendorSecret}` } })],
];

const escapedSecret = Array.from(
  vendorSecret,
  (one) => `\\u00${one.charCodeAt(0).toString(16)}`,
).join("");
/** Parts of the credential long enough to reveal it. */
const parts = [vendorSecret.slice(0, 12), vendorSecret.slice(-10), vendorSecret.slice(8, 20)];

it("no log line contains a key or an upstream credential, and no answer contains a credential", async () => {
  const answers: string[] = [];
  const keep = async (response: Response): Promise<void> =>
    void answers.push(`${response.status} ${await response.text()}`);

  // Each call names the error that it wants, so that no call waits for another.
  upstream.answer((request, response) => {
    const [status, body] = vendorErrors[Number(/No\. (\d+)/.exec(request.text)![1])]!(request);
    response.writeHead(status, { "content-type": "application/json", location: "/x" }).end(body);
  });
  const google = "/v1beta/models/acme/google";
  const asked = vendorErrors.flatMap((_rude, index) => {
    const text = `No. ${index}`;
    const contents = [{ parts: [{ text }] }];
    return [
      chat("acme/rude", {}, text),
      chat("acme/rude", { stream: true }, text),
      post(`${google}:generateContent?key=${key}`, { contents }),
      post(`${google}:countTokens`, { contents }),
      post("/v1/embeddings", { model: "acme/vector", input: text }),
      post("/v1/images/generations", { model: "acme/draw", prompt: text }),
      runTask({ model: "acme/pictures", prompt: text }, keep),
    ];
  });
  for (const answer of await Promise.all(asked)) await keep(answer);
  const log = await fetch(`${gateway.url}/admin/v1/requests?limit=100`, {
    headers: { authorization: `Bearer ${adminToken}` },
  });
  expect(log.status).toBe(200);
  await keep(log);
  upstream.answer((_request, response) => void response.destroy());
  await keep(await chat("acme/rude"));
  await keep(await chat("acme/gone"));
  upstream.answer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n');
    setTimeout(() => response.destroy(), 20);
  });
  await keep(await chat("acme/rude", { stream: true }));
  await keep(await chat("acme/unknown"));
  await keep(await chat("acme/rude", { max_tokens: 1e6, n: 128 }));
  await keep(await post("/v1/chat/completions", "not json"));
  await keep(await post("/v1/chat/completions", "{}", { "x-api-key": generateKey() }));
  await keep(await post(`/v1beta/nowhere?key=${key}`, {}));
  await keep(await post(`/v1beta/models/%zz:generateContent?key=${key}`, {}));
  await keep(await fetch(`${gateway.url}/v1/key`, { headers: { authorization: `Bearer ${key}` } }));
  await keep(await fetch(`${gateway.url}/metrics`));
  await tollgateHere(["keys", "disable", (await firstKeyId())!], environment);
  await keep(await chat("acme/rude"));
  appendFileSync(environment["TOLLGATE_CONFIG"]!, "\nproviders: broken\n");
  const isReported = () => printed.includes("the changed configuration is wrong");
  await eventually(isReported, "the report of the wrong configuration");
  await gateway.stop();

  expect(answers.length).toBeGreaterThan(80);
  expect(answers.join("\n")).toContain("No such File object: [credential]");
  const warned = printed.split("\n").flatMap((line) => {
    if (!line.includes("an attempt at a provider failed")) return [];
    return [JSON.parse(line) as Record<string, unknown>];
  });
  expect(warned.length).toBeGreaterThan(60);
  for (const line of warned)
    expect(line).toMatchObject({
      level: "warn",
      request_id: expect.stringMatching(/^(req|task|gen|vid|img)?_?\w+/),
      provider: expect.any(String),
      credential: "default",
      reason: expect.any(String),
    });
  const secrets = [key, vendorSecret, adminToken, masterKey, "one-time password"];
  expect(secrets.filter((secret) => printed.includes(secret))).toEqual([]);
  const answered = answers.join("\n");
  expect(
    [key, vendorSecret, adminToken, masterKey, ...parts].filter((one) => answered.includes(one)),
  ).toEqual([]);
  expect(parts.filter((one) => printed.includes(one))).toEqual([]);
});

/**
 * Runs a task from its submission to its end. On a busy machine the gateway may refuse one of many calls with 503, by design:
 * `overloaded`, or a database that does not answer in time. Such a call is retried, and its answer is checked like the others.
 */
async function runTask(body: object, keep: (answer: Response) => Promise<void>): Promise<Response> {
  const submitted = await eventually(async () => {
    const answer = await post("/v1/tasks", body, { prefer: "wait=60" });
    if (answer.status !== 503) return answer;
    const { error } = (await answer.clone().json()) as { error: { code: string } };
    expect(["overloaded", "database_unavailable"]).toContain(error.code);
    await keep(answer);
    return undefined;
  }, "a task that is taken");
  expect(submitted.status).toBe(200);
  return submitted;
}

async function firstKeyId(): Promise<string | undefined> {
  const { stdout } = await tollgateHere(["keys", "list", "--json"], environment);
  return (JSON.parse(stdout) as { id: string }[])[0]?.id;
}
