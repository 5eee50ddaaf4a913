/** What a caller says of a call or a task for their own books. docs/tags.md. */
export interface Tags {
  /** By name, in the caller's order; undefined: none. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  readonly endUser?: string | undefined;
}
