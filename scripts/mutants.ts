/** `npm run mutants`: checks whether the tests notice a changed operator, condition or returned value. CONTRIBUTING.md. */
import { globSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { keepResults, knownKilled, mark, resultsPath } from "./mutants/results.ts";
import { findReachingTests, switchesOf, tryAll, type Fate } from "./mutants/run.ts";
import { sampleOf } from "./mutants/sample.ts";
import { oneLine } from "./mutants/sites.ts";
import { suites } from "./mutants/suites.ts";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const help = `npm run mutants -- [FOLDER ...] [options]

Changes operators, conditions and returned values of src one at a time, and runs the tests that reach each.
Takes a fixed sample per folder, and all mutants of files with money: ${Object.keys(suites).join(", ")} (default: all).
Writes docs/mutants.json after each mutant; \`npm run docs\` then writes docs/mutants.md.

  --open            only mutants that were not killed the last time
  --match TEXT      only mutants whose name (file, line of code, change) contains this; may be given again
  --tests GLOB      only these test files (may be given again); what lives in them keeps what is known of it
  --processes N     how many run at a time (default 2)
  --seconds N       how long the tests of one mutant may take in all (default 20); more on a busy machine
  --results FILE    keeps the results there (default docs/mutants.json)
  --list            lists the sample and runs nothing
  --verbose         names what killed each
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: "boolean", default: false },
    open: { type: "boolean", default: false },
    match: { type: "string", multiple: true, default: [""] },
    tests: { type: "string", multiple: true },
    processes: { type: "string", default: "2" },
    seconds: { type: "string", default: "20" },
    results: { type: "string", default: resultsPath(root) },
    list: { type: "boolean", default: false },
    verbose: { type: "boolean", default: false },
  },
});

const seconds = (since: number): string => `${Math.round((performance.now() - since) / 1000)} s`;

async function runFolder(folder: string): Promise<void> {
  const path = values.results;
  const started = performance.now();
  const { all, sample } = sampleOf(root, folder);
  const known = values.open ? knownKilled(path, folder) : new Set<string>();
  const wanted = sample.filter(
    ({ id }) => values.match.some((text) => id.includes(text)) && !known.has(mark(id)),
  );
  if (values.list) {
    for (const { file, line, from, to } of wanted)
      console.log(`${file}:${line}  ${from}  =>  ${oneLine(to)}`);
    return;
  }
  const files = globSync([...(values.tests ?? suites[folder]!)], { cwd: root }).toSorted();
  console.log(`mutants: ${folder}: ${wanted.length} of ${all}, ${files.length} test files`);
  if (wanted.length === 0) return;
  const place = { root, switches: switchesOf(root, wanted) };
  const units = await findReachingTests(place, wanted, files, Number(values.processes));
  const fates: Fate[] = [];
  console.log(`mutants: ${folder}: looked which tests reach them (${seconds(started)})`);
  const isPartial = values.tests !== undefined;
  const keep = () => keepResults(path, folder, { all, sample, fates, isPartial });
  const onFate = (fate: Fate) => {
    fates.push(fate);
    keep();
    const { file, line, from, to } = fate.mutant;
    if (fate.how !== "killed" || values.verbose)
      console.log(`${fate.how}: ${file}:${line}  ${from}  =>  ${oneLine(to)}  ${fate.by ?? ""}`);
    if (fates.length % 25 === 0)
      console.log(`mutants: ${folder}: ${fates.length}/${wanted.length} (${seconds(started)})`);
  };
  await tryAll(place, wanted, units, {
    processes: Number(values.processes),
    msMax: 1_000 * Number(values.seconds),
    onFate,
  });
  const { killed, total } = keep();
  const share = ((100 * killed) / total).toFixed(1);
  console.log(
    `mutants: ${folder}: killed ${killed} of ${total} (${share} %) in ${seconds(started)}`,
  );
}

if (values.help) {
  console.log(help);
} else {
  const unknown = positionals.filter((folder) => suites[folder] === undefined);
  if (unknown.length > 0) throw new Error(`no such folder: ${unknown.join(", ")}\n${help}`);
  for (const folder of positionals.length > 0 ? positionals : Object.keys(suites))
    await runFolder(folder);
}
