/**
 * What the pictures of whole answers take of the process's budget of bytes. It is held before a vendor is asked: a picture
 * that has been made is billed, and is not to be refused any more.
 */
import type { ByteLease } from "../base/byte-budget.ts";

/** Of a usual picture in base64; larger ones are counted as they come. */
const pictureBytes = 2 ** 21;

/** The bytes that so many pictures take. */
export const expectedBytes = (pictures: number): number => pictures * pictureBytes;

/**
 * Counts in `lease` what arrives beyond the `expected` bytes, which it holds already. What is thrown away again, such as of a file that
 * was cut, is told as negative bytes.
 */
export function countBeyond(lease: ByteLease, expected: number): (bytes: number) => void {
  let total = 0;
  let beyond = 0;
  return (bytes) => {
    total += bytes;
    const change = Math.max(0, total - expected) - beyond;
    beyond += change;
    if (change > 0) lease.add(change);
    if (change < 0) lease.give(-change);
  };
}
