/**
 * Names on the disk. A file that is synced is there after a power failure, but whether its name is, its directory decides:
 * who acknowledges something under a new name syncs that first.
 */
import { closeSync, fsyncSync, openSync } from "node:fs";
import { open } from "node:fs/promises";

/** Windows syncs no directories; some file systems cannot, and one that may not be read cannot be opened for it. */
const cannot = new Set(["EINVAL", "ENOTSUP", "EACCES", "EPERM"]);

function throwUnlessItCannot(error: unknown): void {
  if (!cannot.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
}

/** Resolves once the names that `directory` holds now are on the disk. @throws Error of the system, such as EIO */
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
    throwUnlessItCannot(error);
  }
}

/** The same, at once. */
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
    throwUnlessItCannot(error);
  }
}
