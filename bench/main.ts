/** `npm run bench`: see `--help`, and docs/performance.md for what is measured and how. */
import { writeFileSync } from "node:fs";
import { chooseScenarios, groups, scenarios } from "./scenarios.ts";
import { help, readOptions, type BenchOptions } from "./options.ts";
import { runBench } from "./run.ts";
import { jsonReport } from "./report/json.ts";
import { textReport } from "./report/table.ts";

/** What came of it, for the process's exit code. */
async function main(options: BenchOptions): Promise<number> {
  if (options.help) {
    console.log(help);
    return 0;
  }
  if (options.list) {
    for (const group of groups) {
      console.log(`\n${group.name}: ${group.title}`);
      for (const one of scenarios.filter(({ group: name }) => name === group.name))
        console.log(`  ${one.name.padEnd(24)}${one.title}`);
    }
    return 0;
  }
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => stopping.abort(new Error("stopped")));
  const report = await runBench(options, chooseScenarios(options.scenarios), stopping.signal);
  console.log(textReport(report));
  if (options.json !== undefined) writeFileSync(options.json, jsonReport(report));
  const failures = report.rows
    .flatMap(({ rounds }) => rounds)
    .reduce((sum, round) => sum + round.failures, 0);
  if (failures > 0)
    console.error(`\n${failures} answers were not as asked: the figures do not count`);
  return failures > 0 ? 1 : 0;
}

try {
  process.exitCode = await main(readOptions(process.argv.slice(2)));
} catch (error) {
  console.error(`bench: ${(error as Error).message}`);
  process.exitCode = 1;
}
