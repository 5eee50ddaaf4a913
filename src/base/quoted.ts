/** Values of variables that docker's --env-file and the like leave in their quotes. */

/** What is said behind a refusal of such a value, which is not shown; empty for others. */
export const quotedHint = (value: string): string =>
  /^\s*["']|["']\s*$/.test(value) ? "; its quotes are taken as a part of it: leave them out" : "";
