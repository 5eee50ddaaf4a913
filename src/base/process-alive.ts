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
