/** The label of a key in lists: several keys may have the same name. Pure. */
import { isolated } from "./isolated.ts";
export const keyLabel = (name: string, last4: string | null | undefined): string =>
  last4 == null ? isolated(name) : `${isolated(name)} (...${last4})`;
