/**
 * What is kept of calls to explain them: the request log, bodies, the addresses that keys are used from. No money depends on it.
 * What cannot be written is counted and reported, and no caller waits. docs/management.md.
 */
export { createBodyLog, keptTextMax, readBodies, sweepBodies, type Bodies } from "./bodies.ts";
export { listKeyClients, openKeyClients, type KeyClients } from "./key-clients.ts";
export type { RequestRow } from "./row.ts";
export { createRequestLog, type RequestLog } from "./writer.ts";
