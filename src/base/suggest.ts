/** Suggestions for an unknown word in the input of a user. */
import { getOrCreate } from "./memoize.ts";

/** A longer word is no mistyped known word, and comparing it with all known words would take seconds. */
const comparedMax = 100;

/** Rows of the table of edits, used again for each two words. In lower case a word may be twice as long, and the other half as long again. */
const table = Array.from({ length: 3 }, () => new Uint16Array(4 * comparedMax));

/**
 * Returns the edits between two words: insert, delete, replace one letter, or swap two neighbours. `most`: it is enough to know that there
 * are at least so many.
 */
function editDistance(left: string, right: string, most: number): number {
  if (Math.abs(left.length - right.length) >= most) return most;
  let [before, last, row] = table as [Uint16Array, Uint16Array, Uint16Array];
  for (let j = 0; j <= right.length; j += 1) last[j] = j;
  for (let i = 1; i <= left.length; i += 1) {
    const code = left.charCodeAt(i - 1);
    const codeBefore = left.charCodeAt(i - 2);
    row[0] = i;
    let least = i;
    for (let j = 1; j <= right.length; j += 1) {
      const other = right.charCodeAt(j - 1);
      let edits = last[j - 1]! + (code === other ? 0 : 1);
      if (last[j]! + 1 < edits) edits = last[j]! + 1;
      if (row[j - 1]! + 1 < edits) edits = row[j - 1]! + 1;
      const isSwapped = codeBefore === other && code === right.charCodeAt(j - 2);
      if (isSwapped && before[j - 2]! + 1 < edits) edits = before[j - 2]! + 1;
      row[j] = edits;
      if (edits < least) least = edits;
    }
    if (least >= most) return most;
    [before, last, row] = [last, row, before];
  }
  return last[right.length]!;
}

/** Returns the nearest of `known`; undefined if none is near enough. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > comparedMax) return undefined;
  const normal = (text: string) => text.toLowerCase().replace(/[-_ ]/g, "");
  const wanted = normal(word);
  let best: string | undefined;
  let bestDistance = Math.floor(Math.max(wanted.length, 3) / 3) + 1;
  for (const candidate of known) {
    const distance = editDistance(wanted, normal(candidate), bestDistance);
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
