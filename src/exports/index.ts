/** Exports: the request log and the ledger as files by day, in a folder or a bucket. docs/data.md. */
export { exportOnRequest } from "./on-request.ts";
export { type ExportKind, exportKinds } from "./lines.ts";
export { exportFinished } from "./finished.ts";
export { exportNext } from "./next.ts";
export { openExportPlace } from "./place.ts";
