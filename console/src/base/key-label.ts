/** How a key is named wherever one of several is meant: they may have one name. Pure. */
export const keyLabel = (name: string, last4: string | null | undefined): string =>
  last4 == null ? name : `${name} (...${last4})`;
