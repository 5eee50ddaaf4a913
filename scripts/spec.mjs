// `npm run spec`: which requirements and traps the names of our tests cite, by area, and which are still open.
// A name is the title given to it, test or describe. Where titles are computed from a table (`it.each`, a loop
// with a template literal), the table's string literals that begin with an id count as names too.
// `--json` prints {areas, open, unknown} instead.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const idPattern = /\b(?:[A-Z]+\d?-\d+|T\d{1,3})\b/g;

/** The string and template literals of a source text, each with the code in front of it; comments are skipped. */
function literals(source) {
  const token =
    /\/\/[^\n]*|\/\*[^]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|(?<=[(,=:[!&|?{};\n]\s*)\/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/g;
  const found = [];
  for (const { 0: text, index } of source.matchAll(token)) {
    if (text[0] === "/") continue;
    found.push({ text: text.slice(1, -1), before: source.slice(Math.max(0, index - 80), index) });
  }
  return found;
}

/** The ids that the names of one test file cite. */
function citedIn(source) {
  const all = literals(source);
  const titles = all.filter(({ before }) =>
    /(?:\b(?:it|test|describe)(?:\.\w+)*|[\])`])\(\s*$/.test(before),
  );
  const computed = titles.some(({ text }) => /\$\{|%s|\$\w/.test(text));
  const rows = computed ? all.filter(({ text }) => text.search(idPattern) === 0) : [];
  return [...titles, ...rows].flatMap(({ text }) => text.match(idPattern) ?? []);
}

/** "01..03 07": neighbouring ids of one area as ranges. */
function compact(area, ids, known) {
  const runs = [];
  for (const id of ids) {
    const last = runs.at(-1);
    if (last !== undefined && known.indexOf(id) === known.indexOf(last.at(-1)) + 1) last.push(id);
    else runs.push([id]);
  }
  const short = (id) => id.replace(/^.*-/, "");
  const words = runs.map((run) =>
    run.length === 1 ? short(run[0]) : `${short(run[0])}..${short(run.at(-1))}`,
  );
  return `${area} ${words.join(" ")}`;
}

/** Joins with "; " into lines of at most `width` characters, cut between items. */
function wrap(items, width) {
  const lines = [];
  for (const item of items) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + item.length + 2 <= width)
      lines[lines.length - 1] = `${last}; ${item}`;
    else lines.push(item);
  }
  return lines;
}

const areas = new Map();
for (const line of readFileSync(join(root, "test/requirements.txt"), "utf8").split("\n")) {
  if (line === "" || line.startsWith("#")) continue;
  const [area, id] = line.split(" ");
  areas.set(area, [...(areas.get(area) ?? []), id]);
}
const known = new Set([...areas.values()].flat());
const cited = new Map();
for (const name of readdirSync(join(root, "test"), { recursive: true })) {
  if (!name.endsWith(".test.ts")) continue;
  for (const id of citedIn(readFileSync(join(root, "test", name), "utf8"))) {
    cited.set(id, [...(cited.get(id) ?? []), name]);
  }
}

const knownAreas = [...areas.keys()].filter((area) => area !== "TRAP");
// Words such as UTF-8 or SHA-256 look like ids and are none: only our own areas can be cited wrongly.
const looksOurs = (id) => /^T\d/.test(id) || knownAreas.includes(id.replace(/-.*/, ""));
const unknown = [...cited].filter(([id]) => !known.has(id) && looksOurs(id));
const open = [...areas].map(([area, ids]) => [area, ids.filter((id) => !cited.has(id))]);

if (process.argv.includes("--json")) {
  const summary = [...areas].map(([area, ids]) => ({
    area,
    ids: ids.length,
    open: open.find(([name]) => name === area)[1],
  }));
  console.log(JSON.stringify({ areas: summary, unknown: Object.fromEntries(unknown) }, null, 2));
} else {
  for (const [area, ids] of areas) {
    const count = ids.filter((id) => cited.has(id)).length;
    const bar = "#".repeat(Math.round((20 * count) / ids.length)).padEnd(20, ".");
    console.log(
      `${area.padEnd(7)} ${String(count).padStart(3)} of ${String(ids.length).padEnd(3)}  ${bar}`,
    );
  }
  const total = [...known].filter((id) => cited.has(id)).length;
  console.log(`cited by test names: ${total} of ${known.size}`);
  for (const [id, files] of unknown) console.log(`cited but unknown: ${id} in ${files.join(", ")}`);
  const lists = open
    .filter(([, ids]) => ids.length > 0)
    .map(([area, ids]) => compact(area, ids, areas.get(area)));
  console.log(`open: ${lists.length === 0 ? "none" : ""}`);
  for (const line of wrap(lists, 280)) console.log(line);
}
