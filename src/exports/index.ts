/** Exports: the request log and the ledger as files by day, in a folder or a bucket. docs/operate.md. */
export { exportDay, type ExportKind, exportKinds } from "./day.ts";
export { exportNext } from "./next.ts";
export { openExportPlace } from "./place.ts";
