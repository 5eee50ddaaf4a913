/** The token that replaces an erased person's identity. Later writers recognize it, and write nothing about that person. */
import { randomBytes } from "node:crypto";

const form = "erased_[0-9a-f]{32}";
const whole = new RegExp(`^${form}$`);

export const newErasedToken = (): string => `erased_${randomBytes(16).toString("hex")}`;

export const isErasedToken = (text: string): boolean => whole.test(text);

/** Returns the e-mail address of an erased person's user. */
export const erasedAddress = (token: string): string => `${token}@erased.invalid`;

/** SQL that is true if a text, such as a column, is a token. */
export const isErasedTokenSql = (text: string): string => `${text} ~ '^${form}$'`;

/** SQL that is true if a text is the address of an erased person. */
export const isErasedAddressSql = (text: string): string =>
  `${text} ~ '^${form}@erased\\.invalid$'`;
