/** Names inside sentences: their writing direction must not reorder the words around them. Pure. */

/** Characters that force a direction; one that is not ended acts beyond its name. */
const forced = /[\u202A-\u202E\u2066-\u2069]/g;

/** Marks and letters of scripts that run from right to left, such as Hebrew, Arabic, Syriac, Thaana, N'Ko and Adlam. */
const rightToLeft =
  /[\u061C\u200F\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFE\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;

/** Returns a name for use in a sentence: without forced directions, and between isolating marks if it has right-to-left text. */
export function isolated(name: string): string {
  const plain = name.replaceAll(forced, "");
  return rightToLeft.test(plain) ? `\u2068${plain}\u2069` : plain;
}
