/** Storage: the database, signals between processes, the schema, and rows that all gateways share. docs/architecture.md. */
export { adviceOn } from "./advice.ts";
export { numberArray, textArray } from "./array-text.ts";
export { baselineName, baselineState, olderSchema } from "./baseline.ts";
export {
  addCatalogList,
  catalogList,
  catalogLists,
  catalogVersion,
  lockCatalogLists,
  onCatalogList,
  shippedVersion,
  useCatalogList,
} from "./catalog-lists.ts";
export { openDatabaseClock } from "./database-clock.ts";
export { isOfDatabase, type Database } from "./database.ts";
export { settingsOff } from "./durability.ts";
export { CommitTracker, type LostCommits } from "./lost-commits.ts";
export { encodingFix, wrongEncoding } from "./text-encoding.ts";
export { orderFix, readTextOrder, wrongOrder } from "./text-order.ts";
export { forgetGateway, listGateways, reportGateway } from "./gateway-rows.ts";
export { makeIndexes } from "./indexes.ts";
export { exchangeHealth, takeProbe } from "./health-states.ts";
export { listHookFailures, noteHookFailure, type HookFailures } from "./hook-failures.ts";
export { textOf } from "./json-column.ts";
export {
  applyMigrations,
  knownMigrations,
  migrate,
  hasTables,
  needTables,
  prepareMigrations,
  SchemaError,
  schemaState,
} from "./migrate.ts";
export { limitLockWaits, retryWhileLocked } from "./retry-while-locked.ts";
export { openDatabase } from "./open.ts";
export {
  holdRetryMs,
  readOnce,
  retryRolledBack,
  retryWhileAway,
  reserveRetryMs,
  settleRetryMs,
  unavailable,
} from "./retry-while-away.ts";
export { connectionsMax as poolConnectionsMax } from "./pool.ts";
export { addProviderMinutes, readProviderHour } from "./provider-minutes.ts";
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
export { readsOf, type Reads } from "./reads.ts";
export { compareReplica, openReplica, type Replica } from "./replica/index.ts";
export { trustMs, type Signals } from "./signals.ts";
export { databaseState, type DatabaseState } from "./state.ts";
export { codeOf, isAway, isLockTimeout, isMissing, isTransient } from "./transient.ts";
