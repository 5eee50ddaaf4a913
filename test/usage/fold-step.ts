/** One step of folding, for tests that look between steps. */
import type { Database } from "../../src/storage/index.ts";
import { foldUsage } from "../../src/usage/index.ts";

/** Runs one step: at most `most` entries and as many free calls. Returns how much it did. */
export function foldStep(
  database: Database,
  most?: number,
  tags: readonly string[] = [],
): Promise<number> {
  let left = 1;
  return foldUsage(database, {
    goesOn: () => left-- > 0,
    tags,
    ...(most !== undefined && { most }),
  });
}
