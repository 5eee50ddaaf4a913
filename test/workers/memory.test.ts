/** The limits that apply with little memory, and the memory options that Node gets. docs/load.md "Bodies and memory". */
import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { expect, it } from "vitest";
import { ByteBudget } from "../../src/base/byte-budget.ts";
import { defaultSettings } from "../../src/catalog/index.ts";
import { workersWanted } from "../../src/cli/workers/count.ts";
import { memoryNeeded, memoryOfEach } from "../../src/cli/workers/memory.ts";
import { shareOf } from "../../src/cli/workers/share.ts";

const becomeNode = new URL("../../scripts/become-node.mjs", import.meta.url).href;
const { heapFlags, roomFlagsFor, roomVariablesFor } = (await import(becomeNode)) as {
  readonly heapFlags: readonly string[];
  readonly roomFlagsFor: (bytes: number, nodeOptions?: string) => readonly string[];
  readonly roomVariablesFor: (bytes: number) => object;
};

const mebibyte = 1024 * 1024;
const { limits } = defaultSettings;
const alone = { count: 1, databaseUrl: undefined };

/** In megabytes: the largest body, the largest body of a text call, and all bodies in flight. */
const sizesIn = (megabytes: number, of = limits, sharing = alone) => {
  const each = memoryOfEach(sharing, megabytes * mebibyte);
  const { bodyBytes, textBodyBytes, bodiesUnderWayBytes } = shareOf(of, sharing.count, each);
  return [bodyBytes, textBodyBytes, bodiesUnderWayBytes].map((bytes) =>
    Math.floor(bytes / mebibyte),
  );
};

it.each([
  [256, [12, 9, 16]],
  [512, [31, 24, 41]],
  [1024, [64, 32, 114]],
  [2048, [64, 32, 256]],
  [65_536, [64, 32, 256]],
])("%i MB of memory give these limits in MB: %j", (megabytes, sizes) => {
  expect(sizesIn(megabytes)).toEqual(sizes);
});

it.each([
  [64, 1, 64],
  [512, 1, 1_205],
  [2_048, 1, 5_301],
  [2_048, 2, 2_517],
  [65_536, 1, undefined],
  [65_536, 4, 5_000],
])("in %i MB, each of %i processes takes %s connections", (megabytes, count, expected) => {
  const each = memoryOfEach({ count, databaseUrl: undefined }, megabytes * mebibyte);
  expect(shareOf(limits, count, each).connections.total).toBe(expected);
});

it("a configured number of connections is kept, whatever the memory", () => {
  const set = { ...limits, connections: { ...limits.connections, total: 9_000 } };
  expect(shareOf(set, 1, 200 * mebibyte).connections.total).toBe(9_000);
});

it("everything fits into the memory, and the largest body into the limit of bytes in flight", () => {
  for (let megabytes = 340; megabytes < 8_192; megabytes += 61)
    for (const count of [1, 2, 4]) {
      const sharing = { count, databaseUrl: undefined };
      const bytes = Math.max(megabytes, 340 * count) * mebibyte;
      const share = shareOf(limits, count, memoryOfEach(sharing, bytes));
      expect(memoryNeeded(sharing, share.bodiesUnderWayBytes)).toBeLessThanOrEqual(
        Math.max(bytes, memoryNeeded(sharing, 16 * mebibyte)),
      );
      const budget = new ByteBudget(share.bodiesUnderWayBytes);
      expect(budget.fits(share.bodyBytes, share.bodyBytes)).toBe(true);
    }
});

it("configured limits are kept, and there is room for a body of the configured size", () => {
  const { isSet } = limits;
  const budget = { ...limits, isSet: { ...isSet, bodiesUnderWayBytes: true } };
  expect(sizesIn(512, budget)).toEqual([64, 32, 256]);
  const body = { ...limits, isSet: { ...isSet, bodyBytes: true } };
  expect(sizesIn(512, body)).toEqual([64, 24, 85]);
  const text = { ...limits, isSet: { ...isSet, textBodyBytes: true } };
  expect(sizesIn(512, text)).toEqual([32, 32, 42]);
});

it("the default number of workers is one per gigabyte, at most one per core", () => {
  const server = { workers: undefined, databaseUrl: "postgresql://db.example/tollgate" };
  expect(workersWanted(server, 512 * mebibyte)).toBe(1);
  expect(workersWanted(server, 2_047 * mebibyte)).toBe(1);
  expect(workersWanted(server, 1_024 ** 4)).toBe(availableParallelism());
  expect(workersWanted({ ...server, workers: 4 }, 512 * mebibyte)).toBe(4);
});

it.each([
  [512, ["--max-semi-space-size=8", "--max-old-space-size=192"]],
  [1024, ["--max-semi-space-size=16", "--max-old-space-size=384"]],
  [2048, ["--max-semi-space-size=64"]],
])("with %i MB Node gets flags for its heap", (megabytes, flags) => {
  expect(roomFlagsFor(megabytes * mebibyte)).toEqual(flags);
});

it("heap flags in NODE_OPTIONS are not overridden", () => {
  const [young] = roomFlagsFor(512 * mebibyte);
  expect(roomFlagsFor(512 * mebibyte, "--max_old_space_size=300")).toEqual([young]);
  expect(roomFlagsFor(2 ** 40, "--max-semi-space-size=16")).toEqual([]);
});

it("objects are allocated in the young generation, even of kinds that lived long", () => {
  const code = `const make = () => ({ parts: [1, 2, 3] });
    const kept = [];
    for (let count = 0; count < 1_000_000; count += 1) kept[count % 300_000] = make();
    console.log(%InYoungGeneration(make()));`;
  const flags = ["--allow-natives-syntax", ...heapFlags, "--max-semi-space-size=1", "-e", code];
  const { stdout, stderr } = spawnSync(process.execPath, flags, { encoding: "utf8" });
  expect([stdout, stderr]).toEqual(["true\n", ""]);
});

it("freed buffers are returned to the system at once if memory is scarce, and only then", () => {
  expect(roomVariablesFor(512 * mebibyte)).toHaveProperty("MALLOC_MMAP_THRESHOLD_");
  expect(roomVariablesFor(2_048 * mebibyte)).toEqual({});
});
