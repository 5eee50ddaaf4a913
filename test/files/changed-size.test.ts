/** A file whose size has changed since it was kept is not sent: its bytes would run into the next answer. */
import { rmSync, truncateSync, writeFileSync } from "node:fs";
import { Agent, request, type IncomingMessage } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { newFileName } from "../../src/files/index.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { recordResult } from "./kept.ts";

const size = 100_000;
/** One connection: missing or extra bytes would shift the next answer. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const logged: [object, string][] = [];
let gateway: GatewayUnderTest;
let path: string;
let url: string;
beforeAll(async () => {
  const error = (fields: object, message: string): void => void logged.push([fields, message]);
  gateway = await startTestGateway({ log: { ...silentLog, error } });
  const name = newFileName("video/mp4");
  await recordResult(gateway, { name, bytes: size });
  path = join(gateway.directory, "data", "files", name);
  url = `${gateway.url}/files/${name}`;
  writeFileSync(path, Buffer.alloc(size));
});
afterAll(async () => {
  agent.destroy();
  await gateway.close();
});

/**
 * Returns the status and the number of bytes. Returns an error text if the answer did not end, or if the connection had bytes
 * of no answer.
 */
async function get(address: string, range = "bytes=,", method = "GET"): Promise<string> {
  const asked = request(address, { agent, method, headers: { range } });
  const failed = once(asked, "error").then(([error]) => Promise.reject(error as Error));
  failed.catch(() => undefined);
  asked.setTimeout(2_000, () => asked.destroy(new Error("no more bytes came"))).end();
  try {
    const [answer] = (await Promise.race([once(asked, "response"), failed])) as [IncomingMessage];
    const body = answer.statusCode === 404 ? "none" : String((await buffer(answer)).length);
    answer.resume();
    return `${answer.statusCode} ${body}`;
  } catch (error) {
    return String(error);
  }
}

const cases = [
  { kind: "shorter", bytes: size - 1, end: "404 none" },
  { kind: "empty", bytes: 0, end: "404 none" },
  // The requested range exists, so the gateway cannot see the change.
  { kind: "longer", bytes: size + 50, end: "206 10" },
];

it.each(cases)(
  "STORE-02: a file that is $kind gets 404, and the next answer on the connection is correct",
  async ({ bytes, end }) => {
    truncateSync(path, size);
    expect(await get(url)).toBe(`200 ${size}`);
    truncateSync(path, bytes);
    expect(await get(url)).toBe("404 none");
    expect(await get(url, undefined, "HEAD")).toBe("404 none");
    expect(await get(`${gateway.url}/healthz`)).toMatch(/^200 /);
    expect(await get(url, `bytes=${size - 10}-`)).toBe(end);
  },
);

it("STORE-02: a file that is missing gets 404 for HEAD too", async () => {
  truncateSync(path, size);
  expect(await get(url, undefined, "HEAD")).toBe("200 0");
  rmSync(path);
  expect(await get(url, undefined, "HEAD")).toBe("404 none");
});

it("the log reports the changed file once, with what to do", () => {
  expect(logged).toEqual([
    [
      { file: url.slice(-36), found: size - 1, wanted: size, fix: expect.stringContaining("copy") },
      "a file in the storage is not the one that was kept: it is not sent",
    ],
  ]);
});
