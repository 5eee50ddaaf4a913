/**
 * The access log: one line per request, on both front ends, without fields that may contain secrets; and the number of requests
 * in flight. docs/operate.md "Access log".
 */
import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createAccessLog, type Access } from "../../src/base/log.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { eventually } from "../support/patience.ts";

let gateway: GatewayUnderTest;
let text = "";
let flushes = 0;
const destination = {
  write: (line: string) => (text += line),
  flushSync: () => void (flushes += 1),
};

beforeAll(async () => {
  gateway = await startTestGateway({
    accessLog: { level: "info", destination },
    environment: { TOLLGATE_TRUSTED_PROXIES: "loopback", TOLLGATE_METRICS_TOKEN: "metrics" },
  });
});
afterAll(() => gateway.close());

interface Line {
  readonly request_id: string;
  readonly [field: string]: unknown;
}

const lines = (): Line[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);

/** The line that a request adds. Expects no other new line meanwhile. */
async function lineOf(request: () => Promise<unknown>): Promise<Line> {
  const before = lines().length;
  await request();
  await eventually(() => lines().length > before, "the request's line");
  expect(lines()).toHaveLength(before + 1);
  return lines().at(-1)!;
}

const hello = { model: "sandbox/chat", messages: [{ role: "user", content: "Hello!" }] };

/** The number of requests in flight, from /metrics. */
async function inFlight(): Promise<number> {
  const response = await fetch(`${gateway.url}/metrics`, {
    headers: { authorization: "Bearer metrics" },
  });
  return Number(/^tollgate_requests_in_flight (\d+)$/m.exec(await response.text())![1]);
}

it("the line of a call has its id, route, status, duration, bytes, address and key", async () => {
  let id: string | null = null;
  let body = "";
  const line = await lineOf(async () => {
    const from = { "x-forwarded-for": "203.0.113.7" };
    const response = await gateway.post("/v1/chat/completions", hello, from);
    id = response.headers.get("x-request-id");
    body = await response.text();
  });
  expect(line).toEqual({
    level: "info",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
    request_id: id,
    method: "POST",
    route: "/v1/chat/completions",
    status: 200,
    ms: expect.any(Number) as number,
    bytes: expect.any(Number) as number,
    address: "203.0.113.7",
    key_id: expect.stringMatching(/^key_/) as string,
    msg: "request",
  });
  expect(line["bytes"]).toBeGreaterThan(body.length);
});

it("requests that Node handles have a line with the pattern of their route, without secrets", async () => {
  const { key } = gateway;
  const requestsSent: [string, RequestInit, object][] = [
    [
      `/v1/key?key=${key}`,
      { headers: { authorization: `Bearer ${key}` } },
      { route: "/v1/key", status: 200 },
    ],
    [
      "/v1/tasks/task_secret",
      { headers: { "x-api-key": key } },
      { route: "/v1/tasks/:id", status: 404 },
    ],
    ["/files/0123secret", {}, { route: "/files/*", status: 404 }],
    ["/admin/v1/keys/key_1?token=secret", {}, { route: "/admin/v1/keys/:id", status: 401 }],
    [
      `/v1beta/models/x:generateContent?key=secret`,
      { method: "POST" },
      { route: "/v1beta/*", status: 401 },
    ],
    [`/secret/${key}`, {}, { route: "none", status: 404 }],
    ["/v1/chat/completions", { method: "DELETE" }, { route: "none", status: 405 }],
  ];
  for (const [path, options, wanted] of requestsSent) {
    const line = await lineOf(async () => (await fetch(gateway.url + path, options)).text());
    expect(line).toMatchObject(wanted);
  }
  expect(text).not.toContain(key);
  expect(text).not.toContain("secret");
  expect(lines().filter(({ route }) => route === "/v1/key")[0]).toHaveProperty("key_id");
});

it("health and metrics requests have no lines", async () => {
  for (const path of ["/healthz", "/readyz"]) await (await fetch(gateway.url + path)).text();
  await inFlight();
  await lineOf(async () => (await gateway.get("/v1/key")).text());
  expect(text).not.toMatch(/healthz|readyz|metrics/);
});

it("a stream counts as in flight until its client leaves, and its line says that it was cut", async () => {
  const slow = { reply: "one two three four", chunk_chars: 2, chunk_delay_ms: 200 };
  const leaving = new AbortController();
  const line = await lineOf(async () => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      signal: leaving.signal,
      headers: { "content-type": "application/json", authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify({
        ...hello,
        stream: true,
        messages: [{ role: "user", content: `#sandbox ${JSON.stringify(slow)}` }],
      }),
    });
    await response.body!.getReader().read();
    expect(await inFlight()).toBe(1);
    leaving.abort();
  });
  expect(line).toMatchObject({ status: 200, cut: true });
  expect(await inFlight()).toBe(0);
});

const one: Access = {
  request: "req_1",
  method: "GET",
  route: "/v1/models",
  status: 200,
  ms: 1.25,
  bytes: 10,
  whole: true,
  address: "192.0.2.1",
  keyId: undefined,
};

it("a sample rate above 0 keeps every 5xx line and a share of the others, and the log level applies", () => {
  const written = (sample: number, status: number, level = "info"): number => {
    let count = 0;
    const log = createAccessLog({
      sample,
      level,
      worker: 2,
      destination: { write: (line) => (count += /"worker":2,/.test(line) ? 1 : 0), flushSync() {} },
    });
    for (let at = 0; at < 1_000; at += 1) log?.write({ ...one, status });
    return count;
  };
  expect([written(1, 200), written(0, 503), written(0.1, 500)]).toEqual([1_000, 0, 1_000]);
  expect(written(0.2, 404)).toBeGreaterThan(100);
  expect(written(0.2, 404)).toBeLessThan(300);
  expect([written(1, 500, "warn"), written(1, 500, "silent"), written(1, 200, "debug")]).toEqual([
    0, 0, 1_000,
  ]);
});

it("the gateway flushes the access log when it stops", async () => {
  const before = flushes;
  const other = await startTestGateway({ accessLog: { level: "info", destination } });
  await other.close();
  expect(flushes).toBe(before + 1);
});

it("log lines have their level as a word, and redact keys", () => {
  const source = new URL("../../src/base/log.ts", import.meta.url).href;
  const script = `import { createLog } from "${source}"; createLog("info").warn({ key: "sk-1" }, "x")`;
  const words = ["--input-type=module", "--eval", script];
  const { stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
  expect(JSON.parse(stderr)).toMatchObject({ level: "warn", key: "[redacted]", msg: "x" });
});
