/**
 * Refuses comments that a reader in a hurry has to decode. These are sentences of more than 30 words, sentences that begin with a
 * relative or an inverted clause, and words that name no one. CONTRIBUTING.md "Comments" says how to write them. Part of
 * `npm run check`. Landed migrations are never edited, so SQL is left out.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { sentencesOf, wordsMax, wordsOf } from "./sentences.ts";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const folders = ["src", "console/src", "bench", "scripts", "test"];
/** Written from texts of the API, which are for users. */
const generated = ["console/src/api/schema.d.ts"];

/** Shapes of sentences that hide their subject, with the advice for each. */
const riddles: readonly (readonly [RegExp, string])[] = [
  [/^What\b[^?]*$/, "begins with `What`: begin with a noun, such as `The error of …`"],
  [/^(?:Of|Whom|To whom|By whom|For whom)\b/, "is inverted: subject, verb, object"],
  [
    /\b(?:nobody|somebody|anybody|whoever|whomever|oneself|one's own)\b/i,
    "names no one: say who, such as `another user`, `no gateway`, `the caller`",
  ],
];

interface Block {
  readonly line: number;
  readonly text: string;
}

/** Comments that begin a line: lines of `//` that follow each other are one, a block is one. */
const comment = /^[ \t]*(?:\/\/.*(?:\n[ \t]*\/\/.*)*|\{?\/\*[^]*?\*\/)/gm;

/** The paragraphs of a file's comments, each on one line: parts between empty lines, items of a list and tags stand alone. */
function paragraphsOf(source: string): readonly Block[] {
  return [...source.matchAll(comment)].flatMap(({ index, 0: raw }) => {
    const line = source.slice(0, index).split("\n").length;
    const text = raw.replaceAll(/^[ \t]*\{?(?:\/\/|\/\*\*?|\*(?!\/))/gm, "").replace(/\*\/$/, "");
    return text
      .split(/\n\s*\n|\n\s*[-*] |(?=@(?:throws|returns|param|see)\b)/)
      .map((part) => ({ line, text: part.replaceAll(/\s+/g, " ").trim() }));
  });
}

/** The complaints about one sentence. */
function complaintsOf(sentence: string): readonly string[] {
  const count = wordsOf(sentence).length;
  const tooLong = count > wordsMax ? [`has ${count} words, at most ${wordsMax}`] : [];
  return [...tooLong, ...riddles.filter(([shape]) => shape.test(sentence)).map(([, why]) => why)];
}

const wanted = process.argv.slice(2);
const paths = wanted.length > 0 ? wanted : folders.map((folder) => `${folder}/**/*.{ts,tsx,mjs}`);
let found = 0;
for (const path of globSync(paths, { cwd: root, exclude: generated }).toSorted()) {
  for (const { line, text } of paragraphsOf(readFileSync(join(root, path), "utf8"))) {
    for (const sentence of sentencesOf(text)) {
      for (const complaint of complaintsOf(sentence)) {
        found += 1;
        console.error(`comments: ${path}:${line}: ${complaint}: ${sentence}`);
      }
    }
  }
}
if (found > 0) {
  console.error(`comments: ${found} sentences to write plainly`);
  process.exitCode = 1;
}
