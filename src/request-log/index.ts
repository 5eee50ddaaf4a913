/**
 * Records that explain calls: the request log, bodies, and the addresses from which keys are used. No money depends on them. Records that
 * cannot be written are counted and reported, and no caller waits. docs/management.md.
 */
export { createBodyLog, keptTextMax, readBodies, sweepBodies, type Bodies } from "./bodies.ts";
export { listKeyClients, openKeyClients, type KeyClients } from "./key-clients.ts";
export type { RequestRow } from "./row.ts";
export { createRequestLog, type RequestLog } from "./writer.ts";
