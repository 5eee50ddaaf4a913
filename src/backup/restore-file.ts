/** Writes one file of a backup into the store: the whole file or nothing. */
import { PassThrough } from "node:stream";
import { FileTooLargeError, type FileStore } from "../files/index.ts";
import { BackupError } from "./frames.ts";

/** Receives the bytes of one file of a backup. */
export interface FileWriter {
  write(bytes: Buffer): Promise<void>;
  end(): Promise<void>;
  /** Aborts, and leaves no part of the file in the store. */
  abort(): Promise<void>;
}

const noop = (): Promise<void> => Promise.resolve();

interface Files {
  /** Where the files are stored; undefined if there is no store. */
  readonly files?: FileStore;
  /** Names of files that the database held before the restore. */
  readonly before: ReadonlySet<string>;
  /** Names of files that this restore has put into the store and that were not there before. */
  readonly storedNames: Set<string>;
}

/** Codes of a disk, or of a directory on it, that takes no file. */
const diskCodes: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EACCES"]);

function notStored(name: string, error: unknown): BackupError | undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (!diskCodes.has(code)) return undefined;
  return new BackupError(
    `the file ${name} could not be stored in the data directory (${code}): see its free space and rights`,
  );
}

interface StatedFile {
  readonly name: string;
  readonly bytes: number;
}

/**
 * True if the file is in the store already. The store's disk may have been lost while the database survived. A file that the database
 * names is never overwritten: the restore may still be aborted.
 */
async function isStored(
  files: FileStore,
  before: ReadonlySet<string>,
  { name, bytes }: StatedFile,
): Promise<boolean> {
  const found = await files.size(name);
  return found !== undefined && (found === bytes || before.has(name));
}

/** Starts to store a file. A name always stands for the same file, so an existing file stays. @throws BackupError */
export async function putFile(
  { files, before, storedNames }: Files,
  file: StatedFile,
): Promise<FileWriter> {
  if (files === undefined) throw new BackupError("the backup has files, and nothing takes them");
  if (await isStored(files, before, file)) return { write: noop, end: noop, abort: noop };
  const { name, bytes } = file;
  storedNames.add(name);
  const through = new PassThrough();
  // If the restore aborts before the store listens, an unhandled stream error would end the process. `stored` fails with the same
  // error.
  through.on("error", () => undefined);
  const notWhole = (): BackupError =>
    new BackupError(`the file ${name} is not whole in the backup`);
  const putting = files.put(name, through, {
    mediaType: "application/octet-stream",
    bytesMax: bytes,
  });
  const stored = putting.catch((error: unknown) => {
    throw error instanceof FileTooLargeError ? notWhole() : (notStored(name, error) ?? error);
  });
  stored.catch(() => through.destroy());
  let ended = false;
  return {
    async write(chunk) {
      if (through.destroyed) await stored;
      if (!through.write(chunk))
        await Promise.race([new Promise((resume) => through.once("drain", resume)), stored]);
    },
    async abort() {
      through.destroy(new BackupError("the restore was given up"));
      await stored.catch(() => undefined);
    },
    async end() {
      if (ended) return;
      ended = true;
      through.end();
      const put = await stored;
      if (put.bytes !== bytes) throw notWhole();
    },
  };
}
