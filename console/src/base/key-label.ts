/** The label of a key in lists: several keys may have the same name. Pure. */
export const keyLabel = (name: string, last4: string | null | undefined): string =>
  last4 == null ? name : `${name} (...${last4})`;
