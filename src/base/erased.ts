/** The token that stands in the place of somebody who was erased. Who writes later asks by it of whom nothing is to be written. */
import { randomBytes } from "node:crypto";

const form = "erased_[0-9a-f]{32}";
const whole = new RegExp(`^${form}$`);

export const newErasedToken = (): string => `erased_${randomBytes(16).toString("hex")}`;

export const isErasedToken = (text: string): boolean => whole.test(text);

/** The address that the user of an erased person has. */
export const erasedAddress = (token: string): string => `${token}@erased.invalid`;

/** SQL: whether a text, such as a column, is a token. */
export const isErasedTokenSql = (text: string): string => `${text} ~ '^${form}$'`;

/** SQL: whether a text is the address of an erased person. */
export const isErasedAddressSql = (text: string): string =>
  `${text} ~ '^${form}@erased\\.invalid$'`;
