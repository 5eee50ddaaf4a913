/**
 * Checks that citations in comments and pages can be looked up in this repository: ids of requirements and traps, pages of docs/, and
 * headings of docs/decisions.md. Refuses citations of documents that readers do not have. Part of `npm run check`. Migrations are
 * left out: the database compares their text, so they never change.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { areas, knownIds, unknownIdsIn } from "./requirements.ts";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const code = globSync(
  ["{src,sandbox,test,scripts,bench,console/src}/**/*.{ts,tsx,mjs,sql}", "bin/*", "*.config.ts"],
  {
    cwd: root,
    exclude: ["src/storage/migrations/**", "scripts/citations.ts"],
  },
);
const pages = globSync(["*.md", "docs/*.md"], { cwd: root });

/** Matches names by which comments used to cite documents outside the repository. */
const papers =
  /\bdesign\.md|\b[Dd]esign sections?\b|\b[Cc]ontract(?:\.md| ["`])|\b[Ss]pec(?::|:? ")|\bthe spec(?:ification)?\b|(?<![\w/])(?:decisions|requirements|traps|gaps)(?:\.md| ")|\bwire notes\b|\bwire\/\w+\.md|\bthe brief\b/;

interface Comment {
  readonly line: number;
  /** The comment on one line, without its comment marks. */
  readonly text: string;
}

/** The comments of a source text; neighbouring line comments count as one. Strings are skipped, so a URL is not a comment. */
function commentsOf(source: string): readonly Comment[] {
  const token =
    /(?:^|(?<=\s))\/\/[^\n]*(?:\n[ \t]*\/\/[^\n]*)*|\/\*[^]*?\*\/|(?:^|\n)--[^\n]*(?:\n--[^\n]*)*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g;
  const found: Comment[] = [];
  for (const { 0: text, index } of source.matchAll(token)) {
    if (/^["'`]/.test(text)) continue;
    const line = source.slice(0, index).split("\n").length;
    const words = text
      .replaceAll(/\n[ \t]*(?:\*(?!\/)|\/\/|--)?/g, " ")
      .replaceAll(/^\s*(?:\/\*+|\/\/|--)|\*\/$/g, "");
    found.push({ line, text: words.replaceAll(/\s+/g, " ") });
  }
  return found;
}

/** The headings of each page. */
const headings = new Map(
  pages.map((page) => [
    page,
    [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, title]) => title!.replaceAll("`", "")),
  ]),
);

/** The wrong citations of a text. */
function mistakesIn(text: string): readonly string[] {
  const missingPages = [...text.matchAll(/\bdocs\/[\w-]+\.md\b/g)]
    .map(([page]) => page)
    .filter((page) => !existsSync(join(root, page)));
  const missingHeadings = [...text.matchAll(/\b(docs\/[\w-]+\.md) "([^"]+)"/g)].filter(
    ([, page, title]) => headings.get(page!)?.includes(title!) === false,
  );
  const noAreas = [...text.matchAll(/\bRequirements: ((?:[A-Z]+\d?(?:-\d+)?(?:, )?)+)/g)]
    .flatMap(([, list]) => list!.split(", "))
    .filter((name) => name !== "" && !areas.includes(name) && !knownIds.includes(name));
  return [
    ...unknownIdsIn(text).map(
      (id) => `cites ${id}, which is not in docs/requirements.txt or docs/traps.txt`,
    ),
    ...missingPages.map((page) => `cites ${page}, which does not exist`),
    ...missingHeadings.map(
      ([, page, title]) => `cites "${title}", which is not a heading of ${page}`,
    ),
    ...noAreas.map((name) => `cites ${name}, which is neither an area nor an id`),
  ];
}

const mistakes: string[] = [];
for (const path of code) {
  for (const { line, text } of commentsOf(read(path))) {
    const paper = papers.exec(text);
    if (paper)
      mistakes.push(`${path}:${line}: cites a paper that is not in the repository: ${paper[0]}`);
    mistakes.push(...mistakesIn(text).map((mistake) => `${path}:${line}: ${mistake}`));
  }
}
for (const path of pages) {
  mistakes.push(...mistakesIn(read(path)).map((mistake) => `${path}: ${mistake}`));
}
for (const mistake of mistakes) console.error(`citations: ${mistake}`);
if (mistakes.length > 0) process.exitCode = 1;
