/**
 * The requirements and traps with their sentences (docs/requirements.txt, docs/traps.txt), and the test files that cite them. A test
 * cites an id in its name, which is the title given to it, test or describe. If titles are computed from a table (`it.each`, a loop
 * with a template literal), the table's literals that begin with an id count as names too.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const idPattern = /\b(?:[A-Z]+\d?-\d+|T\d{1,2})\b/g;

export interface Requirement {
  readonly id: string;
  readonly sentence: string;
}

/** A heading of the page with its rows; `level` 2 begins an area. */
export interface Section {
  readonly level: 2 | 3;
  readonly title: string;
  readonly rows: readonly Requirement[];
}

/** Reads a file of lines: "## heading", "### heading", "ID sentence". @throws Error for any other line */
function sectionsOf(file: string): readonly Section[] {
  const sections: (Section & { rows: Requirement[] })[] = [];
  for (const line of readFileSync(join(root, file), "utf8").split("\n")) {
    if (line === "") continue;
    const heading = /^(##|###) (\S.*)$/.exec(line);
    const row = /^([A-Z]+\d?-\d+|T\d+) (\S.*\.)$/.exec(line);
    if (heading) {
      sections.push({ level: heading[1] === "##" ? 2 : 3, title: heading[2]!, rows: [] });
    } else if (row && sections.length > 0) {
      sections.at(-1)!.rows.push({ id: row[1]!, sentence: row[2]! });
    } else {
      throw new Error(`${file}: neither a heading nor an id with a sentence: ${line}`);
    }
  }
  return sections;
}

export const requirements = sectionsOf("docs/requirements.txt");
export const traps = sectionsOf("docs/traps.txt");

/** Every id, in the order of the pages. */
export const knownIds: readonly string[] = [...requirements, ...traps].flatMap(({ rows }) =>
  rows.map(({ id }) => id),
);

/** Returns "TXT" for "TXT-01"; "TRAP" for a trap. */
export const areaOf = (id: string) => (/^T\d/.test(id) ? "TRAP" : id.replace(/-.*/, ""));

/** The areas in the order of the pages. */
export const areas: readonly string[] = [...new Set(knownIds.map(areaOf))];

/** The cited ids that do not exist. Words such as UTF-8 or SHA-256 look like ids but are not, so only our own areas count. */
export function unknownIdsIn(text: string): readonly string[] {
  const known = new Set(knownIds);
  const ours = new Set(areas);
  return (text.match(idPattern) ?? []).filter((id) => ours.has(areaOf(id)) && !known.has(id));
}

/** The string and template literals of a source text, each with the code before it; comments are skipped. */
function literals(source: string) {
  const token =
    /\/\/[^\n]*|\/\*[^]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|(?<=[(,=:[!&|?{};\n]\s*)\/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/g;
  const found: { text: string; before: string }[] = [];
  for (const { 0: text, index } of source.matchAll(token)) {
    if (text[0] === "/") continue;
    found.push({ text: text.slice(1, -1), before: source.slice(Math.max(0, index - 80), index) });
  }
  return found;
}

/** The ids that the names of one test file cite. */
function citedIn(source: string): readonly string[] {
  const all = literals(source);
  const titles = all.filter(({ before }) =>
    /(?:\b(?:it|test|describe)(?:\.\w+)*|[\])`])\(\s*$/.test(before),
  );
  const computed = titles.some(({ text }) => /\$\{|%s|\$\w/.test(text));
  const rows = computed ? all.filter(({ text }) => text.search(idPattern) === 0) : [];
  return [...titles, ...rows].flatMap(({ text }) => text.match(idPattern) ?? []);
}

/** The test files that cite each id, as paths below test/, in alphabetical order. */
export function citations(): ReadonlyMap<string, readonly string[]> {
  const cited = new Map<string, string[]>();
  const names = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" });
  for (const name of names.map((one) => one.replaceAll("\\", "/")).toSorted()) {
    if (!name.endsWith(".test.ts")) continue;
    for (const id of new Set(citedIn(readFileSync(join(root, "test", name), "utf8")))) {
      cited.set(id, [...(cited.get(id) ?? []), name]);
    }
  }
  return cited;
}
