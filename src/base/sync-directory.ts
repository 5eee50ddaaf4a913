/**
 * Makes file names durable. After a power failure a synced file exists, but its name only if its directory was synced too. Sync the
 * directory before you acknowledge something under a new name.
 */
import { closeSync, fsyncSync, openSync } from "node:fs";
import { open } from "node:fs/promises";

/** Errors to ignore: some file systems cannot sync directories, and an unreadable directory cannot be opened. Windows syncs none. */
const unsupportedCodes = new Set(["EINVAL", "ENOTSUP", "EACCES", "EPERM"]);

function throwUnlessUnsupported(error: unknown): void {
  if (!unsupportedCodes.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
}

/** Resolves once the names in `directory` are on disk. @throws Error of the system, such as EIO */
export async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === "win32") return;
  try {
    const handle = await open(directory, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    throwUnlessUnsupported(error);
  }
}

/** The same, synchronously. */
export function syncDirectoryNow(directory: string): void {
  if (process.platform === "win32") return;
  try {
    const file = openSync(directory, "r");
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throwUnlessUnsupported(error);
  }
}
