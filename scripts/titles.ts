/**
 * Refuses titles of tests that a reader has to decode. Such a title begins with a relative or an inverted clause, names no one,
 * or has more than 30 words. CONTRIBUTING.md "Titles of tests" says how to write them. Part of `npm run check`.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { wordsMax, wordsOf } from "./sentences.ts";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");

/** A call of `it`, `test` or `describe` up to its title; a table of `each` may span lines. */
const title =
  /^[ \t]*(?:it|test|describe)(?:\.\w+)*(?:\((?:[^()]|\([^()]*\))*\))?\(\s*(["'`])((?:\\.|(?!\1)[^\\])*)\1/gm;

/** The requirement and trap ids that a title begins with, such as `KEY-09 T33: `. */
const ids = /^(?:[A-Z][A-Z0-9]*-?\d+(?:-\d+)?[ ,]*)+: ?/;

/** Shapes of titles that hide their subject, with the advice for each. */
const riddles: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:of|what|who|whom|whose|which|that|whoever|whatever|and|but|nor|ones?|those)\b/i,
    "begins with a word that is no subject and no verb: name the thing that is tested, or say what it does",
  ],
  [
    /\b(?:nobody|somebody|anybody|whoever|whomever|oneself)\b/i,
    "names no one: say who, such as `another user`, `no gateway`, `the caller`",
  ],
];

/** The complaints about one title. */
function complaintsOf(text: string): readonly string[] {
  const words = text.replace(ids, "");
  const count = wordsOf(words).length;
  const tooLong = count > wordsMax ? [`has ${count} words, at most ${wordsMax}`] : [];
  return [...tooLong, ...riddles.filter(([shape]) => shape.test(words)).map(([, why]) => why)];
}

const wanted = process.argv.slice(2);
const paths = wanted.length > 0 ? wanted : ["test/**/*.test.ts"];
let found = 0;
let seen = 0;
for (const path of globSync(paths, { cwd: root }).toSorted()) {
  const source = readFileSync(join(root, path), "utf8");
  for (const { index, 2: text = "" } of source.matchAll(title)) {
    seen += 1;
    const line = source.slice(0, index).split("\n").length;
    for (const complaint of complaintsOf(text)) {
      found += 1;
      console.error(`titles: ${path}:${line}: ${complaint}: ${text}`);
    }
  }
}
if (found > 0) {
  console.error(`titles: ${found} of ${seen} titles to write plainly`);
  process.exitCode = 1;
}
