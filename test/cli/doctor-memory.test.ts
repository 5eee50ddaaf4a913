/** `tollgate doctor` on memory. docs/load.md "Bodies and memory". */
import { totalmem } from "node:os";
import { expect, it } from "vitest";
import { defaultSettings } from "../../src/catalog/index.ts";
import { checkMemory } from "../../src/cli/doctor/memory.ts";
import { memoryHere } from "../../src/cli/workers/memory.ts";

const megabytes = 1024 * 1024;
const { limits } = defaultSettings;
const { isSet } = limits;
/** Limits from a file that was written for a larger machine. */
const asSet = { ...limits, isSet: { ...isSet, bodiesUnderWayBytes: true } };
const largeBody = { ...limits, isSet: { ...isSet, bodyBytes: true } };
const embedded = { workers: undefined, databaseUrl: undefined };
const server = (workers: number) => ({ workers, databaseUrl: "postgresql://db.example/tollgate" });

it.each([
  ["256 MB are too little", { ...embedded, limits, memory: 256, status: "warning" }],
  ["512 MB with the defaults", { ...embedded, limits, memory: 512, status: "ok" }],
  [
    "512 MB with a budget that the file sets",
    { ...embedded, limits: asSet, memory: 512, status: "warning" },
  ],
  [
    "512 MB with a size of body that the file sets",
    { ...embedded, limits: largeBody, memory: 512, status: "warning" },
  ],
  [
    "1 GB with a budget that the file sets",
    { ...embedded, limits: asSet, memory: 1024, status: "warning" },
  ],
  [
    "2 GB with a budget that the file sets",
    { ...embedded, limits: asSet, memory: 2048, status: "ok" },
  ],
  ["1 GB for two processes", { ...server(2), limits, memory: 1024, status: "ok" }],
  ["512 MB for four processes", { ...server(4), limits, memory: 512, status: "warning" }],
])(
  "memory is judged by limits and processes: %s",
  (_words, { memory, status, limits: those, ...environment }) => {
    const found = checkMemory(environment, those, memory * megabytes);
    expect(found).toMatchObject({ check: "memory", status });
    expect(found.message).toMatch(new RegExp(`^${memory} MB; `));
  },
);

it("the memory checked is the container's share, at most that of the machine", () => {
  expect(memoryHere()).toBeGreaterThan(0);
  expect(memoryHere()).toBeLessThanOrEqual(totalmem());
});
