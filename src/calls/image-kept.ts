/**
 * Files that an image call leaves behind: its pictures, and its answer for replays. Until the call is charged they are
 * nobody's, and the sweep finds them whatever happens; from then on they are kept. Rows STORE; EDIT2-35.
 */
import {
  expireFilesAt,
  newFileName,
  recordFile,
  type FileRow,
  type Queryable,
} from "../storage/index.ts";
import type { ImageServices } from "./image-context.ts";

export interface KeptFiles {
  /** Writes a file; returns its name. */
  put(purpose: FileRow["purpose"], mediaType: string, bytes: Buffer): Promise<string>;
  /** Keeps them, in the transaction that charges the call. */
  keep(tx: Queryable, keptMs: Readonly<Record<string, number>>): Promise<void>;
  /** Removes them all. Never throws: what cannot be removed is left to the sweep. */
  discard(): Promise<void>;
}

/** Longer than any charge takes. */
const unclaimedMs = 60 * 60 * 1000;

/** A place for the files of one call. */
export function openKept(
  { files, database, clock }: ImageServices,
  workspaceId: string,
): KeptFiles {
  const rows = new Map<string, FileRow>();
  return {
    async put(purpose, mediaType, bytes) {
      const name = newFileName(mediaType);
      const now = clock.now();
      const row: FileRow = {
        name,
        workspaceId,
        taskId: null,
        purpose,
        mediaType,
        bytes: 0,
        createdAt: new Date(now),
        expiresAt: new Date(now + unclaimedMs),
      };
      rows.set(name, row);
      // The row first: a crash in between leaves nothing that the sweep does not find.
      await recordFile(database, row);
      const limits = { mediaType, bytesMax: bytes.length };
      await files.put(name, chunksOf(bytes), limits);
      await recordFile(database, { ...row, bytes: bytes.length });
      return name;
    },
    async keep(tx, keptMs) {
      for (const { name, purpose } of rows.values()) {
        await expireFilesAt(tx, [name], new Date(clock.now() + (keptMs[purpose] ?? 0)));
      }
    },
    async discard() {
      const names = [...rows.keys()];
      rows.clear();
      if (names.length === 0) return;
      await Promise.allSettled([
        ...names.map((name) => files.remove(name)),
        expireFilesAt(database, names, new Date(clock.now())),
      ]);
    },
  };
}

async function* chunksOf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
