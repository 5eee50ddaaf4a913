/** Backup and restore of a whole gateway. docs/data.md. */
export { carryOver } from "./carry-over.ts";
export { BackupError } from "./frames.ts";
export { restoreBackup } from "./restore.ts";
export type { RestoreOutcome } from "./restore-outcome.ts";
export { writeBackup, type BackupEnd, type Progress } from "./write.ts";
