/** The heading of a chart's tooltip. */
import { readPlace, type Step } from "../../base/steps.ts";

/** "16 Nov (UTC)", "16 Nov 14:00 (UTC)". Charts also call it once without a start. */
export const titleOf = (start: unknown, step: Step): string =>
  typeof start === "string" ? `${readPlace(start, step)} (UTC)` : "";
