// Pictures and bodies of multipart calls, and a real store for uploads.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import {
  inputDrafts,
  openFileStore,
  type FileDrafts,
  type FileStore,
} from "../../src/files/index.ts";
import { migrate, openDatabase, type Database } from "../../src/storage/index.ts";

/** A picture that does not compress, so that a test can choose its size. */
export function picture(
  format: "png" | "jpeg" | "webp",
  { width = 8, height = 8, alpha = false } = {},
): Promise<Buffer> {
  const channels = alpha ? 4 : 3;
  const bytes = Array.from({ length: width * height * channels }, (_, at) => (at * 7919) % 251);
  return sharp(Buffer.from(bytes), { raw: { width, height, channels } })
    .toFormat(format)
    .toBuffer();
}

/** A picture padded to a size. Its header ignores the bytes behind it. */
export const padded = (file: Buffer, bytes: number): Buffer =>
  Buffer.concat([file, Buffer.alloc(bytes - file.length)]);

type Entry = readonly [name: string, content: string | Buffer, filename?: string];

/** A multipart body with the boundary `xyz`. */
export function bodyOf(entries: readonly Entry[]): Buffer {
  const parts = entries.map(([name, content, filename]) => {
    const file = filename === undefined ? "" : `; filename="${filename}"`;
    return Buffer.concat([
      Buffer.from(`--xyz\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from("\r\n"),
    ]);
  });
  return Buffer.concat([...parts, Buffer.from("--xyz--\r\n")]);
}

export interface UploadStore {
  readonly files: FileStore;
  /** The names of all kept files, including half-written ones. */
  kept(): string[];
  /** Uploads into these files, by default the place's own. */
  uploads(files?: FileStore): FileDrafts;
}

/** A file store below a directory. */
async function openUploadStore(database: Database, directory: string): Promise<UploadStore> {
  const files = await openFileStore({ kind: "local" }, directory);
  return {
    files,
    kept: () => readdirSync(join(directory, "files")).sort(),
    uploads: (into = files) => inputDrafts({ files: into, database, clock: systemClock }, "ws_1"),
  };
}

/** A database and a store of its own, for the tests of one file. */
export function useUploadStore(): {
  readonly database: Database;
  readonly uploadStore: UploadStore;
} {
  let dataDir: string;
  let database: Database;
  let uploadStore: UploadStore;
  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "tollgate-uploads-"));
    database = await openDatabase({ dataDir, log: silentLog });
    await migrate(database);
    uploadStore = await openUploadStore(database, dataDir);
  });
  afterAll(async () => {
    await database.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return {
    get database() {
      return database;
    },
    get uploadStore() {
      return uploadStore;
    },
  };
}
