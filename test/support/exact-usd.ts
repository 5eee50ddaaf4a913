/** Parses an amount of a price line, with up to 15 decimals. Returns units of 10^-15 USD, millionths of a nano-USD. */
export const exactUsd = (text: string): bigint => {
  const [whole = "", part = ""] = text.split(".");
  return BigInt(whole + part.padEnd(15, "0"));
};
