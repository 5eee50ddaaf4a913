/** Usage: sums by hour and by day, folded from ledger and log, and the reads of them. docs/management.md. */
export { foldUsage } from "./fold.ts";
export { logBounds } from "./log-bounds.ts";
export {
  readUsage,
  readUsageBy,
  usageColumns,
  usageRowsMax,
  usageSql,
  type AlsoBy,
  type UsageFilter,
} from "./read.ts";
export { renameTagValue } from "./rename.ts";
export { fewCountNames, mainCountNames, otherCountNames, type CountName } from "./sums.ts";
