/**
 * `GET /files/{name}?width=`: small copies of produced pictures. Each is made once, and removed with its picture. Rows
 * STORE-02, STORE-05.
 */
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { crc32 } from "node:zlib";
import sharp, { type Sharp } from "sharp";
import { afterAll, beforeAll, expect, it } from "vitest";
import { manualClock } from "../support/manual-clock.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { recordResult } from "./kept.ts";
import { ByteBudget } from "../../src/base/byte-budget.ts";
import {
  createThumbnails,
  findFile,
  newFileName,
  openFileStore,
  sweepFiles,
  type FileRow,
  type FileStore,
} from "../../src/files/index.ts";

const clock = manualClock(Date.now());
const dayMs = 86_400_000;
let gateway: GatewayUnderTest;
let store: FileStore;
beforeAll(async () => {
  gateway = await startTestGateway({ clock });
  store = await openFileStore({ kind: "local" }, join(gateway.directory, "data"));
});
afterAll(async () => {
  await store.close();
  await gateway.close();
});

async function keep(content: Buffer, changes: Partial<FileRow> = {}): Promise<string> {
  const mediaType = changes.mediaType ?? "image/png";
  const name = newFileName(mediaType);
  await store.put(name, Readable.from([content]), { mediaType, bytesMax: 1e9 });
  await recordResult(gateway, { name, mediaType, bytes: content.length, ...changes }, clock.now());
  return name;
}

const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: "#3f7d6b" } })
    .png()
    .toBuffer();
const get = async (path: string, init: RequestInit = {}) => {
  const answer = await fetch(`${gateway.url}/files/${path}`, init);
  return { status: answer.status, headers: answer.headers, bytes: await answer.bytes() };
};
const files = () => readdirSync(join(gateway.directory, "data/files")).sort();

it("a picture has copies in three widths, each made once for many requests, and read like any file", async () => {
  const name = await keep(await picture(1200, 800));
  const before = files();
  const answers = await Promise.all(Array.from({ length: 20 }, () => get(`${name}?width=320`)));
  const [first] = answers;
  for (const { status, bytes, headers } of answers) {
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("image/webp");
    expect(Buffer.from(bytes).equals(first!.bytes)).toBe(true);
  }
  expect(files()).toHaveLength(before.length + 1);
  expect(await sharp(first!.bytes).metadata()).toMatchObject({ width: 320, height: 213 });
  for (const width of [160, 640]) {
    const { bytes } = await get(`${name}?width=${width}`);
    expect(await sharp(bytes).metadata()).toMatchObject({ width });
  }
  expect(files()).toHaveLength(before.length + 3);
  const etag = first!.headers.get("etag")!;
  expect(etag).not.toContain(name.slice(0, 32));
  const again = await get(`${name}?width=320`, { headers: { "if-none-match": etag } });
  expect([again.status, again.bytes.length]).toEqual([304, 0]);
  const part = await get(`${name}?width=320`, { headers: { range: "bytes=0-3" } });
  expect([part.status, Buffer.from(part.bytes).toString()]).toEqual([206, "RIFF"]);
  // A copy has no address of its own.
  expect((await get(JSON.parse(etag) as string)).status).toBe(404);
  const whole = await get(name);
  expect(whole.headers.get("content-type")).toBe("image/png");
});

it("STORE-02: a picture that was replaced by another one has no copy", async () => {
  const name = await keep(await picture(40, 30));
  writeFileSync(join(gateway.directory, "data/files", name), await picture(80, 60));
  const before = files();
  expect([await get(name), await get(`${name}?width=160`)]).toMatchObject([
    { status: 404 },
    { status: 404 },
  ]);
  expect(files()).toEqual(before);
});

it("making a copy counts towards the memory budget of bodies, with a sixth of the decoded size", async () => {
  const content = await plainPicture(1_000).webp({ lossless: true, effort: 0 }).toBuffer();
  const { database } = gateway;
  const row = (await findFile(database, await keep(content), new Date(clock.now())))!;
  const open = () => Promise.resolve({ stream: Readable.from([content]), bytes: content.length });
  const small = (budget: ByteBudget) =>
    createThumbnails({ budget, database, files: store, openWhole: open, clock }).of(row, 160);
  // Decoding takes 4 MB.
  const needed = content.length + 4_000_000 / 6;
  const tight = new ByteBudget((needed - 1_000) / 0.75);
  await expect(small(tight)).rejects.toMatchObject({ code: "invalid_value" });
  const busy = new ByteBudget((needed + 1_000) / 0.75);
  const others = busy.lease();
  others.take(10_000);
  await expect(small(busy)).rejects.toMatchObject({ code: "overloaded" });
  others.release();
  expect((await small(busy)).bytes).toBeGreaterThan(0);
  expect([tight.heldBytes, busy.heldBytes]).toEqual([0, 0]);
});

const plainPicture = (width: number) =>
  sharp({ create: { width, height: width, channels: 4, background: "#3f7d6b80" } });

it.each([
  // 8 bytes a pixel: 141 MB.
  ["interlaced PNG", 4_200, (one: Sharp) => one.toColourspace("rgb16").png({ progressive: true })],
  // 4 bytes a pixel: 144 MB.
  ["lossless WebP", 6_000, (one: Sharp) => one.webp({ lossless: true, effort: 0 })],
])(
  "%s, which is decoded in memory as a whole, is refused if it is large",
  async (_kind, width, made) => {
    const large = await keep(await made(plainPicture(width)).toBuffer());
    const small = await keep(await made(plainPicture(500)).toBuffer());
    expect((await get(`${large}?width=160`)).status).toBe(400);
    expect((await get(`${small}?width=160`)).status).toBe(200);
  },
);

it("a narrower picture keeps its size; other widths, videos, bombs and invalid pictures are refused and leave nothing", async () => {
  const small = await keep(await picture(100, 50));
  const { bytes } = await get(`${small}?width=640`);
  expect(await sharp(bytes).metadata()).toMatchObject({ width: 100, height: 50 });
  const plain = await picture(10, 10);
  // A header that claims more than a billion pixels.
  const bomb = Buffer.from(plain);
  bomb.writeUInt32BE(40_000, 16);
  bomb.writeUInt32BE(40_000, 20);
  bomb.writeUInt32BE(crc32(bomb.subarray(12, 29)), 29);
  const refused = [
    [await keep(bomb), 320],
    [
      await keep(Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'><image href='/etc/passwd'")),
      320,
    ],
    [await keep(plain.subarray(0, 40)), 320],
    [await keep(plain, { mediaType: "video/mp4" }), 320],
    [small, 321],
    [small, ""],
  ] as const;
  const { bytes: other } = await get(`${small}?width=321`);
  expect(Buffer.from(other).toString()).toContain("`width` must be 160, 320 or 640.");
  const before = files();
  for (const [name, width] of refused) {
    const answer = await get(`${name}?width=${width}`);
    expect({ width, status: answer.status, text: Buffer.from(answer.bytes).toString() }).toEqual({
      width,
      status: 400,
      text: expect.stringContaining('"param":"width"') as string,
    });
  }
  expect(files()).toEqual(before);
  const input = await keep(plain, { purpose: "input" });
  expect((await get(`${input}?width=160`)).status).toBe(404);
  expect((await get(`${"0".repeat(32)}.png?width=160`)).status).toBe(404);
});

it("a copy expires with its picture", async () => {
  const name = await keep(await picture(700, 700));
  expect((await get(`${name}?width=160`)).status).toBe(200);
  clock.advance(dayMs + 1_000);
  expect((await get(`${name}?width=160`)).status).toBe(404);
  await sweepFiles(gateway.database, store, new Date(clock.now()));
  await expect.poll(files).toEqual([]);
  expect(await gateway.database.query("select name from files", [])).toEqual([]);
});

it("STORE-02: a picture that cannot be read fails only its own request", async () => {
  const name = await keep(await picture(700, 700));
  const path = join(gateway.directory, "data/files", name);
  // The file opens and has its size, but its first read fails, like on a broken disk.
  rmSync(path);
  mkdirSync(path);
  await gateway.database.query("update files set bytes = $2 where name = $1", [
    name,
    statSync(path).size,
  ]);
  for (const width of [160, 320, 640])
    expect((await get(`${name}?width=${width}`)).status).toBe(500);
  rmSync(path, { recursive: true });
  const other = await keep(await picture(10, 10));
  expect((await get(`${other}?width=160`)).status).toBe(200);
});

it("STORE-02: a bucket that stalls or closes early does not block copies of other pictures", async () => {
  const whole = await picture(50, 50);
  const bad: readonly [what: string, stream: () => Readable][] = [
    ["silent", () => new Readable({ read: () => undefined })],
    [
      "closed",
      () => {
        const stream = new Readable({ read: () => void setImmediate(() => stream.destroy()) });
        return stream;
      },
    ],
  ];
  for (const [what, stream] of bad) {
    let isBad = true;
    const open = () =>
      Promise.resolve({ stream: isBad ? stream() : Readable.from([whole]), bytes: 1 });
    const { database } = gateway;
    const thumbnails = createThumbnails({
      budget: new ByteBudget(2 ** 28),
      database,
      files: store,
      openWhole: open,
      clock,
      readMs: 100,
    });
    const rows = await Promise.all(
      ["1", "2", "3"].map(async () => {
        const kept = await keep(whole);
        return (await findFile(database, kept, new Date(clock.now())))!;
      }),
    );
    const made = await Promise.allSettled(rows.map((row) => thumbnails.of(row, 160)));
    expect([what, ...made.map(({ status }) => status)]).toEqual([
      what,
      "rejected",
      "rejected",
      "rejected",
    ]);
    isBad = false;
    expect((await thumbnails.of(rows[0]!, 160)).bytes).toBeGreaterThan(0);
  }
});

it("a copy that is never finished is waited for no longer than a minute, and others are still made", async () => {
  const whole = await picture(50, 50);
  const stuck = await keep(whole);
  const free = await keep(whole);
  const { database } = gateway;
  const thumbnails = createThumbnails({
    budget: new ByteBudget(2 ** 28),
    database,
    files: store,
    openWhole: ({ name }) =>
      name === stuck
        ? new Promise(() => undefined)
        : Promise.resolve({ stream: Readable.from([whole]), bytes: whole.length }),
    clock,
    waitMs: 2_000,
  });
  const rowOf = async (name: string) => (await findFile(database, name, new Date(clock.now())))!;
  const row = await rowOf(stuck);
  const waiting = [thumbnails.of(row, 160), thumbnails.of(row, 160)];
  expect((await thumbnails.of(await rowOf(free), 160)).bytes).toBeGreaterThan(0);
  expect(await Promise.allSettled(waiting)).toMatchObject([
    { status: "rejected", reason: { code: "overloaded", retryAfterSeconds: expect.any(Number) } },
    { status: "rejected", reason: { code: "overloaded" } },
  ]);
});

it("STORE-05: a copy that is made while its picture is deleted does not stay", async () => {
  const whole = await picture(50, 50);
  const name = await keep(whole);
  const { database } = gateway;
  const row = (await findFile(database, name, new Date(clock.now())))!;
  const copies = () => database.query("select name from files where purpose = 'thumbnail'", []);
  const before = await copies();
  const thumbnails = createThumbnails({
    budget: new ByteBudget(2 ** 28),
    database,
    files: store,
    // The picture is deleted while it is read, as by an erasure.
    openWhole: async () => {
      await database.query("update files set expires_at = $2 where name = $1", [
        name,
        new Date(clock.now()),
      ]);
      return { stream: Readable.from([whole]), bytes: whole.length };
    },
    clock,
  });
  await expect(thumbnails.of(row, 160)).rejects.toMatchObject({ code: "not_found" });
  await sweepFiles(database, store, new Date(clock.now()));
  expect(await copies()).toEqual(before);
});
