/**
 * The OpenAI SDK in a real browser, in a page of another origin than the gateway's: preflights, whole answers, streams and
 * errors. Skipped if no Chromium is installed; test/http/cors.test.ts covers the same over HTTP.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, normalize } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { temporaryDirectory } from "../support/postgres.ts";

const chromium = ["chromium", "chromium-browser", "google-chrome"].find(
  (name) => spawnSync(name, ["--version"]).status === 0,
);
if (chromium === undefined) console.log("browser: no Chromium here, its test is skipped");

const sdk = new URL("../../node_modules/openai/", import.meta.url).pathname;

/** The page's program; it reports what it could read. */
const program = `
  import OpenAI from "openai";
  const { url, key } = await (await fetch("/target")).json();
  const options = { baseURL: url + "/v1", dangerouslyAllowBrowser: true, maxRetries: 0 };
  const client = new OpenAI({ ...options, apiKey: key });
  const stranger = new OpenAI({ ...options, apiKey: "gw_live_wrong" });
  const body = { model: "sandbox/chat", messages: [{ role: "user", content: '#sandbox {"reply":"from far away"}' }] };
  const told = {};
  try {
    const { data, response } = await client.chat.completions.create(body).withResponse();
    told.whole = data.choices[0].message.content;
    told.requestId = response.headers.get("x-request-id");
    told.stream = "";
    for await (const chunk of await client.chat.completions.create({ ...body, stream: true }))
      told.stream += chunk.choices[0]?.delta.content ?? "";
    told.models = (await client.models.list()).data.length;
    await stranger.chat.completions.create(body).catch((error) => (told.stranger = [error.status, error.code]));
  } catch (error) {
    told.failed = String(error);
  }
  await fetch("/report", { method: "POST", body: JSON.stringify(told) });
`;
const html = `<!doctype html><meta charset="utf-8">
  <script type="importmap">{"imports": {"openai": "/openai/index.mjs", "#x509-transport-state": "/openai/internal/auth/x509-transport-state.mjs"}}</script>
  <script type="module">${program}</script>`;

type PageReport = Readonly<Record<string, unknown>>;

/** Serves the page, and resolves with its report. */
async function openPage(target: {
  url: string;
  key: string;
}): Promise<{ origin: string; told: Promise<PageReport>; close(): void }> {
  let report: (pageReport: PageReport) => void;
  const pageReport = new Promise<PageReport>((resolve) => (report = resolve));
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url ?? "/", "http://page").pathname);
    const file = path.startsWith("/openai/") ? join(sdk, path.slice("/openai/".length)) : "";
    if (path === "/report") {
      let text = "";
      request.on("data", (bytes: Buffer) => (text += bytes.toString()));
      request.on("end", () => report(JSON.parse(text) as PageReport));
      response.end();
    } else if (path === "/target") response.end(JSON.stringify(target));
    else if (path === "/") response.setHeader("content-type", "text/html").end(html);
    else if (existsSync(file))
      response.setHeader("content-type", "text/javascript").end(readFileSync(file));
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    told: pageReport,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Loads a page in a browser until its report arrives. */
async function browse(url: string, pageReport: Promise<PageReport>): Promise<PageReport> {
  const child = spawn(
    chromium!,
    [
      "--headless=new",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      `--user-data-dir=${temporaryDirectory()}`,
      url,
    ],
    { stdio: "ignore" },
  );
  const gone = once(child, "exit");
  try {
    return await Promise.race([
      pageReport,
      gone.then(() => Promise.reject(new Error("the browser ended"))),
    ]);
  } finally {
    child.kill("SIGKILL");
    await gone;
  }
}

describe.skipIf(chromium === undefined)("a page of another origin", () => {
  const target = { url: "", key: "" };
  let page: Awaited<ReturnType<typeof openPage>>;
  let gateway: GatewayUnderTest;
  beforeAll(async () => (page = await openPage(target)));
  afterAll(() => page.close());

  const load = async (origin: string): Promise<PageReport> => {
    gateway = await startTestGateway({
      config: `cors: { origins: ["${origin}"] }`,
      sandbox: "on",
      environment: { TOLLGATE_INITIAL_CREDIT: "100" },
    });
    Object.assign(target, { url: gateway.url, key: gateway.key });
    try {
      return await browse(page.origin, page.told);
    } finally {
      await gateway.close();
    }
  };

  it("calls with the OpenAI SDK, whole and streamed, and reads errors and ids", async () => {
    expect(await load(page.origin)).toEqual({
      whole: "from far away",
      requestId: expect.stringMatching(/^req_/),
      stream: "from far away",
      models: expect.any(Number),
      stranger: [401, "invalid_api_key"],
    });
  });

  it("cannot call if its origin is not listed", async () => {
    page.close();
    page = await openPage(target);
    expect(await load("https://app.example.com")).toEqual({
      failed: expect.stringContaining("Connection error"),
    });
  });
});
