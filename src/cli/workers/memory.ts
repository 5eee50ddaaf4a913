/** Division of a gateway's memory between its idle processes and the bodies they hold. docs/load.md "Bodies and memory". */
import { totalmem } from "node:os";
import { memoryPerByte } from "../../base/byte-budget.ts";
import type { Environment } from "../environment.ts";

const mebibyte = 1024 * 1024;
/** Memory of a process that holds no bodies, after its first calls. */
const idleBytes = 160 * mebibyte;
/** Memory of the supervisor, and of the embedded database. */
const supervisorBytes = 100 * mebibyte;
const embeddedBytes = 60 * mebibyte;
/**
 * Peak memory of a body, as a multiple of its counted size, as measured. It contains the body's bytes, its text and the parsed value,
 * the request to the vendor, and uncollected garbage. Text takes two bytes a character if one of them is not Latin. One more for
 * answers that clients do not read, which have a limit of the same size.
 */
const copies = memoryPerByte + 1;
/**
 * The same for the body of a text call during its conversion; only one is converted at a time. A body full of quotes doubles if one
 * protocol has an object where the other has JSON text.
 */
const textCopies = 12;
/** Limits of queues, as shares of the limit of bodies in flight: calls for hooks, kept bodies and cached answers for the database. */
export const queueShares = { hooks: 1 / 8, keptBodies: 1 / 4, cachedAnswers: 1 / 8 } as const;
/** Memory of a connection with TLS whose request's head has arrived in part, as measured; without TLS half of it. */
const connectionBytes = 96 * 1024;
/** The part of a process's memory that connections may take: strangers can open them all. */
const connectionsShare = 1 / 4;
const connectionsMin = 64;
/** With less, there is no room for images in vendors' answers. */
const roomMin = 16 * mebibyte;

/** Returns the container's memory limit, or else the machine's memory. */
export const memoryHere = (): number =>
  Math.min(process.constrainedMemory() || Infinity, totalmem());

/** The number of serving processes, and their database. */
export interface Sharing extends Pick<Environment, "databaseUrl"> {
  readonly count: number;
}

/** Memory of the other processes. */
const besideBytes = ({ count, databaseUrl }: Sharing): number =>
  (databaseUrl === undefined ? embeddedBytes : 0) + (count > 1 ? supervisorBytes : 0);

/** Returns the part of `bytes` that each serving process has. */
export const memoryOfEach = (sharing: Sharing, bytes: number): number =>
  (bytes - besideBytes(sharing)) / sharing.count;

/** Returns the bytes of bodies that fit into a process with this much memory. */
export const roomForBodies = (memoryBytes: number): number =>
  Math.max(Math.floor((memoryBytes - idleBytes) / copies), roomMin);

/** Returns how many connections of callers fit into such a process. */
export const roomForConnections = (memoryBytes: number): number =>
  Math.max(Math.floor((memoryBytes * connectionsShare) / connectionBytes), connectionsMin);

/** Returns the largest body of a text call for such a process. */
export const roomForText = (memoryBytes: number): number =>
  Math.floor((roomForBodies(memoryBytes) * copies) / textCopies);

/** Returns the most memory of all processes if each serving process holds this many bytes of bodies. */
export const memoryNeeded = (sharing: Sharing, bodiesBytes: number): number =>
  besideBytes(sharing) + sharing.count * (idleBytes + copies * bodiesBytes);
