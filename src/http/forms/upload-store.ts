/**
 * Where uploads wait for their task: the file store, with a row for each so that none is forgotten, whatever dies when.
 * Requirements: TASK (image files); STORE rows.
 */
import type { Clock } from "../../base/clock.ts";
import type { ErrorCode, GatewayError } from "../../base/errors.ts";
import {
  newFileName,
  recordFile,
  type Database,
  type FileRow,
  type FileStore,
} from "../../storage/index.ts";

export interface UploadStore {
  /** Streams one upload to storage. What the source throws is thrown on, and nothing stays. */
  put(
    source: AsyncIterable<Uint8Array>,
    mediaType: string,
  ): Promise<{ name: string; bytes: number }>;
  /** Removes all uploads at once. Never throws: what cannot be removed is left to the sweep. */
  discard(): Promise<void>;
}

export interface UploadServices {
  readonly files: FileStore;
  readonly database: Database;
  readonly clock: Clock;
}

/** Longer than any request may take. */
const receivingMs = 60 * 60 * 1000;
/** Longer than any task may take; uploads are let go as soon as their task has ended. */
const waitingMs = 4 * 24 * 60 * 60 * 1000;

/** A place for the uploads of one request. No file is above `bytesMax`. */
export function openUploads(
  { files, database, clock }: UploadServices,
  { workspaceId, bytesMax }: { readonly workspaceId: string; readonly bytesMax: number },
): UploadStore {
  const rows = new Map<string, FileRow>();
  const record = async (row: FileRow, keptMs: number): Promise<void> => {
    const kept = { ...row, expiresAt: new Date(clock.now() + keptMs) };
    rows.set(row.name, kept);
    await recordFile(database, kept);
  };
  return {
    async put(source, mediaType) {
      const now = new Date(clock.now());
      const row: FileRow = {
        name: newFileName(mediaType),
        workspaceId,
        taskId: null,
        purpose: "input",
        mediaType,
        bytes: 0,
        createdAt: now,
        expiresAt: now,
      };
      // The row first: a crash in between leaves nothing that the sweep does not find.
      await record(row, receivingMs);
      const { bytes } = await files.put(row.name, source, { mediaType, bytesMax });
      await record({ ...row, bytes }, waitingMs);
      return { name: row.name, bytes };
    },
    async discard() {
      const gone = [...rows.values()];
      rows.clear();
      await Promise.allSettled(
        gone.map(async (row) => {
          await files.remove(row.name);
          // The sweep takes the row with it.
          await recordFile(database, { ...row, expiresAt: new Date(clock.now()) });
        }),
      );
    },
  };
}

/** Errors after which a task may exist all the same: its uploads must stay, and the sweep has the last word. */
const uncertain: ReadonlySet<ErrorCode> = new Set(["internal_error", "database_unavailable"]);

/** Whether an error says for certain that there is no task. */
export const isRefusal = (error: GatewayError): boolean => !uncertain.has(error.code);
