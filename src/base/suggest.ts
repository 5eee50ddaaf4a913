/** Suggestions for an unknown word in the input of a user. */
import { getOrCreate } from "./memoize.ts";

/** Returns the edits between two words: insert, delete, replace one letter, or swap two neighbours. */
function editDistance(left: string, right: string): number {
  const rows: number[][] = [Array.from({ length: right.length + 1 }, (_unused, index) => index)];
  for (let i = 1; i <= left.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const replace = rows[i - 1]![j - 1]! + (left[i - 1] === right[j - 1] ? 0 : 1);
      const swapped = left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
      const swap = swapped ? rows[i - 2]![j - 2]! + 1 : Infinity;
      row.push(Math.min(replace, swap, rows[i - 1]![j]! + 1, row[j - 1]! + 1));
    }
    rows.push(row);
  }
  return rows[left.length]![right.length]!;
}

/** A longer word is no mistyped known word, and comparing it with all known words would take seconds. */
const comparedMax = 100;

/** Returns the nearest of `known`; undefined if none is near enough. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > comparedMax) return undefined;
  const normal = (text: string) => text.toLowerCase().replace(/[-_ ]/g, "");
  let best: string | undefined;
  let bestDistance = Math.floor(Math.max(normal(word).length, 3) / 3) + 1;
  for (const candidate of known) {
    const distance = editDistance(normal(word), normal(candidate));
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

const shown = 12;

/** Returns `did you mean "x"?`, else the list of choices. */
export const suggest = (word: string, choice: readonly string[]): string => suggester(choice)(word);

/** Comparing two words takes microseconds, and a file or a body may have any number of unknown words. */
const comparisonsMax = 50_000;

/** Returns `suggest` for many words and one list. After many comparisons, further words get the list. */
export function suggester(choice: readonly string[]): (word: string) => string {
  const known = [...new Set(choice)];
  const made = new Map<string, string>();
  let comparisons = 0;
  return (word) => {
    if (comparisons >= comparisonsMax) return made.get(word) ?? listed(known);
    return getOrCreate(made, word, () => {
      comparisons += known.length;
      const near = nearest(word, known);
      return near === undefined ? listed(known) : `did you mean "${near}"?`;
    });
  };
}

function listed(known: readonly string[]): string {
  if (known.length === 0) return "";
  const list = known.slice(0, shown).join(", ");
  return `allowed: ${list}${known.length > shown ? ", ..." : ""}`;
}
