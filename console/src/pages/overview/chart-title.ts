/** What stands above the numbers at a place of a chart. */
import { readPlace, type Step } from "../../base/steps.ts";

/** "16 Nov (UTC)", "16 Nov 14:00 (UTC)"; a chart asks for it once without a place. */
export const titleOf = (start: unknown, step: Step): string =>
  typeof start === "string" ? `${readPlace(start, step)} (UTC)` : "";
