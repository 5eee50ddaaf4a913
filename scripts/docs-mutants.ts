/**
 * Generates docs/mutants.md from docs/mutants.json: the share of mutants that tests kill in each folder, and the reasons why others
 * may live.
 */
import { readResults, resultsPath, type Results, type Survivor } from "./mutants/results.ts";
import { sampleSize } from "./mutants/sample.ts";

const intro = `# Mutants

A mutant is our source with one operator, condition or returned value changed. A test that fails kills it. What no test
kills shows what the tests do not look at.

\`npm run mutants\` tries a fixed sample of ${sampleSize} mutants in each folder below. In files where money is computed,
reserved and charged it tries all mutants (\`moneyFiles\` in \`scripts/mutants/suites.ts\`). It writes \`docs/mutants.json\`.
Each survivor there has a \`reason\` why it may live, written by hand, or is open. The aim is 85 % killed in each folder.

- The sample is the mutants whose names hash lowest. A name is the path, the line of code and the change, so that an edit
  elsewhere leaves the sample as it is.
- Code that runs once on import has no mutants: tables and constants.
- Each mutant meets the tests of its folder's suites (\`scripts/mutants/suites.ts\`) that reach it, the quickest first, for
  20 seconds of test time at most. Tests of other folders and of child processes may kill more.
- A kill counts only if the same test passes without the mutant, in the same process.
`;

/** Text as code in a table cell: bars escaped, long lines cut. */
function code(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|");
  const ticks = line.includes("`") ? "``" : "`";
  return `${ticks}${ticks === "``" ? " " : ""}${line.length > 90 ? `${line.slice(0, 88)} …` : line}${ticks === "``" ? " " : ""}${ticks}`;
}

/** True if the mutant is of a line that changed after the last run, or was new then. */
const isUntried = ({ reason, reached }: Survivor): boolean =>
  reason === undefined && reached === undefined;

function reasonOf({ reason, reached }: Survivor): string {
  if (reason !== undefined) return reason;
  return reached === true ? "**open**" : "**open**: no test of the suites reaches it";
}

function table(results: Results): string {
  const rows = Object.entries(results).map(([folder, { day = "", mutants, sample, survivors }]) => {
    const untried = survivors.filter(isUntried).length;
    const open = survivors.filter(({ reason }) => reason === undefined).length - untried;
    const [tried, killed] = [sample - untried, sample - survivors.length];
    const share = ((100 * killed) / tried).toFixed(1);
    return `| \`${folder}\` | ${mutants} | ${tried} | ${killed} | ${share} % | ${survivors.length - untried - open} | ${open} | ${untried} | ${day} |`;
  });
  return [
    "| folder | mutants | tried | killed | share | may live | open | to try | last run |",
    "|---|--:|--:|--:|--:|--:|--:|--:|---|",
    ...rows,
  ].join("\n");
}

function survivorsOf(folder: string, survivors: readonly Survivor[]): string {
  const rows = survivors
    .filter((one) => !isUntried(one))
    .map(
      (one) =>
        `| \`${one.file.replace(`src/${folder}/`, "")}:${one.line}\` | ${code(one.from)} | ${code(one.to)} | ${reasonOf(one)} |`,
    );
  return [
    `## ${folder}`,
    "",
    "| where | code | changed to | why it may live |",
    "|---|---|---|---|",
    ...rows,
  ].join("\n");
}

/** The page. */
export function mutantsPage(root: string): string {
  const results = readResults(resultsPath(root));
  const lists = Object.entries(results).map(([folder, { survivors }]) =>
    survivorsOf(folder, survivors),
  );
  return [
    intro,
    table(results),
    "",
    "To try: mutants of the sample that are new or changed since the folder's last run. Lines are those of that run.",
    "",
    lists.join("\n\n"),
    "",
  ].join("\n");
}
