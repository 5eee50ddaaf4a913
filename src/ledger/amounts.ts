/** What an amount may be. */
import { assert } from "../base/assert.ts";

/** Ten million dollars: no sum over a batch can leave the range of a bigint column. */
export const amountNanoMax = 10_000_000n * 1_000_000_000n;

/** Every amount passes here before it goes out. */
export function checkAmount(amountNano: bigint): void {
  assert(amountNano >= 0n && amountNano <= amountNanoMax, `amount out of range: ${amountNano}`);
}
