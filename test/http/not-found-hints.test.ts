/** Errors for wrong first calls: they name the intended path, method, key or body, in the caller's protocol. */
import { get, type IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { notFoundHint } from "../../src/http/not-found-hints.ts";
import { fitsRoute } from "../../src/http/path.ts";
import { likelyRoute } from "../../src/http/routes.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";

let gateway: GatewayUnderTest;
beforeAll(async () => (gateway = await startTestGateway({ sandbox: "on" })));
afterAll(() => gateway.close());

interface Answer {
  readonly status: number;
  readonly allow: string | null;
  readonly text: string;
}

async function ask(method: string, path: string, more: RequestInit = {}): Promise<Answer> {
  const answer = await fetch(gateway.url + path, {
    method,
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    ...(method === "POST" && { body: "{}" }),
    ...more,
  });
  const { headers, status } = answer;
  return { status, allow: headers.get("allow"), text: await answer.text() };
}

describe("the 404 message of an unknown path", () => {
  it.each([
    ["POST", "/v1/v1/chat/completions", "It is at /v1/chat/completions: the base URL of OpenAI"],
    ["POST", "/v1/chat/completions/", "It is at /v1/chat/completions, without the slash"],
    ["POST", "/v1/responses//", "It is at /v1/responses, without the slash"],
    ["POST", "/chat/completions/", "It is at /v1/chat/completions: the base URL of OpenAI"],
    ["GET", "/v1/key/", "It is at /v1/key, without the slash"],
    ["POST", "/v1/completions", "send `messages` to /v1/chat/completions."],
    ["POST", "/openai/v1/engines/gpt/completions", "send `messages` to /v1/chat/completions."],
    ["GET", "/v1/completions", "See /docs."],
    ["GET", "/admin/keys", "It is at /admin/v1/keys."],
    ["GET", "/v1/admin/keys/key_1", "It is at /admin/v1/keys/key_1."],
    ["GET", "/api/admin/v1/usage", "It is at /admin/v1/usage."],
    ["GET", "/admin/v1/keys/", "It is at /admin/v1/keys, without the slash"],
    ["GET", "/admin/v1/requests/", "It is at /admin/v1/requests, without the slash"],
    ["GET", "/admin/v1/workspaces/ws_1/members/", "/members, without the slash"],
    ["POST", "/admin/v1/keys//revoke", "/admin/v1/keys//revoke. See /docs."],
    ["GET", "/admin/v1/worspaces", "Did you mean /admin/v1/workspaces? See /docs."],
    ["GET", "/admin/v1/keys/key_1/nothing", "See /docs."],
    ["POST", "/v1/chat/completion", "Did you mean /v1/chat/completions? See /docs."],
    ["POST", "/v1/image/generations", "Did you mean /v1/images/generations? See /docs."],
    ["GET", "/v1/task/task_1", "Did you mean /v1/tasks/task_1? See /docs."],
    ["GET", "/health", "Did you mean /healthz? See /docs."],
    ["GET", "/v1/model", "Did you mean /v1/models? See /docs."],
    ["GET", "/v1/message", "/v1/message. See /docs."],
    [
      "POST",
      "/v1beta/openai/chat/completions",
      "It is at /v1/chat/completions: the base URL of OpenAI",
    ],
    ["POST", "/v1beta/openai/embeddings", "It is at /v1/embeddings: the base URL of OpenAI"],
    ["GET", "/v1beta/openai/models", "It is at /v1/models: the base URL of OpenAI"],
    ["GET", "/v1/nothing", "/v1/nothing. See /docs."],
    ["GET", "/v1/videos/", "/v1/videos/. See /docs."],
    ["GET", "/foo", "See /docs."],
    ["GET", "/foo/", "See /docs."],
  ])("gives a hint for %s %s", async (method, path, said) => {
    const { status, text } = await ask(method, path);
    const { error } = JSON.parse(text) as { error: Record<string, unknown> };
    expect({ status, code: error["code"] }).toEqual({ status: 404, code: "not_found" });
    expect(error["message"]).toContain(`There is nothing at ${method} ${path}. `);
    expect(error["message"]).toContain(said);
  });

  it("has the messages shape for /v1/messages with a trailing slash", async () => {
    const { status, text } = await ask("POST", "/v1/messages/");
    expect(status).toBe(404);
    expect(JSON.parse(text)).toMatchObject({
      type: "error",
      error: {
        type: "not_found_error",
        message: expect.stringContaining("It is at /v1/messages, without the slash") as string,
        details: { error_code: "not_found" },
      },
    });
  });
});

it("a WebSocket upgrade of /v1/responses gets 426, so that clients such as Codex continue over HTTP", async () => {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${gateway.key}`,
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": Buffer.from("sixteen letters!").toString("base64"),
      "openai-beta": "responses_websockets=2026-02-06",
    };
    get(`${gateway.url}/v1/responses`, { headers }, resolve).on("error", reject);
  });
  expect(answer.statusCode).toBe(426);
  expect(answer.headers).toMatchObject({
    allow: "POST",
    connection: "upgrade",
    upgrade: "HTTP/1.1",
  });
  expect(await json(answer)).toMatchObject({
    error: {
      code: "websocket_not_offered",
      message: "No WebSocket is offered here; use POST.",
    },
  });
});

it("GET on a generateContent path is 405 with `Allow: POST`, and not an unknown model", async () => {
  for (const method of ["generateContent", "streamGenerateContent?alt=sse", "countTokens"]) {
    const path = `/v1beta/models/sandbox/chat:${method}`;
    const { status, allow, text } = await ask("GET", path);
    expect({ status, allow }).toEqual({ status: 405, allow: "POST" });
    expect(JSON.parse(text)).toMatchObject({
      error: { status: "INVALID_ARGUMENT", message: "GET is not allowed here; use POST." },
    });
  }
});

it.each([
  ["GET", "/v1beta/files"],
  ["POST", "/v1beta/cachedContents"],
  ["POST", "/v1beta/files/"],
  ["GET", "/v1beta/tunedModels"],
])("%s %s is 404 in Google's shape, and says nothing of another method", async (method, path) => {
  const { status, allow, text } = await ask(method, path);
  expect({ status, allow }).toEqual({ status: 404, allow: null });
  const message = `There is nothing at ${method} ${path}. See /docs.`;
  expect(JSON.parse(text)).toMatchObject({ error: { status: "NOT_FOUND", message } });
});

it("ERR-08: a quoted key, a key with a space, a vendor's key and a management token each get their own message, without the key", async () => {
  const messageFor = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    const { status, text } = await ask("POST", "/v1/chat/completions", { headers });
    expect(status).toBe(401);
    expect(text).toContain('"code":"invalid_api_key"');
    expect(text).not.toContain(key);
    return text;
  };
  expect(await messageFor(`"${gateway.key}"`)).toContain("was sent in quotes: leave them out");
  expect(await messageFor(`${gateway.key} x`)).toContain(
    "characters that no key has, such as a space",
  );
  expect(await messageFor("sk-proj-1234")).toContain("a vendor's own key does not work here");
  for (const token of [`gw_admin_${"x".repeat(43)}`, `gw_pat_${"x".repeat(43)}`])
    expect(await messageFor(token)).toContain(
      "This is a token of the management API (/admin/v1). Calls",
    );
});

it("ERR-08: a key of this gateway that is cut off, too long or altered is reported as such, not as a vendor's key", async () => {
  const errorFor = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    const { status, text } = await ask("GET", "/v1/models", { headers });
    expect(status).toBe(401);
    expect(text).toContain('"code":"invalid_api_key"');
    expect(text).not.toContain("vendor");
    expect(text).not.toContain(key);
    return text;
  };
  const { key } = gateway;
  expect(key).toHaveLength(57);
  expect(await errorFor(key.slice(0, 30))).toContain(
    "The API key is incomplete: it has 30 characters instead of 57. Copy the whole key again.",
  );
  expect(await errorFor("gw_live_...")).toContain("incomplete: it has 11 characters instead of 57");
  expect(await errorFor(`${key},`)).toContain("too long: it has 58 characters instead of 57");
  expect(await errorFor(`${key.slice(0, -1)}-`)).toContain("a character of it is wrong");
  const last = key.endsWith("0") ? "1" : "0";
  expect(await errorFor(key.slice(0, -1) + last)).toContain("a character of it is wrong");
  expect(await errorFor("gw_temp_key_01")).toContain("The temporary key is incomplete or altered");
  const broken = `${key.slice(0, 30)}%0A${key.slice(30)}`;
  const inQuery = await fetch(`${gateway.url}/v1beta/models?key=${broken}`);
  expect(await inQuery.text()).toContain("such as a space or a line break");
});

it("an empty body is reported as empty", async () => {
  for (const path of ["/v1/chat/completions", "/v1/messages", "/v1/responses"]) {
    const { status, text } = await ask("POST", path, { body: "" });
    expect(status).toBe(400);
    expect(text).toContain("The body is empty: send a JSON object.");
    expect(text).toContain("invalid_json");
  }
});

it("hints for very long unknown paths are computed quickly", () => {
  const names = Array.from({ length: 300 }, (_, at) => `/admin/v1/things${at}/:id/moves${at}`);
  const methods = new Map(names.map((name) => [name, new Set(["GET", "POST"])]));
  const paths = [
    `${"/".repeat(16_000)}x`,
    `${"/a".repeat(8_000)}/`,
    `/admin${"/a".repeat(7_900)}`,
    `/admin/${"thing".repeat(3_000)}`,
    `/v1/admin/${"x".repeat(190)}`,
  ];
  const beganMs = performance.now();
  for (const path of paths) {
    expect(notFoundHint({ method: "POST", path }, methods)).toBe("See /docs.");
    expect(likelyRoute("POST", path)).toBeUndefined();
  }
  expect(performance.now() - beganMs).toBeLessThan(200);
});

it("a path of thousands of segments is compared quickly with all routes", () => {
  const path = `/v1${"/".repeat(16_000)}`;
  const beganMs = performance.now();
  const found = Array.from({ length: 3_000 }, () => fitsRoute("/v1/tasks/:id", path));
  expect(performance.now() - beganMs).toBeLessThan(200);
  expect(found).not.toContain(true);
  expect(fitsRoute("/v1/tasks/:id", "/v1/tasks/task_1")).toBe(true);
  expect(fitsRoute("/v1/tasks/:id", "/v1/tasks/task_1/")).toBe(false);
});
