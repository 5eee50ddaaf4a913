/** Calls from pages of other origins: preflights without a key, readable answers and errors. docs/configuration.md "cors". */
import { request } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";

const page = "https://app.example.com";
const config = (origins: string): string => `
providers: []
models: []
cors: { origins: [${origins}] }
`;
const start = (origins: string, fastPath: boolean) =>
  startTestGateway({
    config: config(origins),
    sandbox: "on",
    fastPath,
    environment: { TOLLGATE_INITIAL_CREDIT: "100" },
  });

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Sends a request with exactly these headers, on a new connection. */
function ask(
  url: string,
  method: string,
  headers: Record<string, string>,
  body?: object,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? "" : JSON.stringify(body);
    const all = {
      ...headers,
      ...(body !== undefined && {
        "content-type": "application/json",
        "content-length": text.length,
      }),
    };
    const outgoing = request(url, { method, headers: all, agent: false }, (response) => {
      let answer = "";
      response.on("data", (bytes: Buffer) => (answer += bytes.toString()));
      response.on("end", () =>
        resolve({ status: response.statusCode!, headers: response.headers, text: answer }),
      );
    });
    outgoing.on("error", reject);
    outgoing.end(text);
  });
}

/** Headers for which a browser asks when a page uses the OpenAI SDK. */
const requestedHeaders =
  "authorization,content-type,x-stainless-arch,x-stainless-lang,x-stainless-retry-count";
const preflight = (url: string, origin: string, more: Record<string, string> = {}) =>
  ask(url, "OPTIONS", {
    origin,
    "access-control-request-method": "POST",
    "access-control-request-headers": requestedHeaders,
    ...more,
  });

describe.each([
  ["the fast path", true],
  ["Node's HTTP", false],
])("a gateway that one page may call, on %s", (_name, fast) => {
  let gateway: GatewayUnderTest;
  beforeAll(async () => (gateway = await start(`"${page}", "http://localhost:5173"`, fast)));
  afterAll(() => gateway.close());

  const call = (origin: string, more: object = {}, key = gateway.key) =>
    ask(
      `${gateway.url}/v1/chat/completions`,
      "POST",
      { origin, authorization: `Bearer ${key}` },
      { model: "sandbox/chat", messages: [{ role: "user", content: "Hi" }], ...more },
    );
  const readable = (answer: Answer, origin = page): void => {
    expect(answer.headers["access-control-allow-origin"]).toBe(origin);
    expect(answer.headers["access-control-expose-headers"]).toContain("x-request-id");
    expect(answer.headers["access-control-allow-credentials"]).toBeUndefined();
    expect(answer.headers["vary"]).toContain("Origin");
  };

  it.each([
    "/v1/chat/completions",
    "/v1/models",
    "/v1/tasks",
    "/v1beta/models/sandbox/chat:generateContent",
    "/api/v1/tasks/task_1",
    "/files/x",
  ])(
    "the preflight of %s is answered without a key, and allows the requested headers",
    async (path) => {
      const answer = await preflight(gateway.url + path, page);
      expect(answer.status).toBe(204);
      readable(answer);
      expect(answer.headers["access-control-allow-headers"]).toBe(requestedHeaders);
      expect(answer.headers["access-control-allow-methods"]).toBe("GET, POST, DELETE");
      expect(answer.text).toBe("");
    },
  );

  it("a page can read whole answers, streams and errors", async () => {
    const whole = await call(page);
    expect(whole.status).toBe(200);
    readable(whole);
    const stream = await call("http://localhost:5173", { stream: true });
    expect(stream.text).toContain("data: [DONE]");
    readable(stream, "http://localhost:5173");
    for (const [status, answer] of [
      [401, await call(page, {}, "gw_live_wrong")],
      [404, await call(page, { model: "made/up" })],
      [400, await call(page, { messages: 7 })],
      [404, await ask(`${gateway.url}/v1/nothing`, "GET", { origin: page })],
      [401, await ask(`${gateway.url}/v1/tasks`, "GET", { origin: page })],
    ] as const) {
      expect(answer.status).toBe(status);
      readable(answer);
    }
    const models = await ask(`${gateway.url}/v1/models`, "GET", { origin: page });
    expect(models.status).toBe(200);
    readable(models);
  });

  it("a task's answer varies by Origin and Prefer", async () => {
    const task = await ask(
      `${gateway.url}/v1/tasks`,
      "POST",
      { origin: page, authorization: `Bearer ${gateway.key}` },
      { model: "sandbox/video-model-v1", prompt: "A boat", duration: 2 },
    );
    expect(task.status).toBe(200);
    readable(task);
    expect(task.headers["vary"]).toContain("Prefer");
    expect(task.headers["access-control-expose-headers"]).toContain("location");
  });

  it.each([
    "https://evil.example",
    "null",
    "https://app.example.com.evil.example",
    "http://app.example.com",
    "https://app.example.com:8443",
  ])("%s gets no CORS permission", async (origin) => {
    const asking = await preflight(`${gateway.url}/v1/chat/completions`, origin);
    expect(asking.status).toBe(405);
    expect(asking.headers["access-control-allow-origin"]).toBeUndefined();
    const answer = await call(origin);
    expect(answer.status).toBe(200);
    expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
    // A cache must not mix up this answer with one for an allowed origin.
    expect(answer.headers["vary"]).toBe("Origin");
  });

  it("the management API, sign-in, metrics and docs allow no other origin", async () => {
    for (const path of [
      "/admin/v1/keys",
      "/auth/sign-in/email",
      "/auth/get-session",
      "/metrics",
      "/docs",
    ]) {
      const answer = await preflight(gateway.url + path, page);
      expect(answer.status).not.toBe(204);
      expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
      const read = await ask(gateway.url + path, "GET", { origin: page });
      expect(read.headers["access-control-allow-origin"]).toBeUndefined();
    }
  });

  it("requested header names are echoed only if all are valid and there are at most 64", async () => {
    for (const names of ["x y", "x-a,", "a".repeat(200), Array(80).fill("x-a").join(",")]) {
      const answer = await preflight(`${gateway.url}/v1/models`, page, {
        "access-control-request-headers": names,
      });
      expect(answer.status).toBe(204);
      expect(answer.headers["access-control-allow-headers"]).toBeUndefined();
    }
  });

  it("a preflight and its call may share a connection", async () => {
    const { hostname, port } = new URL(gateway.url);
    const body = JSON.stringify({
      model: "sandbox/chat",
      messages: [{ role: "user", content: "Hi" }],
    });
    const text = await new Promise<string>((resolve, reject) => {
      let all = "";
      const socket = connect(Number(port), hostname, () =>
        socket.write(
          `OPTIONS /v1/chat/completions HTTP/1.1\r\nHost: g\r\nOrigin: ${page}\r\nAccess-Control-Request-Method: POST\r\n\r\n`,
        ),
      );
      let sent = false;
      socket.on("data", (bytes: Buffer) => {
        all += bytes.toString();
        if (sent || !all.includes("\r\n\r\n")) return;
        sent = true;
        socket.write(
          `POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nOrigin: ${page}\r\nConnection: close\r\nAuthorization: Bearer ${gateway.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        );
      });
      socket.on("close", () => resolve(all)).on("error", reject);
    });
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual([
      "204",
      "200",
    ]);
    expect(text.match(/access-control-allow-origin: https:\/\/app\.example\.com/g)).toHaveLength(2);
  });
});

it("with * every page may call, and no answer varies by origin", async () => {
  const gateway = await start('"*"', true);
  const answer = await preflight(`${gateway.url}/v1/models`, "null");
  expect(answer.status).toBe(204);
  expect(answer.headers["access-control-allow-origin"]).toBe("*");
  expect(answer.headers["vary"]).toBeUndefined();
  // A browser caches a shown file, and the page may read it from the cache.
  const shown = await ask(`${gateway.url}/files/none`, "GET", {});
  expect(shown.headers["access-control-allow-origin"]).toBe("*");
  await gateway.close();
});

it("without `cors` in the configuration no CORS header is sent", async () => {
  const gateway = await startTestGateway();
  const answer = await preflight(`${gateway.url}/v1/chat/completions`, page);
  expect(answer.status).toBe(405);
  for (const one of [answer, await ask(`${gateway.url}/v1/models`, "GET", { origin: page })])
    expect(Object.keys(one.headers).filter((name) => /^(vary|access-control)/.test(name))).toEqual(
      [],
    );
  await gateway.close();
});
