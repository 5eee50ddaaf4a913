/** Everything from one database into an empty one, as a backup and its restore do it, without a file in between. */
import { PassThrough } from "node:stream";
import { schemaState, type Database } from "../storage/index.ts";
import { restoreBackup } from "./restore.ts";
import { writeBackup } from "./write.ts";

/**
 * Carries all rows over.
 * @throws SchemaError where this version cannot run on the schema; BackupError where what arrived is not what left
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
      isPresent: true,
    }),
    writeBackup({
      database: from,
      files: undefined,
      destination: through,
      version: "",
      progress: nothing,
    }),
  ]);
  // Of the side that failed first the other only knows that the stream was closed.
  const failures = [read, written].flatMap((side): unknown[] =>
    side.status === "rejected" ? [side.reason] : [],
  );
  if (failures.length > 0) throw failures.find((failure) => !isClosed(failure)) ?? failures[0];
}

const isClosed = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === "ERR_STREAM_PREMATURE_CLOSE";
