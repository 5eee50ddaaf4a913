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
    expect: { poll: { timeout: patienceMs } },
    pool: "forks",
    // Three for two cores: tests also wait. The files of a worker share its modules and its PostgreSQL server, which a
    // third of the time went into.
    // In the long form one: what it measures is not to be disturbed.
    maxWorkers: isLong ? 1 : 3,
    isolate: false,
    setupFiles: ["test/support/fuzz-seed.ts"],
    projects: [
      { extends: true, test: { name: "all", include: ["test/**/*.test.ts"] } },
      {
        extends: true,
        test: { name: "forced", include: alsoForced, env: { TOLLGATE_TEST_FORCED: "1" } },
      },
    ],
  },
});
