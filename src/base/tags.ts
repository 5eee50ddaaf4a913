/** The caller's own labels for a call or a task. docs/tags.md. */
export interface Tags {
  /** By name, in the caller's order; undefined if there are none. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  readonly endUser?: string | undefined;
}

/** The longest name of a tag. */
export const tagNameMax = 64;

/** Returns each name and value that `name:value` may mean, the shortest name first: both may have colons. */
export const tagPairs = (text: string): (readonly [name: string, value: string])[] =>
  Array.from(text.matchAll(/:/g), ({ index }) => index)
    .filter((index) => index > 0 && index <= tagNameMax)
    .map((index) => [text.slice(0, index), text.slice(index + 1)]);
