/**
 * Refuses two places in the source that share more than 12 lines of code. Names of variables and texts may differ. Comments, blank
 * lines, imports, types and lines of pure data do not count. Part of `npm run check`.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const repository = resolve(dirname(fileURLToPath(import.meta.url)), "..");
/** The directory whose `src` is checked: this repository, or the argument. */
const root = process.argv[2] ?? repository;
const linesMax = 12;

interface CodeLine {
  /** The line number in the file, from 1. */
  readonly number: number;
  readonly text: string;
}

/** Lines of data: without their key, literals and calls, only punctuation remains. */
const key = /^(?:[\w$-]+|"[^"]*"|\[[\w.]+\]): /;
const literal = /"(?:[^"\\]|\\.)*"|`[^`$]*`|\b(?:true|false|null|\d[\d_.]*n?)\b|[\w$.]+\(/g;
const isData = (line: string): boolean =>
  /^"[^"]*": [\w.]+,$/.test(line) ||
  (/^(?:[\w$-]+: |["'`[\]{(\d-]|\),?$)/.test(line) &&
    /^[-\s[\]{}(),;+]*$/.test(line.replace(key, "").replaceAll(literal, "")));

/** The lines of code, without comments, imports, re-exports, types and data. */
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
  /** The index of the first line in the file's lines of code. */
  readonly at: number;
}

const files = new Map(
  globSync(["src/**/*.ts", "console/src/**/*.{ts,tsx}"], { cwd: root })
    .filter((path) => !path.endsWith(".d.ts"))
    .toSorted()
    .map((path) => [path.replaceAll("\\", "/"), codeOf(readFileSync(join(root, path), "utf8"))]),
);

const runLength = linesMax + 1;
/** Places by their run with all variables alike, for a quick first comparison. */
const likeness = new Map<string, Place[]>();
/** Pairs of files already reported. */
const reported = new Set<string>();

const keywords =
  /^(?:async|await|break|case|catch|class|const|continue|delete|else|export|false|finally|for|function|if|in|let|new|null|of|return|static|super|switch|this|throw|true|try|typeof|undefined|void|while)$/;

const textsAndNames = /"(?:[^"\\]|\\.)*"|(?<![\w$.])[A-Za-z_$][\w$]*/g;

/** The form of a line for comparison: texts are removed, and `nameOf` replaces variables. Names after a dot stay. */
const shapeOf = (line: string, nameOf: (name: string) => string): string =>
  line.replaceAll(textsAndNames, (found) => {
    if (found.startsWith('"')) return '""';
    return keywords.test(found) ? found : nameOf(found);
  });

/** The run that begins at a place, with its variables numbered in order of appearance. */
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
