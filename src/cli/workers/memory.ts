/** How a gateway's memory is shared out: what its processes need before they hold a body, and what a body may take. docs/operate.md "Bodies and memory". */
import { totalmem } from "node:os";
import { memoryPerByte } from "../../base/byte-budget.ts";
import type { Environment } from "../environment.ts";

const mebibyte = 1024 * 1024;
/** Of a process that holds no bodies, with what its first calls leave behind. */
const idleBytes = 160 * mebibyte;
/** Of the process that watches over workers, and of the embedded database. */
const supervisorBytes = 100 * mebibyte;
const embeddedBytes = 60 * mebibyte;
/**
 * So many times its counted size a body may take for a moment, as measured: its bytes, its text and what is parsed from it, both of
 * two bytes a character where one of them is not Latin, what is sent of it, and what of all that is not collected yet. Once more
 * for answers that wait for clients who do not read, which have a bound of the same size.
 */
const copies = memoryPerByte + 1;
/**
 * The same of a text call's body while it is converted, which is one at a time: what is full of quotes doubles where one protocol
 * has an object and another one a text of JSON.
 */
const textCopies = 12;
/** What may wait in queues, as parts of the bodies under way: calls for hooks, kept bodies and cached answers for the database. */
export const queueShares = { hooks: 1 / 8, keptBodies: 1 / 4, cachedAnswers: 1 / 8 } as const;
/** With less, pictures that vendors answer with have no room. */
const roomMin = 16 * mebibyte;

/** What a container may use, else what the machine has. */
export const memoryHere = (): number =>
  Math.min(process.constrainedMemory() || Infinity, totalmem());

/** How many processes serve, and which database they have. */
export interface Sharing extends Pick<Environment, "databaseUrl"> {
  readonly count: number;
}

/** What is taken beside the processes that serve. */
const besideBytes = ({ count, databaseUrl }: Sharing): number =>
  (databaseUrl === undefined ? embeddedBytes : 0) + (count > 1 ? supervisorBytes : 0);

/** What each of the processes that serve has of `bytes`. */
export const memoryOfEach = (sharing: Sharing, bytes: number): number =>
  (bytes - besideBytes(sharing)) / sharing.count;

/** The bytes of bodies that a process with so much memory has room for. */
export const roomForBodies = (memoryBytes: number): number =>
  Math.max(Math.floor((memoryBytes - idleBytes) / copies), roomMin);

/** The largest body of a text call there. */
export const roomForText = (memoryBytes: number): number =>
  Math.floor((roomForBodies(memoryBytes) * copies) / textCopies);

/** What all of it may take where each process holds so many bytes of bodies. */
export const memoryNeeded = (sharing: Sharing, bodiesBytes: number): number =>
  besideBytes(sharing) + sharing.count * (idleBytes + copies * bodiesBytes);
