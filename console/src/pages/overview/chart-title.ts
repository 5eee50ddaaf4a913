/** What stands above the numbers at a place of a chart. */
import { readStart, type Step } from "../../base/period.ts";

/** "16 Nov (UTC)"; a chart asks for it once without a place. */
export const titleOf = (start: unknown, step: Step): string =>
  typeof start === "string" ? `${readStart(start, step)} (UTC)` : "";
