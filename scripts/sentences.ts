/** Splits plain text into sentences and words, for the checks of docs and comments. */

/** The sentences of a paragraph, with code as one word and links as their text. */
export function sentencesOf(text: string): readonly string[] {
  return text
    .replaceAll(/(`+)(?!`).*?[^`]\1(?!`)/g, "code")
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/\b(e\.g|i\.e|etc|vs|incl)\./g, "$1")
    .split(/(?<=[.!?]["')*]*)\s+/);
}

/** The words of a sentence; a token without a letter or digit is not a word. */
export const wordsOf = (sentence: string): readonly string[] =>
  sentence.split(/\s+/).filter((word) => /[\p{L}\d]/u.test(word));

/** The longest sentence that docs and comments may have, in words. */
export const wordsMax = 30;
