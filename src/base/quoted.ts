/** Variables whose quotes were kept as a part of the value, as docker's --env-file does. */

/** Returns the end of an error message about such a value, which is not shown; empty for other values. */
export const quotedHint = (value: string): string =>
  /^\s*["']|["']\s*$/.test(value) ? "; its quotes are taken as a part of it: leave them out" : "";
