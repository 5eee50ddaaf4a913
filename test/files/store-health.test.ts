/** When a store counts as failing and when as recovered, for every kind of store. docs/data.md "When files cannot be kept". */
import { expect, it, onTestFinished } from "vitest";
import { watchFiles, type FileStore, type WatchedFiles } from "../../src/files/index.ts";
import { eventually } from "../support/patience.ts";

const options = { mediaType: "image/png", bytesMax: 10 };
const everyMs = 2;
const refused = (code: string): Error => Object.assign(new Error(code), { code });

/** A store in memory. The test can replace parts of it while it is watched. */
function start(own: Partial<FileStore> = {}) {
  const kept = new Set<string>();
  const logged: string[] = [];
  const parts: { -readonly [Name in keyof FileStore]: FileStore[Name] } = {
    heldBytes: 0,
    put: (name) => Promise.resolve(void kept.add(name)).then(() => ({ bytes: 0 })),
    open: () => Promise.resolve(undefined),
    size: () => Promise.resolve(undefined),
    remove: (name) => Promise.resolve(void kept.delete(name)),
    close: () => Promise.resolve(),
    ...own,
  };
  const store: FileStore = {
    ...parts,
    put: (...given) => parts.put(...given),
    remove: (name) => parts.remove(name),
    look: () => parts.look?.() ?? Promise.resolve(),
  };
  const say = (_fields: object, message: string): void => void logged.push(message);
  const files = watchFiles(store, { log: { info: say, error: say }, place: "here", everyMs });
  onTestFinished(() => files.close());
  return { files, parts, kept, logged };
}

const put = (files: WatchedFiles) => files.put("one.png", Buffer.alloc(1), options);

/** Waits until the gateway has checked the store a few more times. */
async function afterChecks(parts: { look?: FileStore["look"] }): Promise<void> {
  let looks = 0;
  const { look } = parts;
  parts.look = () => {
    looks += 1;
    return look?.() ?? Promise.resolve();
  };
  await eventually(() => looks > 3, "some looks");
}

it("a bucket that refuses removal recovers once it takes files, with one probe file for all tries", async () => {
  const works = start().parts.put;
  const { files, parts, kept } = start({
    put: () => Promise.reject(refused("ECONNREFUSED")),
    remove: () => Promise.reject(refused("AccessDenied")),
  });
  await expect(put(files)).rejects.toMatchObject({ code: "storage_unavailable" });
  let tries = 0;
  parts.put = (name, ...rest) => {
    kept.add(name);
    tries += 1;
    return tries < 3 ? Promise.reject(refused("ECONNRESET")) : works(name, ...rest);
  };
  await eventually(() => files.failure === undefined, "a store that takes files");
  expect(tries).toBeGreaterThanOrEqual(3);
  expect([...kept]).toEqual([expect.stringMatching(/^probe-/)]);
});

it("a disk that reports no space but takes files refuses no call", async () => {
  const { files, parts, logged } = start({ look: () => Promise.reject(refused("ENOSPC")) });
  await afterChecks(parts);
  expect(files.failure).toBeUndefined();
  await expect(put(files)).resolves.toEqual({ bytes: 0 });
  expect(logged).toEqual([]);
});

it("a check that began before a failure does not mark the store as recovered", async () => {
  const checkHeld = Promise.withResolvers<void>();
  let isLooking = false;
  const { files, parts, logged } = start({
    look() {
      isLooking = true;
      return checkHeld.promise;
    },
    put: () => Promise.reject(refused("EIO")),
  });
  await eventually(() => isLooking, "a look");
  await expect(put(files)).rejects.toMatchObject({ code: "storage_unavailable" });
  let isTried = false;
  parts.put = () => {
    isTried = true;
    return Promise.reject(refused("EIO"));
  };
  checkHeld.resolve();
  await eventually(() => isTried || files.failure === undefined, "a try");
  expect(files.failure).toBeDefined();
  expect(logged).not.toContain("files can be kept again");
});

it("the same error is logged once a minute, however often it occurs; a different error at once", async () => {
  const { files, parts, logged } = start({
    put: () => Promise.reject(refused("ECONNREFUSED")),
    open: () => Promise.reject(refused("ECONNREFUSED")),
  });
  const meet = async () => {
    await expect(put(files)).rejects.toMatchObject({ code: "storage_unavailable" });
    await expect(files.open("one.png")).rejects.toMatchObject({ code: "storage_unavailable" });
  };
  await meet();
  const [kept, read] = [
    expect.stringMatching(/^files cannot be kept/),
    expect.stringMatching(/^a file cannot be read/),
  ];
  expect(logged).toEqual([kept, read]);
  await meet();
  expect(logged).toEqual([kept, read]);
  parts.put = () => Promise.reject(refused("AccessDenied"));
  await expect(put(files)).rejects.toMatchObject({ code: "storage_unavailable" });
  expect(logged).toEqual([kept, read, kept]);
});
