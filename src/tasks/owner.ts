/**
 * Whose lease it is: a token begins with its process, so that others know when that is gone and need not wait for the lease's end.
 * A process is known by the number of its listening connection to the database, which ends with it; and by its place, which tells for
 * certain that it is dead. docs/tasks.md "What a crash does"; T79, T81.
 */
import { createHash, randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { isAlive } from "../base/process-alive.ts";

/** Where a process runs, and which of that number it is. */
interface Place {
  /** The running system and the space of process numbers, as one name. */
  readonly machine: string;
  readonly pid: number;
  /** When it began, in the system's ticks: numbers are used again. */
  readonly began: string;
}

/** What the system tells of a process; undefined where there is no such process, or nothing to be read. */
function statOf(
  pid: number | "self",
): { readonly state: string; readonly began: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name before may hold anything.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0]!, began: fields[19]! };
  } catch {
    return undefined;
  }
}

function readPlace(): Place | undefined {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const space = readlinkSync("/proc/self/ns/pid");
    const machine = createHash("sha256").update(`${boot} ${space}`).digest("hex").slice(0, 16);
    const began = statOf("self")?.began;
    return began === undefined ? undefined : { machine, pid: process.pid, began };
  } catch {
    // Not Linux: nothing is known for certain then.
    return undefined;
  }
}

let ownPlace: { readonly place: Place | undefined } | undefined;
const placeHere = (): Place | undefined => (ownPlace ??= { place: readPlace() }).place;

/** The process that a token begins with: its number, and its place where that is known. */
export interface Owner {
  readonly number: number;
  readonly place: Place | undefined;
}

/** This process, with the number of its listening connection. */
export const ownerHere = (number: number): Owner => ({ number, place: placeHere() });

/** An owner as tokens have it: without a space. */
export const ownerText = ({ number, place }: Owner): string =>
  place === undefined ? `${number}` : `${number}@${place.machine}:${place.pid}:${place.began}`;

const shape = /^(\d{1,10})(?:@([0-9a-f]{16}):(\d{1,10}):(\d{1,20}))?$/;

/** Undefined for what is none: a token of an older version. */
export function readOwner(text: string): Owner | undefined {
  const [, number, machine, pid, began] = shape.exec(text) ?? [];
  if (number === undefined) return undefined;
  const place = machine === undefined ? undefined : { machine, pid: Number(pid), began: began! };
  return { number: Number(number), place };
}

/** A token for a claim. */
export const newToken = (owner: Owner): string => `${ownerText(owner)} ${randomUUID()}`;

/** Whether the process is dead, for certain; undefined where this process cannot know. */
export function isDead({ place }: Owner): boolean | undefined {
  if (place === undefined || place.machine !== placeHere()?.machine) return undefined;
  if (!isAlive(place.pid)) return true;
  const stat = statOf(place.pid);
  // One of another user may be hidden.
  return stat !== undefined && (stat.began !== place.began || ["Z", "X"].includes(stat.state));
}
