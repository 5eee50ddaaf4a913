/**
 * Whether a process with this number runs on this machine. It may be another one by now: numbers are used again.
 * @returns also true for one that belongs to somebody else
 */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
