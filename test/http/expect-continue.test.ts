/** `Expect: 100-continue`: the gateway asks for a body only when it reads it, not for refused requests. RFC 9110, section 10.1.1. */
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { bytesOf, closeAll, openRaw, type RawClient } from "../attack/raw-clients.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";

let gateway: GatewayUnderTest;
const clients: RawClient[] = [];
beforeAll(async () => {
  gateway = await startTestGateway({});
});
afterEach(() => closeAll(clients.splice(0)));
afterAll(() => gateway.close());

const json = JSON.stringify({
  model: "sandbox/chat",
  messages: [{ role: "user", content: "Hello" }],
});
const form = ["model", "prompt"]
  .map(
    (name) =>
      `--xyz\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${name === "model" ? "sandbox/video-model-v1" : "A boat"}\r\n`,
  )
  .join("")
  .concat("--xyz--\r\n");

interface HeadOptions {
  readonly path: string;
  readonly key: string;
  readonly type?: string;
  readonly length: number;
}

/** Sends the head of a request, without its body. */
function ask({ path, key, type = "application/json", length }: HeadOptions): RawClient {
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": type,
    "content-length": String(length),
    expect: "100-continue",
  };
  const client = openRaw(gateway.url, { method: "POST", path, headers });
  clients.push(client);
  return client;
}

const statuses = (client: RawClient): string[] =>
  client.text().match(/(?<=HTTP\/1\.1 )\d{3}/g) ?? [];

it.each([
  ["a call", "/v1/chat/completions", "application/json"],
  ["a form", "/v1/images/edits", "multipart/form-data; boundary=xyz"],
  ["a change", "/admin/v1/keys", "application/json"],
  ["an unknown path", "/v1/nothing", "application/json"],
])(
  "a caller with a wrong key gets no 100 Continue for the body of %s",
  async (_what, path, type) => {
    const client = ask({ path, key: "gw_live_wrong", type, length: 20_000_000 });
    await expect.poll(() => statuses(client)).toEqual([path === "/v1/nothing" ? "404" : "401"]);
    expect(client.text()).toMatch(/connection: close/i);
    await expect.poll(() => client.closed()).toBe(true);
  },
);

it("a body that is too large gets 413 and no 100 Continue", async () => {
  const length = 900_000_000;
  const client = ask({ path: "/v1/chat/completions", key: gateway.key, length });
  await expect.poll(() => statuses(client)).toEqual(["413"]);
});

it.each([
  ["a call", "/v1/chat/completions", "application/json", json],
  ["a form", "/v1/tasks", "multipart/form-data; boundary=xyz", form],
])(
  "%s with a valid key gets 100 Continue, and then its answer",
  async (_what, path, type, body) => {
    const client = ask({ path, key: gateway.key, type, length: Buffer.byteLength(body) });
    await expect.poll(() => statuses(client)).toEqual(["100"]);
    client.socket.write(body);
    await expect.poll(() => statuses(client)).toHaveLength(2);
    expect(statuses(client)[1]).toMatch(/^20\d$/);
  },
);

it("a request without a body is answered after 100 Continue, and its connection stays open", async () => {
  const client = openRaw(gateway.url, { path: "/healthz", headers: { expect: "100-continue" } });
  clients.push(client);
  await expect.poll(() => statuses(client)).toEqual(["100", "200"]);
  client.socket.write(bytesOf({ path: "/healthz" }));
  await expect.poll(() => statuses(client)).toEqual(["100", "200", "200"]);
});
