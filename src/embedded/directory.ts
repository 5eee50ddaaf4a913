/**
 * A directory handed to the server as an open file, where Linux allows it: the path `/proc/self/fd/N` needs no right to pass
 * the directories above (a root's home of mode 0700), and is never longer than the name of a Unix socket may be.
 */
import { closeSync, constants, mkdtempSync, openSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Of a Unix socket's path; 104 on macOS, 108 on Linux, the closing zero included. */
const socketPathBytesMax = 103;
/** The driver derives the socket's file name from the port. */
export const socketPort = 5432;

export interface OpenDirectory {
  /** How this process reaches it. */
  readonly path: string;
  /** How a child reaches it that gets `file` as its descriptor `at`. */
  childPath(at: number): string;
  /** What a child is given in its `stdio`; undefined where the system has no such paths. */
  readonly file: number | undefined;
  close(): void;
}

export function openDirectory(path: string): OpenDirectory {
  if (process.platform !== "linux")
    return { path, childPath: () => path, file: undefined, close: () => undefined };
  const file = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  return {
    path: `/proc/self/fd/${file}`,
    childPath: (at) => `/proc/self/fd/${at}`,
    file,
    close: () => closeSync(file),
  };
}

/** The socket's directory by a path that is short enough; `close` gives up what that took. */
export function reachSocket(directory: string): { path: string; close(): void } {
  const length = Buffer.byteLength(join(directory, `.s.PGSQL.${socketPort}`));
  if (length <= socketPathBytesMax) return { path: directory, close: () => undefined };
  if (process.platform === "linux") return openDirectory(directory);
  const short = mkdtempSync(join(tmpdir(), "tollgate-"));
  const link = join(short, "s");
  symlinkSync(directory, link);
  return { path: link, close: () => rmSync(short, { recursive: true, force: true }) };
}
