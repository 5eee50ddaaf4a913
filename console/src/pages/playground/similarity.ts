/** The texts of an embedding call, and the similarity of their vectors. Pure. */

/** The texts of a prompt, one per line; empty lines are none. */
export const textsOf = (prompt: string): string[] =>
  prompt.split("\n").filter((line) => line.trim() !== "");

/** The cosine of their angle: 1 for the same direction; 0 if one of them is zero. */
export function cosine(one: readonly number[], other: readonly number[]): number {
  let [product, left, right] = [0, 0, 0];
  for (const [index, value] of one.entries()) {
    const beside = other[index] ?? 0;
    product += value * beside;
    left += value * value;
    right += beside * beside;
  }
  return left === 0 || right === 0 ? 0 : product / Math.sqrt(left * right);
}
