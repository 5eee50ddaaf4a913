import { defineConfig } from "vitest/config";
import { isLong } from "./test/support/long.ts";
import { patienceMs } from "./test/support/patience.ts";

/** Suites of direct routes that hold through the canonical form too: they run a second time with conversion forced. */
const alsoForced = [
  "errors",
  "failover",
  "keep-alive",
  "responses",
  "routing",
  "stream",
  "stream-broken",
  "text",
  "usage",
].map((name) => `test/rows/${name}.test.ts`);

export default defineConfig({
  test: {
    // These end what hangs. What is merely slow must not meet them, on a machine of a third of the speed either.
    testTimeout: isLong ? 3_600_000 : 300_000,
    hookTimeout: isLong ? 600_000 : 300_000,
    // Most of what is waited for is there within 60 ms: the time for which a key keeps what it has set aside.
    expect: { poll: { timeout: patienceMs, interval: 15 } },
    pool: "forks",
    // Four for two cores, because tests also wait: with three, a sixth of the processor time was idle, and all took an eighth
    // longer. The files of a worker share its modules and its PostgreSQL server, which a third of the time went into.
    // In the long form one: what it measures is not to be disturbed.
    maxWorkers: isLong ? 1 : 4,
    isolate: false,
    // A worker's heap has a hundred megabytes of modules, and V8 marked all of it for each 64 MB of buffers that tests used. That
    // took a third of the processor time of tests with pictures. With these flags V8 waits until the heap with its buffers has grown
    // threefold, and keeps what it has compiled.
    execArgv: isLong
      ? []
      : [
          "--external-memory-accounted-in-global-limit",
          "--heap-growing-percent=200",
          "--no-flush-bytecode",
        ],
    // Modules are Node's own, as they are in a gateway: Vite's reach each other through objects, which takes a tenth of the time.
    experimental: { viteModuleRunner: false },
    setupFiles: [
      "test/support/own-memory.ts",
      "test/support/fuzz-seed.ts",
      "test/support/at-rest.ts",
    ],
    // Of ten thousand tests one may meet a moment it was not written for, on a machine that stands still: scripts/run-tests.mjs
    // runs its file once more. What looks for races in the ledger has one try (`retry: 0` of test/ledger/model).
    projects: [
      {
        extends: true,
        test: { name: "all", include: ["test/**/*.test.ts"] },
      },
      {
        extends: true,
        test: { name: "forced", include: alsoForced, env: { TOLLGATE_TEST_FORCED: "1" } },
      },
    ],
  },
});
