/** Opens the file store that the configuration names. docs/configuration.md, `storage`. */
import { join } from "node:path";
import { DataDirectoryUnusableError, makeInDataDirectory } from "../base/data-directory.ts";
import { openLocalFiles } from "./local.ts";
import type { FileStore, FileStoreOptions } from "./store.ts";

/** Returns the directory of a local store, unless the configuration names another. */
export const filesDirectory = (dataDir: string): string => join(dataDir, "files");

/**
 * Opens the store: the directory `files` of `dataDir`, another directory, or a bucket.
 * @throws DataDirectoryUnusableError; Error where another directory cannot be made, or no bucket is named
 */
export async function openFileStore(
  options: FileStoreOptions,
  dataDir: string,
): Promise<FileStore> {
  if (options.kind === "local") {
    if (options.directory !== undefined) return openLocalFiles(options.directory);
    const own = filesDirectory(dataDir);
    makeInDataDirectory(dataDir, own, 0o700);
    try {
      return await openLocalFiles(own);
    } catch (error) {
      // For example, it belongs to another user.
      throw new DataDirectoryUnusableError(dataDir, error);
    }
  }
  // Loaded only if used: it takes longer than the rest of the start.
  const { openS3Files } = await import("./s3.ts");
  return openS3Files(options);
}
