/** Copies everything from one database into an empty one: a backup and its restore, without a file in between. */
import { PassThrough } from "node:stream";
import { schemaState, type Database } from "../storage/index.ts";
import { restoreBackup } from "./restore.ts";
import { writeBackup } from "./write.ts";

/**
 * Copies all rows from `from` to `to`.
 * @throws SchemaError where this version cannot run on the schema; BackupError if the received data differs from the sent data
 */
export async function carryOver(from: Database, to: Database): Promise<void> {
  await schemaState(from);
  const through = new PassThrough();
  const nothing = (): void => undefined;
  const [read, written] = await Promise.allSettled([
    restoreBackup({
      database: to,
      source: through,
      replace: false,
      check: () => Promise.resolve(),
      progress: nothing,
      isCurrentCopy: true,
    }),
    writeBackup({
      database: from,
      files: undefined,
      destination: through,
      version: "",
      progress: nothing,
    }),
  ]);
  // When one side fails, the other only sees a closed stream. Report the error of the side that failed first.
  const failures = [read, written].flatMap((side): unknown[] =>
    side.status === "rejected" ? [side.reason] : [],
  );
  if (failures.length > 0) throw failures.find((failure) => !isClosed(failure)) ?? failures[0];
}

const isClosed = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE";
