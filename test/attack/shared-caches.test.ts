/**
 * A cache between callers and the gateway stores no caller's answer for another one: keys come in headers that caches do not look
 * at. RFC 9111, 3.5.
 */
import { chmodSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import openapi from "../../docs/openapi.json" with { type: "json" };
import { freePort, hasNginx, startNginx, type Nginx } from "../support/nginx.ts";
import { temporaryDirectory } from "../support/postgres.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.close());

const paths = [
  "/v1/key",
  "/v1/models",
  "/v1/models/sandbox/chat",
  "/v1beta/models",
  "/v1/tasks",
  "/v1/tasks/task_none",
  "/v1/videos/task_none",
  "/api/v1/tasks/task_none",
  "/api/v3/contents/generations/tasks/task_none",
];

it.each(paths)("GET %s answers no-store, with any key header and without a key", async (path) => {
  const kept = async (headers: Record<string, string>) => {
    const answer = await fetch(gateway.url + path, { headers });
    await answer.arrayBuffer();
    return answer.headers.get("cache-control");
  };
  const key = gateway.key;
  expect(await kept({ "x-api-key": key })).toBe("no-store");
  expect(await kept({ authorization: `Bearer ${key}` })).toBe("no-store");
  expect(await kept({})).toBe("no-store");
});

/** Path parameters get a value that does not exist. */
const described = Object.entries(openapi.paths).flatMap(([path, methods]) =>
  "get" in methods ? [path.replaceAll(/\{[^}]+\}/g, "none")] : [],
);
const undescribedPaths = [
  "/",
  "/keys",
  "/assets/none.js",
  "/files/none",
  "/v1/key/x.css",
  "/v1/models;.js",
  "/v1%2Fkey",
  "//v1/key",
  "/assets/..%2fv1/key",
  "/admin/v1/keys/x.css",
  "/admin/v1/keys;.css",
  "/admin/v1/keys%2f.css",
  "/admin/v1/none",
  "/metrics",
];

it("every refusal answers no-store, at every path", async () => {
  expect(described.length).toBeGreaterThan(50);
  const kept: string[] = [];
  let refused = 0;
  for (const path of [...described, ...undescribedPaths])
    for (const headers of [{}, { "x-api-key": gateway.key }, { authorization: "Bearer wrong" }]) {
      const answer = await fetch(gateway.url + path, { headers, redirect: "manual" });
      await answer.arrayBuffer();
      if (answer.status < 400) continue;
      refused += 1;
      if (answer.headers.get("cache-control") !== "no-store") kept.push(path);
    }
  expect(refused).toBeGreaterThan(150);
  expect(kept).toEqual([]);
});

it("health, readiness and metrics answer no-store", async () => {
  for (const path of ["/healthz", "/readyz", "/metrics"]) {
    const answer = await gateway.get(path);
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"]);
  }
});

/** A cache that stores everything it is not told to leave, also refusals, for every request of the same URL. */
const keepsAll = (port: number, directory: string): string => `
  proxy_cache_path ${directory}/kept keys_zone=all:1m use_temp_path=off;
  server {
    listen 127.0.0.1:${port};
    large_client_header_buffers 8 32k;
    location / {
      proxy_pass ${gateway.url};
      proxy_cache all;
      proxy_cache_valid any 1m;
      add_header x-kept $upstream_cache_status;
    }
  }`;

describe.skipIf(!hasNginx)("a cache in front that stores whatever it may", () => {
  let nginx: Nginx;
  beforeAll(async () => {
    const port = await freePort();
    const directory = temporaryDirectory();
    // If root starts nginx, its workers run as another user.
    chmodSync(directory, 0o777);
    nginx = await startNginx(keepsAll(port, directory), port);
  });
  afterAll(() => nginx.close());
  const ask = async (path: string, headers: Record<string, string>) => {
    const answer = await fetch(nginx.url + path, { headers });
    const text = await answer.text();
    return { status: answer.status, text, kept: answer.headers.get("x-kept") };
  };

  it("stores a page or an asset, and never an error in its place", async () => {
    expect((await ask("/", { accept: "application/json" })).status).toBe(404);
    const page = await ask("/", { accept: "text/html" });
    expect(page.status).toBe(200);
    const [part = ""] = /\/assets\/[\w.-]+\.js/.exec(page.text)!;
    expect((await ask(part, { "x-large": "a".repeat(17_000) })).status).toBe(431);
    expect((await ask(part, {})).status).toBe(200);
    expect(await ask(part, {})).toMatchObject({ status: 200, kept: "HIT" });
  });

  it("stores no answer for another key or for a stranger", async () => {
    expect((await ask("/v1/key", {})).status).toBe(401);
    expect((await ask("/v1/key", { "x-api-key": gateway.key })).status).toBe(200);
    expect((await ask("/v1/key", {})).status).toBe(401);
  });
});
