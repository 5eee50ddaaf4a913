import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    setupFiles: ["test/support/fuzz-seed.ts"],
    include: ["test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
  },
});
