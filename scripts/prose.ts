/**
 * Refuses sentences of more than 30 words in README, CHANGELOG, CONTRIBUTING and docs/*.md, outside of tables and code. In the
 * changelog it also refuses a longer sentence that appears twice, because merges cause that. Part of `npm run check`. A piece of code
 * in a sentence counts as one word; each item of a list counts alone. Pieces of code alone, such as the tests of a trap, are no sentence.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { sentencesOf, wordsMax, wordsOf } from "./sentences.ts";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
/** A sentence with at least this many words is not repeated by chance. */
const twiceFrom = 9;

interface Paragraph {
  readonly line: number;
  text: string;
}

/** The paragraphs of a page, each on one line, without code blocks, tables, comments and list marks. */
function paragraphsOf(page: string): readonly Paragraph[] {
  const blank = (text: string) => text.replaceAll(/[^\n]/g, "");
  const prose = page
    .replaceAll(/^([ \t]*)(`{3,}|~{3,})[^]*?^\1\2[ \t]*$/gm, blank)
    .replaceAll(/<!--[^]*?-->/g, blank);
  const paragraphs: Paragraph[] = [];
  let open: Paragraph | undefined;
  for (const [index, line] of prose.split("\n").entries()) {
    const text = line.trim();
    const item = /^(?:[-*+]|\d+\.)\s+/.exec(text);
    if (text === "" || /^(?:\||#)/.test(text)) open = undefined;
    if (text.startsWith("#") || item || (!open && text !== "" && !text.startsWith("|"))) {
      open = { line: index + 1, text: text.slice(item?.[0].length ?? 0) };
      paragraphs.push(open);
    } else if (open) {
      open.text += ` ${text}`;
    }
  }
  return paragraphs;
}

let found = 0;
const complain = (place: string, problem: string): void => {
  found += 1;
  console.error(`prose: ${place}: ${problem}`);
};
for (const path of globSync(["*.md", "docs/*.md"], { cwd: root }).toSorted()) {
  const said = new Map<string, number>();
  for (const { line, text } of paragraphsOf(readFileSync(join(root, path), "utf8"))) {
    for (const sentence of sentencesOf(text)) {
      const words = wordsOf(sentence);
      if (words.every((word) => /^code\W*$/.test(word))) continue;
      const count = words.length;
      if (count > wordsMax) complain(`${path}:${line}`, `${count} words: ${sentence}`);
      if (path !== "CHANGELOG.md" || count < twiceFrom) continue;
      const before = said.get(sentence);
      if (before !== undefined) complain(`${path}:${line}`, `as in line ${before}: ${sentence}`);
      said.set(sentence, line);
    }
  }
}
if (found > 0) {
  console.error(`prose: ${found} sentences have more than ${wordsMax} words, or stand twice`);
  process.exitCode = 1;
}
