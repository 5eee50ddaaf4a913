/** `GET /files/{name}` on a running gateway. Row STORE-02. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { manualClock } from "../support/manual-clock.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { recordResult } from "./kept.ts";
import { s3Config, startS3, type S3Server } from "./s3-server.ts";
import {
  findFile,
  newFileName,
  openFileStore,
  type FileRow,
  type FileStore,
} from "../../src/files/index.ts";

const bytes = randomBytes(200_000);
const startMs = Date.parse("2026-11-20T12:00:00.500Z");
const clock = manualClock(startMs);

async function kept(
  gateway: GatewayUnderTest,
  store: FileStore,
  changes: Partial<FileRow> & { content?: Buffer | Readable } = {},
): Promise<string> {
  const { content = bytes, ...columns } = changes;
  const name = newFileName("video/mp4");
  const source = content instanceof Readable ? content : Readable.from([content]);
  const put = await store.put(name, source, { mediaType: "video/mp4", bytesMax: 1e9 });
  await recordResult(gateway, { name, bytes: put.bytes, ...columns }, clock.now());
  return name;
}

describe.each(["local", "s3"] as const)("GET /files (%s)", (kind) => {
  let server: S3Server | undefined;
  let gateway: GatewayUnderTest;
  let store: FileStore;
  let name: string;
  const names = (): string[] =>
    server?.names() ?? readdirSync(join(gateway.directory, "data", "files"));
  const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    fetch(gateway.url + path, { method, headers });
  /** Returns the status alone. It cancels the body, because an unread answer would keep the gateway from closing until it is cut. */
  const statusOf = async (path: string, headers: Record<string, string> = {}, method = "GET") => {
    const { status, body } = await get(path, headers, method);
    await body?.cancel();
    return status;
  };

  beforeAll(async () => {
    clock.set(startMs);
    server = kind === "s3" ? await startS3() : undefined;
    gateway = await startTestGateway({
      clock,
      filesEveryMs: 50,
      ...(server && { config: s3Config(server), sandbox: "on" }),
    });
    store = await openFileStore(
      server?.options ?? { kind: "local" },
      join(gateway.directory, "data"),
    );
    name = await kept(gateway, store);
  });
  afterAll(async () => {
    await store.close();
    await gateway.close();
    await server?.close();
  });

  it("sends the file without a key", async () => {
    const answer = await get(`/files/${name}`);
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "video/mp4",
      "content-length": "200000",
      "accept-ranges": "bytes",
      "content-disposition": `inline; filename="${name}"`,
      "x-content-type-options": "nosniff",
      "cache-control": "private, max-age=86400, immutable",
      "last-modified": "Fri, 20 Nov 2026 12:00:00 GMT",
      etag: `"${name}"`,
    });
    expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
    expect(bytes.equals(Buffer.from(await answer.arrayBuffer()))).toBe(true);
  });

  it("answers HEAD with the same headers and no body", async () => {
    const whole = await get(`/files/${name}`, {}, "HEAD");
    expect([whole.status, whole.headers.get("content-length")]).toEqual([200, "200000"]);
    expect((await whole.arrayBuffer()).byteLength).toBe(0);
    const part = await get(`/files/${name}`, { range: "bytes=10-19" }, "HEAD");
    expect([part.status, part.headers.get("content-length")]).toEqual([206, "10"]);
    // The gateway sends the bucket no GET, which would start to send the whole file.
    const own = await kept(gateway, store);
    expect(await statusOf(`/files/${own}`, {}, "HEAD")).toBe(200);
    expect(server?.methods(own) ?? ["PUT", "HEAD"]).toEqual(["PUT", "HEAD"]);
  });

  it.each([
    ["bytes=1-9", 1, 9],
    ["bytes=199990-", 199_990, 199_999],
    ["bytes=-5", 199_995, 199_999],
    ["bytes=-900000", 0, 199_999],
    ["bytes=100-900000", 100, 199_999],
    ["BYTES=3-3", 3, 3],
  ] as const)("serves the range %s", async (range, start, end) => {
    const answer = await get(`/files/${name}`, { range });
    expect(answer.status).toBe(206);
    expect(answer.headers.get("content-range")).toBe(`bytes ${start}-${end}/200000`);
    expect(answer.headers.get("content-length")).toBe(String(end - start + 1));
    const body = Buffer.from(await answer.arrayBuffer());
    expect(bytes.subarray(start, end + 1).equals(body)).toBe(true);
  });

  it.each(["bytes=0-1,5-6", "bytes=9-1", "bytes=-", "bytes=a-b", "lines=1-2", "bytes 1-2"])(
    "answers the unsupported range %j with the whole file",
    async (range) => {
      const answer = await get(`/files/${name}`, { range });
      expect(answer.status).toBe(200);
      expect((await answer.arrayBuffer()).byteLength).toBe(200_000);
    },
  );

  it.each(["bytes=200000-", "bytes=200000-200001", "bytes=-0", `bytes=${"9".repeat(40)}-`])(
    "refuses the range %s outside of the file with 416",
    async (range) => {
      const answer = await get(`/files/${name}`, { range });
      expect(answer.status).toBe(416);
      expect(answer.headers.get("content-range")).toBe("bytes */200000");
      expect(answer.headers.get("content-type")).toMatch("application/json");
      expect(await answer.json()).toMatchObject({ error: { code: "range_not_satisfiable" } });
    },
  );

  it("serves a range only if If-Range matches the file, and else the whole file", async () => {
    const range = "bytes=5-9";
    const made = "Fri, 20 Nov 2026 12:00:00 GMT";
    for (const [ifRange, status] of [
      [`"${name}"`, 206],
      [made, 206],
      ['"another"', 200],
      [`W/"${name}"`, 200],
      ["Fri, 20 Nov 2026 11:00:00 GMT", 200],
    ] as const)
      expect(await statusOf(`/files/${name}`, { range, "if-range": ifRange })).toBe(status);
  });

  it("answers 304 to a caller who has the file", async () => {
    for (const tag of [`"${name}"`, `"x", W/"${name}"`, "*"])
      expect(await statusOf(`/files/${name}`, { "if-none-match": tag })).toBe(304);
    expect(await statusOf(`/files/${name}`, { "if-none-match": '"x"' })).toBe(200);
  });

  it("answers 404 in the OpenAI format for every other name", async () => {
    const input = await kept(gateway, store, { purpose: "input" });
    const underway = await kept(gateway, store, { bytes: 0 });
    const lost = await kept(gateway, store);
    await store.remove(lost);
    const names = [newFileName("video/mp4"), input, underway, lost, "", "%2e%2e%2fgateway.json"];
    for (const other of [...names, "..%2f..%2ftollgate.yaml", "a/b", "x%00.mp4"]) {
      const answer = await get(`/files/${other}`);
      expect([other, answer.status]).toEqual([other, 404]);
      expect(answer.headers.get("content-type")).toMatch("application/json");
      expect(answer.headers.get("content-disposition")).toBeNull();
      expect(await answer.json()).toMatchObject({
        error: { type: "not_found_error", code: "not_found", param: null },
      });
    }
    expect(await statusOf(`/files/${name}`, {}, "POST")).toBe(405);
  });

  it("STORE-02: answers 404 once the file has expired, and the file is removed from storage", async () => {
    const old = await kept(gateway, store, { expiresAt: new Date(clock.now() + 1000) });
    clock.advance(999);
    expect(await statusOf(`/files/${old}`)).toBe(200);
    clock.advance(1);
    expect(await statusOf(`/files/${old}`)).toBe(404);
    // The next round of the sweep removes the file.
    await expect.poll(names).not.toContain(old);
    expect(names()).toContain(name);
    // The sweep removes the row after its file.
    await expect.poll(() => findFile(gateway.database, old, new Date(0))).toBeUndefined();
  });
});

describe("a file of 100 MB", () => {
  let gateway: GatewayUnderTest;
  let name: string;
  beforeAll(async () => {
    gateway = await startTestGateway({ clock });
    const store = await openFileStore({ kind: "local" }, join(gateway.directory, "data"));
    const chunk = Buffer.alloc(1_000_000, 7);
    const content = Readable.from(Array.from({ length: 100 }, () => chunk));
    name = await kept(gateway, store, { content });
  });
  afterAll(() => gateway.close());

  /** The number of descriptors of the file in this process, in which the gateway runs. */
  const openFiles = (): number =>
    readdirSync("/proc/self/fd").filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).endsWith(name);
      } catch {
        return false;
      }
    }).length;

  it("is read at the pace of its caller, and closed when the caller disconnects", async () => {
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    socket.write(`GET /files/${name} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await once(socket, "readable");
    const before = process.memoryUsage();
    await sleep(1000);
    const after = process.memoryUsage();
    expect(openFiles()).toBe(1);
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(10_000_000);
    socket.destroy();
    await expect.poll(openFiles).toBe(0);
  });

  it("arrives completely", async () => {
    let received = 0;
    const { body } = await fetch(`${gateway.url}/files/${name}`);
    for await (const chunk of body!) received += chunk.length;
    expect(received).toBe(100_000_000);
  });
});
