/** A number with its noun, for sentences. */

/** `1 provider`, `2 providers`. `plural` is for nouns that do not take an s. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`;
