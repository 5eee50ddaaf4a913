/**
 * No two places of the source share more than 12 lines of code: what is written twice is mended once. Names of variables
 * and texts may differ. Comments, blank lines, imports, types and lines of mere data do not count. Part of `npm run check`.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const repository = resolve(dirname(fileURLToPath(import.meta.url)), "..");
/** Whose `src` is looked at: this repository's, or what is named. */
const root = process.argv[2] ?? repository;
const linesMax = 12;

interface CodeLine {
  /** From 1, in the file. */
  readonly number: number;
  readonly text: string;
}

/** What may be left of a line of data, once its key, its literals and the calls around them are taken away. */
const key = /^(?:[\w$-]+|"[^"]*"|\[[\w.]+\]): /;
const literal = /"(?:[^"\\]|\\.)*"|`[^`$]*`|\b(?:true|false|null|\d[\d_.]*n?)\b|[\w$.]+\(/g;
const isData = (line: string): boolean =>
  /^"[^"]*": [\w.]+,$/.test(line) ||
  (/^(?:[\w$-]+: |["'`[\]{(\d-]|\),?$)/.test(line) &&
    /^[-\s[\]{}(),;+]*$/.test(line.replace(key, "").replaceAll(literal, "")));

/** The lines of code, without comments, imports, exports from elsewhere, types and data. */
function codeOf(source: string): readonly CodeLine[] {
  const blank = (text: string) => text.replaceAll(/[^\n]/g, "");
  const code = source
    .replaceAll(/^[ \t]*\/\*[^]*?\*\/|^[ \t]*\/\/.*$/gm, blank)
    .replaceAll(/^(?:import|export)\b[^;(=]*? from "[^"]+";$/gm, blank)
    .replaceAll(/^(?:export )?(?:declare )?interface\b[^]*?^\}$/gm, blank)
    .replaceAll(/^(?:export )?type\b[^]*?;\n(?![ \t}])/gm, blank);
  return code.split("\n").flatMap((line, index) => {
    const text = line.trim().replaceAll(/\s+/g, " ");
    return text === "" || isData(text) ? [] : [{ number: index + 1, text }];
  });
}

interface Place {
  readonly path: string;
  /** Of the first line in the file's lines of code. */
  readonly at: number;
}

const files = new Map(
  globSync(["src/**/*.ts", "console/src/**/*.{ts,tsx}"], { cwd: root })
    .filter((path) => !path.endsWith(".d.ts"))
    .toSorted()
    .map((path) => [path.replaceAll("\\", "/"), codeOf(readFileSync(join(root, path), "utf8"))]),
);

const runLength = linesMax + 1;
/** By how their runs look with all variables alike, which is quick to compare. */
const likeness = new Map<string, Place[]>();
/** Pairs of files, each reported once. */
const reported = new Set<string>();

const keywords =
  /^(?:async|await|break|case|catch|class|const|continue|delete|else|export|false|finally|for|function|if|in|let|new|null|of|return|static|super|switch|this|throw|true|try|typeof|undefined|void|while)$/;

const textsAndNames = /"(?:[^"\\]|\\.)*"|(?<![\w$.])[A-Za-z_$][\w$]*/g;

/** A line as compared: texts are left out, and variables are what `nameOf` says. Names after a dot stay. */
const shapeOf = (line: string, nameOf: (name: string) => string): string =>
  line.replaceAll(textsAndNames, (found) => {
    if (found.startsWith('"')) return '""';
    return keywords.test(found) ? found : nameOf(found);
  });

/** The run that begins at a place, its variables numbered as they come. */
function runAt({ path, at }: Place): string {
  const numbers = new Map<string, number>();
  const number = (name: string): string => {
    if (!numbers.has(name)) numbers.set(name, numbers.size);
    return `#${numbers.get(name)}`;
  };
  const lines = files.get(path)!.slice(at, at + runLength);
  return lines.map(({ text }) => shapeOf(text, number)).join("\n");
}

for (const [path, lines] of files) {
  const shapes = lines.map(({ text }) => shapeOf(text, () => "#"));
  for (let at = 0; at + runLength <= lines.length; at += 1) {
    const place = { path, at };
    const rough = shapes.slice(at, at + runLength).join("\n");
    const alike = likeness.get(rough) ?? [];
    likeness.set(rough, [...alike, place]);
    const apart = alike.filter((other) => other.path !== path || at - other.at >= runLength);
    const twin = apart.find((other) => runAt(other) === runAt(place));
    if (twin) report(twin, place);
  }
}

function report(from: Place, to: Place): void {
  const pair = `${from.path} ${to.path}`;
  if (reported.has(pair)) return;
  reported.add(pair);
  const [one, other] = [from, to].map(({ path, at }) => `${path}:${files.get(path)![at]!.number}`);
  console.error(`duplicates: ${one} and ${other} share more than ${linesMax} lines: make them one`);
  process.exitCode = 1;
}
