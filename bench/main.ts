/** `npm run bench`: see `--help`; docs/performance.md says what is measured and how. */
import { writeFileSync } from "node:fs";
import { printHttpSavings } from "./http/report.ts";
import { httpScenarios, measureHttp } from "./http/run.ts";
import { help, readOptions, type BenchOptions } from "./options.ts";
import { printOverload } from "./overload/report.ts";
import { measureOverload } from "./overload/run.ts";
import type { Report } from "./report/shown.ts";
import { textReport } from "./report/table.ts";
import { writeDocs } from "./report/write-docs.ts";
import { root, runBench } from "./run.ts";
import { chooseScenarios, groups, scenarios } from "./scenarios.ts";
import { printTracingCost } from "./tracing/report.ts";
import { measureTracing, tracingScenarios } from "./tracing/run.ts";

function list(): void {
  for (const group of groups) {
    console.log(`\n${group.name}: ${group.title}`);
    for (const one of scenarios.filter(({ group: name }) => name === group.name))
      console.log(`  ${one.name.padEnd(24)}${one.title}`);
  }
}

/** Measures, prints the result and returns the report. */
async function measure(options: BenchOptions, signal: AbortSignal): Promise<Report> {
  if (options.http) {
    const report = await measureHttp(options, httpScenarios(options.scenarios), signal);
    printHttpSavings(report);
    return report;
  }
  if (options.tracing) {
    const report = await measureTracing(options, tracingScenarios(options.scenarios), signal);
    printTracingCost(report);
    return report;
  }
  const report = await runBench(options, chooseScenarios(options.scenarios), signal);
  console.log(textReport(report));
  if (options.docs) writeDocs(root, report);
  return report;
}

/** The exit code: 1 if a call was neither answered nor refused. */
async function overload(options: BenchOptions, signal: AbortSignal): Promise<number> {
  const {
    seconds,
    scenarios: [scenario = "many@128"],
  } = options;
  const report = await measureOverload({ seconds, scenario }, signal);
  printOverload(report);
  if (options.json !== undefined)
    writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
  return report.overload.failures + report.after.failures === 0 ? 0 : 1;
}

/** The exit code: 1 if answers were wrong. */
async function main(options: BenchOptions): Promise<number> {
  if (options.help) {
    console.log(help);
    return 0;
  }
  if (options.list) {
    list();
    return 0;
  }
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => stopping.abort(new Error("stopped")));
  if (options.overload) return overload(options, stopping.signal);
  const report = await measure(options, stopping.signal);
  if (options.json !== undefined)
    writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
  const failures = report.rows.reduce((sum, row) => sum + row.failures, 0);
  if (failures === 0) return 0;
  console.error(`\nbench: ${failures} answers were not as asked: the figures do not count`);
  return 1;
}

try {
  process.exitCode = await main(readOptions(process.argv.slice(2)));
} catch (error) {
  console.error(`bench: ${(error as Error).message}`);
  process.exitCode = 1;
}
