/** Fixed-width base 62 (digits, upper case, lower case) for keys and one-time passwords: a double click selects the whole text. */

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The number as `width` base62 digits, most significant first. The number must fit. */
export function base62(value: bigint, width: number): string {
  let text = "";
  let rest = value;
  for (let index = 0; index < width; index += 1) {
    text = alphabet[Number(rest % 62n)]! + text;
    rest /= 62n;
  }
  return text;
}

/** Bytes read as one big-endian number, as `width` base62 digits (32 bytes need 43, 16 bytes need 22). */
export function base62OfBytes(bytes: Uint8Array, width: number): string {
  return base62(BigInt(`0x${Buffer.from(bytes).toString("hex")}`), width);
}
