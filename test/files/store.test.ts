/** One suite for both kinds of file store, with S3 against a real server. docs/data.md. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shortOrLong } from "../support/long.ts";
import { eventually } from "../support/patience.ts";
import { temporaryDirectory } from "../support/postgres.ts";
import { startS3 } from "./s3-server.ts";
import {
  FileTooLargeError,
  isFileName,
  newFileName,
  openFileStore,
  type FileStore,
} from "../../src/files/index.ts";

const megabyte = 1024 * 1024;
/** More than one part: a bucket gets parts of 5 MB. */
const largeMb = shortOrLong(7, 20);
const options = { mediaType: "video/mp4", bytesMax: 64 * megabyte };

interface UnderTest {
  readonly store: FileStore;
  /** All files that the store keeps, complete or not. */
  kept(): string[];
  close(): Promise<void>;
}

async function local(): Promise<UnderTest> {
  const dataDir = temporaryDirectory();
  const store = await openFileStore({ kind: "local" }, dataDir);
  return { store, kept: () => readdirSync(join(dataDir, "files")), close: () => store.close() };
}

async function s3(): Promise<UnderTest> {
  const server = await startS3();
  const store = await openFileStore(server.options, "");
  return {
    store,
    kept: () => [...server.names(), ...server.unfinished()],
    async close() {
      await store.close();
      await server.close();
    },
  };
}

describe.each([
  ["local", local],
  ["s3", s3],
])("a file store (%s)", (_kind, start) => {
  let under: UnderTest;
  beforeAll(async () => {
    under = await start();
  });
  afterAll(() => under.close());

  it("STORE-01: stores and reads other files while many files are read slowly", async () => {
    const video = randomBytes(4 * megabyte);
    await under.store.put("watched.mp4", video, options);
    const watched = await Promise.all(
      Array.from({ length: 60 }, () => under.store.open("watched.mp4")),
    );
    await under.store.put("other.mp4", Buffer.from("another"), options);
    const other = await under.store.open("other.mp4");
    expect((await buffer(other!.stream)).toString()).toBe("another");
    const last = watched.pop()!;
    expect((await buffer(last.stream)).equals(video)).toBe(true);
    for (const file of watched) file!.stream.destroy();
    await Promise.all(["watched.mp4", "other.mp4"].map((name) => under.store.remove(name)));
  });

  const read = async (name: string, range?: { start: number; end: number }): Promise<Buffer> =>
    buffer((await under.store.open(name, range))!.stream);

  it.each([0, 1, 100_000, ...shortOrLong([], [8 * megabyte]), largeMb * megabyte + 7])(
    "returns %i bytes as they were stored",
    async (length) => {
      const bytes = randomBytes(length);
      const name = newFileName("video/mp4");
      const chunks = [bytes.subarray(0, 70_000), bytes.subarray(70_000)];
      expect(await under.store.put(name, Readable.from(chunks), options)).toEqual({
        bytes: length,
      });
      const file = await under.store.open(name);
      expect(file!.bytes).toBe(length);
      expect(bytes.equals(await buffer(file!.stream))).toBe(true);
      await under.store.remove(name);
    },
  );

  it("returns ranges with both ends included, and refuses those outside", async () => {
    const bytes = randomBytes(1000);
    await under.store.put("range.bin", Readable.from([bytes]), options);
    // The S3 server takes an end of 0 for no end; real ones do not. http.test.ts tests the first byte alone.
    for (const [start, end] of [
      [0, 1],
      [0, 999],
      [500, 998],
      [999, 999],
    ] as const) {
      const file = await under.store.open("range.bin", { start, end });
      expect(file!.bytes).toBe(end - start + 1);
      expect(await buffer(file!.stream)).toEqual(bytes.subarray(start, end + 1));
    }
    await expect(under.store.open("range.bin", { start: 1000, end: 1000 })).rejects.toThrow(
      RangeError,
    );
  });

  it("returns the size of a file without opening it, and undefined for a missing file", async () => {
    await under.store.put("sized.bin", Readable.from([randomBytes(1000)]), options);
    expect(await under.store.size("sized.bin")).toBe(1000);
    expect(await under.store.size("not-sized.bin")).toBeUndefined();
    await expect(under.store.size("../sized.bin")).rejects.toThrow("not a file name");
  });

  it("replaces an existing file", async () => {
    await under.store.put("twice.bin", Readable.from([Buffer.from("first")]), options);
    await under.store.put("twice.bin", Readable.from([Buffer.from("second")]), options);
    expect((await read("twice.bin")).toString()).toBe("second");
  });

  it("returns undefined for a missing file, and removes it without an error", async () => {
    expect(await under.store.open("absent.bin")).toBeUndefined();
    expect(await under.store.open("absent.bin", { start: 0, end: 1 })).toBeUndefined();
    await under.store.remove("absent.bin");
    await under.store.put("gone.bin", Readable.from([Buffer.from("x")]), options);
    await under.store.remove("gone.bin");
    expect(await under.store.open("gone.bin")).toBeUndefined();
  });

  it.each([1, largeMb])("keeps nothing of a source that breaks after %i MB", async (megabytes) => {
    const before = under.kept();
    async function* cut() {
      for (let sent = 0; sent < megabytes; sent += 1) yield Buffer.alloc(megabyte, 1);
      throw new Error("the source broke");
    }
    await expect(under.store.put("cut.bin", cut(), options)).rejects.toThrow("the source broke");
    expect(under.kept()).toEqual(before);
  });

  it.each([0, largeMb])(
    "ends an endless source at its limit of %i MB, and keeps nothing",
    async (megabytes) => {
      const before = under.kept();
      let sent = 0;
      let closed = false;
      async function* endless() {
        try {
          for (;;) {
            sent += megabyte;
            yield Buffer.alloc(megabyte, 1);
          }
        } finally {
          closed = true;
        }
      }
      const bytesMax = megabytes * megabyte + 10;
      await expect(
        under.store.put("endless.bin", endless(), { ...options, bytesMax }),
      ).rejects.toThrow(FileTooLargeError);
      expect(sent).toBeLessThanOrEqual((megabytes + 1) * megabyte);
      expect(closed).toBe(true);
      expect(under.kept()).toEqual(before);
    },
  );

  it("keeps the old file if storing a new one fails", async () => {
    await under.store.put("kept.bin", Readable.from([Buffer.from("old")]), options);
    async function* cut() {
      yield Buffer.from("ne");
      throw new Error("the source broke");
    }
    await expect(under.store.put("kept.bin", cut(), options)).rejects.toThrow("the source broke");
    expect((await read("kept.bin")).toString()).toBe("old");
  });

  it("releases a file that is not read to its end", async () => {
    await under.store.put("large.bin", Readable.from([Buffer.alloc(4 * megabyte)]), options);
    const { stream } = (await under.store.open("large.bin"))!;
    await once(stream, "readable");
    stream.destroy();
    await once(stream, "close");
    expect((await read("large.bin")).length).toBe(4 * megabyte);
  });

  it.each(["", ".", "..", "../x", "a/b", "a\\b", ".hidden", "a\0b", "x".repeat(129)])(
    "refuses a name that leads elsewhere: %j",
    async (name) => {
      expect(isFileName(name)).toBe(false);
      await expect(
        under.store.put(name, Readable.from([Buffer.from("x")]), options),
      ).rejects.toThrow("not a file name");
      await expect(under.store.open(name)).rejects.toThrow("not a file name");
      await expect((async () => under.store.remove(name))()).rejects.toThrow("not a file name");
    },
  );
});

it("an upload to a bucket sends one part at a time", async () => {
  const server = await startS3();
  const store = await openFileStore(server.options, "");
  async function* large() {
    for (let sent = 0; sent < shortOrLong(12, 30); sent += 1) yield Buffer.alloc(megabyte, sent);
  }
  await store.put("large.bin", large(), options);
  expect(server.largestBytes()).toBe(5 * megabyte);
  await store.close();
  await server.close();
});

it("file names have 128 random bits", () => {
  expect(newFileName("video/mp4")).toMatch(/^[0-9a-f]{32}\.mp4$/);
  const names = Array.from({ length: 1000 }, () => newFileName("image/png"));
  expect(new Set(names).size).toBe(1000);
});

/** The number of the pid namespace, which ends the names of half-written files. Empty except on Linux. */
const pidNamespaceHere = (): string =>
  process.platform === "linux" ? readlinkSync("/proc/self/ns/pid").replaceAll(/\D/g, "") : "";

it("a start removes the unfinished files of dead processes, and nothing else", async () => {
  const dataDir = temporaryDirectory();
  const directory = join(dataDir, "files");
  mkdirSync(directory);
  const host = hostname().replaceAll(/[^a-z0-9]/gi, "");
  const [dayOld, quarterOld] = [90_000, 900].map((seconds) => Date.now() / 1000 - seconds);
  const here = pidNamespaceHere();
  const parts = {
    "of a dead process": `.part-${host}-2147483646-aaaaaaaaaaaa-1-${here}`,
    "of an earlier process of our number": `.part-${host}-${process.pid}-aaaaaaaaaaaa-1-${here}`,
    "of a live process": `.part-${host}-${process.ppid}-aaaaaaaaaaaa-1-${here}`,
    "of another container, new": `.part-${host}-${process.pid}-aaaaaaaaaaaa-2-1${here}`,
    "of another container, old": `.part-${host}-2147483646-aaaaaaaaaaaa-3-1${here}`,
    "of another machine, new": `.part-elsewhere-1-aaaaaaaaaaaa-1-${here}`,
    "of another machine, old": `.part-elsewhere-1-aaaaaaaaaaaa-2-${here}`,
  };
  for (const name of [...Object.values(parts), "whole.mp4"])
    writeFileSync(join(directory, name), "x");
  const age = (name: string, seconds: number) =>
    utimesSync(join(directory, name), seconds, seconds);
  age(parts["of another machine, old"], dayOld!);
  age(parts["of another machine, new"], quarterOld!);
  age(parts["of another container, old"], quarterOld!);
  await openFileStore({ kind: "local" }, dataDir);
  expect(readdirSync(directory).sort()).toEqual(
    [
      parts["of a live process"],
      parts["of another container, new"],
      parts["of another machine, new"],
      "whole.mp4",
    ].sort(),
  );
});

it("the unfinished file of a killed process is removed by the next start", async () => {
  const dataDir = temporaryDirectory();
  const storage = new URL("../../src/files/index.ts", import.meta.url).href;
  const script = `
    import { openFileStore } from ${JSON.stringify(storage)};
    const store = await openFileStore({ kind: "local" }, ${JSON.stringify(dataDir)});
    async function* endless() {
      for (;;) { yield Buffer.alloc(100_000); await new Promise((r) => setTimeout(r, 5)); }
    }
    store.put("x.mp4", endless(), { mediaType: "video/mp4", bytesMax: 1e12 });
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script]);
  const kept = (): string[] => readdirSync(join(dataDir, "files"));
  const isWriting = () => existsSync(join(dataDir, "files")) && kept().length > 0;
  await eventually(isWriting, "a file that is written");
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(kept()).toEqual([expect.stringMatching(/^\.part-/)]);
  const store = await openFileStore({ kind: "local" }, dataDir);
  expect(kept()).toEqual([]);
  expect(await store.open("x.mp4")).toBeUndefined();
});

it("an unreachable bucket fails the upload and closes its source", async () => {
  const server = await startS3();
  await server.close();
  const store = await openFileStore(server.options, "");
  const source = Readable.from([Buffer.from("x"), Buffer.from("y")]);
  await expect(store.put("x.bin", source, options)).rejects.toThrow("ECONNREFUSED");
  expect(source.destroyed).toBe(true);
  await store.close();
});

it("STORE-01: the size of a file that cannot be opened is an error too, so that HEAD and GET agree", async () => {
  const dataDir = temporaryDirectory();
  const store = await openFileStore({ kind: "local" }, dataDir);
  // A socket exists, but no process can open it as a file.
  const socket = createServer().listen(join(dataDir, "files", "socket.bin"));
  await once(socket, "listening");
  await expect(store.open("socket.bin")).rejects.toThrow("ENXIO");
  await expect(store.size("socket.bin")).rejects.toThrow("ENXIO");
  socket.close();
  await store.close();
});
