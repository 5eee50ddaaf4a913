/** Storage: the database, signals between processes, the schema, the request log. docs/architecture.md. */
export {
  bodySealName,
  createBodyLog,
  keptTextMax,
  readBodies,
  sweepBodies,
  type Bodies,
  type Sealing,
} from "./request-bodies.ts";
export {
  answerSealName,
  cachedTextMax,
  createAnswerCache,
  sweepAnswers,
  type AnswerCache,
  type AnswerName,
} from "./cached-answers.ts";
export {
  addCatalogList,
  catalogList,
  catalogLists,
  catalogVersion,
  onCatalogList,
  shippedVersion,
  useCatalogList,
} from "./catalog-lists.ts";
export { DataDirectoryInUseError } from "./data-lock.ts";
export type { Database } from "./database.ts";
export { hasEmbeddedDatabase } from "./embedded/open.ts";
export { countOpenFiles } from "./files/counted.ts";
export { FileDrafts, inputDrafts } from "./files/drafts.ts";
export { openFileStore } from "./files/index.ts";
export {
  FileTooLargeError,
  isFileName,
  newFileName,
  type ByteRange,
  type FileStore,
  type FileStoreOptions,
} from "./files/store.ts";
export {
  assignInputs,
  fileExpiries,
  findFile,
  recordFile,
  sweepFiles,
  type FileRow,
} from "./files/table.ts";
export {
  createThumbnails,
  thumbnailWidths,
  type ThumbnailWidth,
  type Thumbnails,
} from "./files/thumbnails.ts";
export { forgetGateway, listGateways, reportGateway } from "./gateway-rows.ts";
export { listHookFailures, noteHookFailure, type HookFailures } from "./hook-failures.ts";
export { exchangeHealth, takeProbe } from "./health-states.ts";
export { addProviderMinutes, readProviderHour } from "./provider-minutes.ts";
export { listKeyClients, openKeyClients, type KeyClients } from "./key-clients.ts";
export { baselineState, olderSchema } from "./baseline.ts";
export {
  applyMigrations,
  knownMigrations,
  migrate,
  prepareMigrations,
  SchemaError,
  schemaState,
} from "./migrate.ts";
export { openDatabase } from "./open.ts";
export {
  insertCredential,
  insertProvider,
  lockProvider,
  providerPauses,
  purgeProviders,
  removeCredential,
  removeProvider,
  setPause,
  storedProviders,
  touchProvider,
  type StoredProvider,
} from "./provider-rows.ts";
export type { Queryable } from "./queryable.ts";
export { holdRetryMs, persist, reserveRetryMs, settleRetryMs, unavailable } from "./persist.ts";
export { connectionsMax as poolConnectionsMax } from "./pool.ts";
export { createRequestLog, type RequestLog } from "./request-log.ts";
export { textOf, type RequestRow } from "./request-log-row.ts";
export { trustMs, type Signals } from "./signals.ts";
export { isTransient } from "./transient.ts";
