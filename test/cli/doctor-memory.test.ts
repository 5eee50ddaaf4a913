/** What `tollgate doctor` says of memory. docs/operate.md "Bodies and memory". */
import { totalmem } from "node:os";
import { expect, it } from "vitest";
import { defaultSettings } from "../../src/catalog/index.ts";
import { checkMemory, memoryHere } from "../../src/cli/doctor/memory.ts";

const megabytes = 1024 * 1024;
const { limits } = defaultSettings;
/** What docs/operate.md gives a container of 512 MB. */
const small = { ...limits, bodyBytes: 16 * megabytes, bodiesUnderWayBytes: 48 * megabytes };
const embedded = { workers: undefined, databaseUrl: undefined };
const server = (workers: number) => ({ workers, databaseUrl: "postgresql://db.example/tollgate" });

it.each([
  ["512 MB with the defaults", { ...embedded, limits, memory: 512, status: "warning" }],
  ["512 MB with the limits of the page", { ...embedded, limits: small, memory: 512, status: "ok" }],
  ["1 GB with the defaults", { ...embedded, limits, memory: 1024, status: "ok" }],
  ["1 GB for two processes", { ...server(2), limits, memory: 1024, status: "warning" }],
  ["2 GB for two processes", { ...server(2), limits, memory: 2048, status: "ok" }],
])("%s", (_words, { memory, status, limits: those, ...environment }) => {
  const found = checkMemory(environment, those, memory * megabytes);
  expect(found).toMatchObject({ check: "memory", status });
  expect(found.message).toMatch(new RegExp(`^${memory} MB; `));
});

it("what is looked at is the container's share, never more than the machine has", () => {
  expect(memoryHere()).toBeGreaterThan(0);
  expect(memoryHere()).toBeLessThanOrEqual(totalmem());
});
