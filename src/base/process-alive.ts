/** Process numbers: checks whether one is alive, and identifies the namespace in which they are unique. */
import { readlinkSync } from "node:fs";

/**
 * The id of this process's pid namespace; empty if the system has none. Containers may share a host name and a directory, and often
 * have a process 1 each: process numbers are comparable only within one namespace.
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
