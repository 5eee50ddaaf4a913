/** A cache between callers and the gateway keeps no caller's answer for another one: keys come in headers that no cache minds. RFC 9111, 3.5. */
import { afterAll, beforeAll, expect, it } from "vitest";
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

it.each(paths)("GET %s says so, whoever asks and however the key comes", async (path) => {
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

it("a file, whose name is its key, may be kept by its own browser", async () => {
  const answer = await fetch(`${gateway.url}/files/none`);
  expect([answer.status, answer.headers.get("cache-control")]).toEqual([404, null]);
});
