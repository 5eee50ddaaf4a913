/** Vertex AI, simulated: the official SDKs through the gateway to Gemini and Claude, and invalid credentials. */
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { shareOfRows } from "../support/long.ts";
import { startSandbox } from "../../sandbox/index.ts";
import { chat } from "../sdk/chat-sdk.ts";
import { generateContent } from "../sdk/generate-content-sdk.ts";
import { messages } from "../sdk/messages-sdk.ts";
import { scenarios } from "../sdk/scenarios.ts";
import { called, fileOf, useCloud } from "./support.ts";

const served = (id: string, protocol: string, ...providers: string[]) => ({
  id: `sandbox/${id}`,
  upstreamModel: "model-1",
  offers: providers.map((provider) => ({ provider, protocol, isDearer: provider === "spare" })),
});

const place = (url: string, location = "us-central1"): string =>
  `${url}/vertex/v1/projects/sandbox-project/locations/${location}`;

describe("Vertex AI with the machine's identity", () => {
  const cloud = useCloud(
    (url) =>
      fileOf(
        [
          `id: vertex, dialect: vertex, base_url: "${place(url)}"`,
          `id: elsewhere, dialect: vertex, base_url: "${place(url, "mars-west1")}"`,
          `id: spare, dialect: openai, base_url: ${url}/openai/v1, api_key: sandbox`,
        ],
        [
          served("chat", "chat", "vertex"),
          served("messages", "messages", "vertex"),
          served("generate-content", "generate_content", "vertex"),
          served("elsewhere", "chat", "elsewhere", "spare"),
        ],
      ),
    (url) => ({
      GCE_METADATA_HOST: new URL(url).host,
      METADATA_SERVER_DETECTION: "assume-present",
    }),
  );
  const asking = [chat, messages, generateContent];
  // In the short form every second scenario with one SDK, and the others with the next.
  describe.each(asking)("$model", (sdk) => {
    const place = asking.indexOf(sdk);
    it.each(shareOfRows(scenarios, place))("$title", (scenario) => scenario.run(cloud.world, sdk));
  });

  it("serves all calls with one token; after a revocation one call fails, and the next has a new token", async () => {
    const { google } = cloud.sandbox.tokens;
    await called(cloud, "sandbox/chat");
    const before = google.given;
    google.revoke();
    const refused = await called(cloud, "sandbox/chat");
    expect(refused).toMatchObject({
      status: 502,
      attempts: [{ status: 401, message: expect.stringContaining("invalid authentication") }],
    });
    expect((await called(cloud, "sandbox/chat")).status).toBe(200);
    expect((await called(cloud, "sandbox/messages")).status).toBe(200);
    expect(google.given - before).toBe(1);
  });

  it("T31: never gets the `store` field of Codex, which Gemini refuses there, and the drop is reported", async () => {
    const input = "Is it stored?";
    const body = { model: "sandbox/generate-content", input, store: false };
    const reply = await cloud.gateway.post("/v1/responses", body);
    const { gw } = (await reply.json()) as { gw?: object };
    expect([reply.status, gw]).toEqual([200, { droppedParams: ["store"] }]);
    const journal = `${cloud.sandbox.url}/__journal?contains=${encodeURIComponent(input)}`;
    const { data } = (await (await fetch(journal)).json()) as { data: { body: object }[] };
    expect(data.map(({ body: sent }) => Object.keys(sent))).toEqual([["contents"]]);
  });

  it("reports a wrong region in the vendor's words, and another provider answers", async () => {
    const { status, attempts } = await called(cloud, "sandbox/elsewhere");
    expect(status).toBe(200);
    expect(attempts).toMatchObject([
      { provider: "elsewhere", status: 404, message: expect.stringContaining("mars-west1") },
      { provider: "spare", status: 200 },
    ]);
  });
});

describe("Vertex AI with the key of a service account", () => {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-vertex-"));
  const file = join(directory, "key.json");
  afterAll(() => rmSync(directory, { recursive: true }));
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const foreign = JSON.stringify({
    type: "service_account",
    client_email: "somebody@else.iam.gserviceaccount.com",
    private_key_id: "k",
    private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
  });
  const cloud = useCloud(
    (url) =>
      fileOf(
        [
          `id: by-file, dialect: vertex, base_url: "${place(url)}", auth: { type: google, service_account_key: "${file}" }`,
          `id: by-text, dialect: vertex, base_url: "${place(url)}", auth: { type: google, service_account_key: \${ACCOUNT} }`,
          `id: foreign, dialect: vertex, base_url: "${place(url)}", auth: { type: google, service_account_key: \${FOREIGN} }`,
          `id: no-file, dialect: vertex, base_url: "${place(url)}", auth: { type: google, service_account_key: /nowhere/key.json }`,
          `id: spare, dialect: openai, base_url: ${url}/openai/v1, api_key: sandbox`,
        ],
        [
          served("by-file", "chat", "by-file"),
          served("by-text", "messages", "by-text"),
          served("foreign", "chat", "foreign", "spare"),
          served("no-file", "chat", "no-file", "spare"),
        ],
      ),
    async (url) => {
      const account = await (await fetch(`${url}/vertex/service-account.json`)).text();
      writeFileSync(file, account);
      return { ACCOUNT: account, FOREIGN: foreign };
    },
  );

  it.each(["by-file", "by-text"])("signs its own tokens with a key given %s", async (id) => {
    expect((await called(cloud, `sandbox/${id}`)).status).toBe(200);
    expect(cloud.sandbox.tokens.google.given).toBe(0);
  });

  it("fails over if the vendor does not know the key", async () => {
    const { status, attempts } = await called(cloud, "sandbox/foreign");
    expect(status).toBe(200);
    expect(attempts).toMatchObject([{ provider: "foreign", status: 401 }, { status: 200 }]);
  });

  it("fails over if the key's file is missing, and reports it", async () => {
    const { status, attempts } = await called(cloud, "sandbox/no-file");
    expect(status).toBe(200);
    expect(attempts[0]).toMatchObject({
      outcome: "unauthorized",
      message: expect.stringMatching(/no credential from Google Cloud: .*key\.json/),
    });
  });
});

it("the simulated vendor refuses a token of another key, and a body with a model", async () => {
  const sandbox = await startSandbox({ port: 0, host: "127.0.0.1" });
  const ask = (headers: Record<string, string>, body: object) =>
    fetch(`${place(sandbox.url)}/publishers/anthropic/models/m:rawPredict`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
  const hello = { max_tokens: 10, messages: [{ role: "user", content: "Hi" }] };
  const key = { "x-goog-api-key": "sandbox" };
  const version = { anthropic_version: "vertex-2023-10-16" };
  const answers = [
    await ask({ authorization: "Bearer a.b.c" }, { ...hello, ...version }),
    await ask(key, { ...hello, ...version, model: "m" }),
    await ask(key, hello),
    await ask(key, { ...hello, ...version }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([401, 400, 400, 200]);
  await sandbox.close();
});
