/** The caller's own labels for a call or a task. docs/tags.md. */
export interface Tags {
  /** By name, in the caller's order; undefined if there are none. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  readonly endUser?: string | undefined;
}
