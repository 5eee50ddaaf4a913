/**
 * The embedded server: a PostgreSQL of the gateway's own in its data directory. What it gives away is an address; what is said to
 * the server is none of its business. docs/architecture.md; docs/operate.md.
 */
export type { Address } from "./address.ts";
export { DataDirectoryInUseError } from "./data-lock.ts";
export { hasEmbeddedDatabase, openEmbedded } from "./open.ts";
