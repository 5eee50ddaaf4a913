/**
 * The embedded server: the gateway's own PostgreSQL in its data directory. It only provides an address; the gateway's queries do not
 * pass through it. docs/architecture.md; docs/database.md.
 */
export type { Address } from "./address.ts";
export { DataDirectoryInUseError } from "./data-lock.ts";
export { hasEmbeddedDatabase, openEmbedded } from "./open.ts";
