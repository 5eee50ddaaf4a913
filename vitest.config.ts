import { defineConfig } from "vitest/config";

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
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: "forks",
    // Three for two cores: tests also wait. The files of a worker share its modules and its PostgreSQL server, which a
    // third of the time went into.
    maxWorkers: 3,
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
