/**
 * `npm run spec`: shows which requirements and traps our tests' names cite, by area, and which are still open. Exits 1 if an id has
 * no test or a test cites an id that does not exist. `--json` prints {areas, open, unknown} instead.
 */
import { areaOf, areas, citations, knownIds, unknownIdsIn } from "./requirements.ts";

const cited = citations();
const idsOf = (area: string) => knownIds.filter((id) => areaOf(id) === area);
const openOf = (area: string) => idsOf(area).filter((id) => !cited.has(id));
const unknown = [...cited].filter(([id]) => unknownIdsIn(id).length > 0);

/** Formats open ids such as "TXT 01..03 07": neighbouring ids of one area become ranges. */
function compact(area: string): string {
  const runs: string[][] = [];
  for (const id of openOf(area)) {
    const last = runs.at(-1);
    if (last && knownIds.indexOf(id) === knownIds.indexOf(last.at(-1)!) + 1) last.push(id);
    else runs.push([id]);
  }
  const short = (id: string | undefined) => id?.replace(/^.*-/, "");
  const words = runs.map((run) =>
    run.length === 1 ? short(run[0]) : `${short(run[0])}..${short(run.at(-1))}`,
  );
  return `${area} ${words.join(" ")}`;
}

function print(): void {
  for (const area of areas) {
    const all = idsOf(area).length;
    const count = all - openOf(area).length;
    const bar = "#".repeat(Math.round((20 * count) / all)).padEnd(20, ".");
    console.log(
      `${area.padEnd(7)} ${String(count).padStart(3)} of ${String(all).padEnd(3)}  ${bar}`,
    );
  }
  const total = knownIds.filter((id) => cited.has(id)).length;
  console.log(`cited by test names: ${total} of ${knownIds.length}`);
  for (const [id, files] of unknown) console.log(`cited but unknown: ${id} in ${files.join(", ")}`);
  const open = areas.filter((area) => openOf(area).length > 0);
  console.log(`open: ${open.length === 0 ? "none" : ""}`);
  for (const area of open) console.log(compact(area));
}

if (process.argv.includes("--json")) {
  const summary = areas.map((area) => ({ area, ids: idsOf(area).length, open: openOf(area) }));
  console.log(JSON.stringify({ areas: summary, unknown: Object.fromEntries(unknown) }, null, 2));
} else {
  print();
}
if (unknown.length > 0 || knownIds.some((id) => !cited.has(id))) process.exitCode = 1;
