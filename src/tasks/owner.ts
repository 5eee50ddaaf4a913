/**
 * The owner of a lease. A token begins with its process, so that others notice when that is gone and need not wait for the lease's end.
 * A process is identified by the number of its listening connection to the database, which ends with it. Its place tells for
 * certain that it is dead. docs/tasks.md "After a crash"; T79, T81.
 */
import { createHash, randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { isAlive } from "../base/process-alive.ts";

/** The machine of a process, and the process itself, although pids are used again. */
interface ProcessIdentity {
  /** The running system and the pid namespace, as one hash. */
  readonly machine: string;
  readonly pid: number;
  /** Its start time, in the system's ticks, because pids are used again. */
  readonly began: string;
}

/** The state of a process from /proc; undefined if there is no such process, or nothing can be read. */
function statOf(
  pid: number | "self",
): { readonly state: string; readonly began: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The process name before it may contain anything.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0]!, began: fields[19]! };
  } catch {
    return undefined;
  }
}

function readProcess(): ProcessIdentity | undefined {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const space = readlinkSync("/proc/self/ns/pid");
    const machine = createHash("sha256").update(`${boot} ${space}`).digest("hex").slice(0, 16);
    const began = statOf("self")?.began;
    return began === undefined ? undefined : { machine, pid: process.pid, began };
  } catch {
    // Not Linux: then no process is certainly dead.
    return undefined;
  }
}

let ownProcess: { readonly place: ProcessIdentity | undefined } | undefined;
const currentProcess = (): ProcessIdentity | undefined =>
  (ownProcess ??= { place: readProcess() }).place;

/** The process in a token: its number, and its place if that is known. */
export interface Owner {
  readonly number: number;
  readonly place: ProcessIdentity | undefined;
}

/** This process, with the number of its listening connection. */
export const currentOwner = (number: number): Owner => ({ number, place: currentProcess() });

/** An owner as text for tokens: without a space. */
export const ownerText = ({ number, place }: Owner): string =>
  place === undefined ? `${number}` : `${number}@${place.machine}:${place.pid}:${place.began}`;

const shape = /^(\d{1,10})(?:@([0-9a-f]{16}):(\d{1,10}):(\d{1,20}))?$/;

/** Parses an owner; undefined for other text, such as a token of an older version. */
export function readOwner(text: string): Owner | undefined {
  const [, number, machine, pid, began] = shape.exec(text) ?? [];
  if (number === undefined) return undefined;
  const place = machine === undefined ? undefined : { machine, pid: Number(pid), began: began! };
  return { number: Number(number), place };
}

/** Creates a token for a claim. */
export const newToken = (owner: Owner): string => `${ownerText(owner)} ${randomUUID()}`;

/** True if the process is certainly dead; undefined if this process cannot know. */
export function isDead({ place }: Owner): boolean | undefined {
  if (place === undefined || place.machine !== currentProcess()?.machine) return undefined;
  if (!isAlive(place.pid)) return true;
  const stat = statOf(place.pid);
  // A process of another user may be hidden.
  return stat !== undefined && (stat.began !== place.began || ["Z", "X"].includes(stat.state));
}
