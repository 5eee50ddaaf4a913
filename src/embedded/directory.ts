/**
 * Passes a directory to the server as an open file, where Linux allows it. The path `/proc/self/fd/N` needs no permission to pass the
 * directories above, such as a root's home of mode 0700. It is also always short enough for the path of a Unix socket.
 */
import { closeSync, constants, mkdtempSync, openSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Longest path of a Unix socket on all systems, in bytes; 104 on macOS, 108 on Linux, the closing zero included. */
const socketPathBytesMax = 103;
/** The driver derives the socket's file name from the port. */
export const socketPort = 5432;

export interface OpenDirectory {
  /** Path of the directory for this process. */
  readonly path: string;
  /** Path of the directory for a child process that receives `file` as its descriptor `at`. */
  childPath(at: number): string;
  /** Descriptor to pass in a child's `stdio`; undefined if the system has no such paths. */
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

/** Returns a path of the socket's directory that is short enough; `close` releases its descriptor or link. */
export function openSocketPath(directory: string): { path: string; close(): void } {
  const length = Buffer.byteLength(join(directory, `.s.PGSQL.${socketPort}`));
  if (length <= socketPathBytesMax) return { path: directory, close: () => undefined };
  if (process.platform === "linux") return openDirectory(directory);
  const short = mkdtempSync(join(tmpdir(), "tollgate-"));
  const link = join(short, "s");
  symlinkSync(directory, link);
  return { path: link, close: () => rmSync(short, { recursive: true, force: true }) };
}
