/** The vitest configuration of `npm run mutants`: one process, mutants compiled into the source, and our own runner. */
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { defineConfig } from "vitest/config";
import { jobVariable, type Job } from "./job.ts";
import { weave } from "./weave.ts";

const job = JSON.parse(readFileSync(process.env[jobVariable]!, "utf8")) as Job;

const switchesIn = (id: string) => job.switches[relative(job.root, id).replaceAll("\\", "/")];

export default defineConfig({
  plugins: [
    {
      name: "mutants",
      enforce: "pre",
      // vitest caches transformed files between runs, by the text of the file only.
      configureVitest: ({ defineCacheKeyGenerator }) =>
        defineCacheKeyGenerator(({ id }) => (switchesIn(id) === undefined ? undefined : false)),
      transform(_code, id) {
        const found = switchesIn(id);
        return found === undefined ? null : { code: weave(found.text, found.mutants), map: null };
      },
    },
  ],
  test: {
    root: job.root,
    include: [...job.files],
    runner: "scripts/mutants/runner.ts",
    setupFiles: ["test/support/fuzz-seed.ts"],
    pool: "forks",
    maxWorkers: 1,
    isolate: false,
    retry: 0,
    reporters: [{}],
    // Shorter timeouts: a test that a mutant blocks need not wait as long as on a slow machine.
    testTimeout: job.trials ? 20_000 : 120_000,
    hookTimeout: job.trials ? 20_000 : 120_000,
    expect: { poll: { timeout: 5_000, interval: 15 } },
    env: { TOLLGATE_TEST_PATIENCE_MS: "5000", TOLLGATE_TEST_HISTORIES: "60" },
  },
});
