/** A file of a backup on its way into the store: whole, or nothing of it. */
import { PassThrough } from "node:stream";
import { FileTooLargeError, type FileStore } from "../files/index.ts";
import { BackupError } from "./frames.ts";

/** Takes the bytes of one file of a backup. */
export interface FileWriter {
  write(bytes: Buffer): Promise<void>;
  end(): Promise<void>;
  /** Leaves nothing of it behind. */
  abort(): Promise<void>;
}

const nothing = (): Promise<void> => Promise.resolve();

interface Files {
  /** Where they go; undefined where nothing takes them. */
  readonly files?: FileStore;
  /** What the database named before. */
  readonly before: ReadonlySet<string>;
  /** What was put into the store so far, where it was not. */
  readonly taken: Set<string>;
}

interface StatedFile {
  readonly name: string;
  readonly bytes: number;
}

/**
 * Whether a file is in the store already. The database may have outlived the disk that its files were on. One that it names is
 * never written over: the restore may still be given up.
 */
async function isThere(
  files: FileStore,
  before: ReadonlySet<string>,
  { name, bytes }: StatedFile,
): Promise<boolean> {
  const there = await files.open(name);
  there?.stream.destroy();
  return there !== undefined && (there.bytes === bytes || before.has(name));
}

/** Begins a file. A name is that of one file for ever: what is there already stays. @throws BackupError */
export async function putFile(
  { files, before, taken }: Files,
  file: StatedFile,
): Promise<FileWriter> {
  if (files === undefined) throw new BackupError("the backup has files, and nothing takes them");
  if (await isThere(files, before, file)) return { write: nothing, end: nothing, abort: nothing };
  const { name, bytes } = file;
  taken.add(name);
  const through = new PassThrough();
  // Given up before the store listens to it, its error would end the process. `stored` fails with it.
  through.on("error", () => undefined);
  const notWhole = (): BackupError =>
    new BackupError(`the file ${name} is not whole in the backup`);
  const putting = files.put(name, through, {
    mediaType: "application/octet-stream",
    bytesMax: bytes,
  });
  const stored = putting.catch((error: unknown) => {
    throw error instanceof FileTooLargeError ? notWhole() : error;
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
