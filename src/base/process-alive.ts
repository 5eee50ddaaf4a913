/** Process numbers: whether one runs, and where they mean the same. */
import { readlinkSync } from "node:fs";

/**
 * The process numbers that this process knows, as a name; empty where the system has no such name. Containers may share a host name and a
 * directory, and often have process 1 each: process numbers mean nothing across these.
 */
export const pidNamespace = readPidNamespace();

function readPidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid").replaceAll(/\D/g, "");
  } catch {
    return "";
  }
}

/**
 * Tells whether a process with this number runs on this machine. It may be another process by now: numbers are reused.
 * @returns also true for a process of another user
 */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
