/** An amount as price lines have it, up to 15 decimals, in units of the last one: 10^-15 USD, millionths of a nano-dollar. */
export const exactUsd = (text: string): bigint => {
  const [whole = "", part = ""] = text.split(".");
  return BigInt(whole + part.padEnd(15, "0"));
};
