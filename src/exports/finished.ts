/** Exports every finished day that has no file yet, until the gateway stops. */
import type { ExportFormat } from "../base/export-place.ts";
import type { Log } from "../base/log.ts";
import type { FileStore } from "../files/index.ts";
import type { Database } from "../storage/index.ts";
import type { ExportKind } from "./lines.ts";
import { exportNext } from "./next.ts";

interface FinishedDays {
  readonly database: Database;
  readonly place: FileStore;
  readonly what: readonly ExportKind[];
  readonly format: ExportFormat | undefined;
  readonly log: Pick<Log, "info" | "warn">;
}

/**
 * Exports the days, one after the other. When `shouldContinue` returns false, also the file that is being written is given up: a large day
 * takes minutes. The next gateway writes it. `ended` aborts at that moment: a bucket may not answer.
 */
export async function exportFinished(
  { database, place, what, format, log }: FinishedDays,
  shouldContinue: () => boolean,
  ended?: AbortSignal,
): Promise<void> {
  const stoppable = withStop(place, shouldContinue, ended);
  for (const kind of what) {
    while (shouldContinue()) {
      const done = await exportNext(database, stoppable, kind, format).catch((error: unknown) => {
        if (shouldContinue()) throw error;
      });
      if (done === undefined) break;
      const { kept, ...file } = done;
      if (kept) log.warn(file, "a day's file from before the restore of a backup stays as it is");
      else log.info(file, "exported a day");
    }
  }
}

/** Returns the place with files that fail when `shouldContinue` returns false. */
const withStop = (
  place: FileStore,
  shouldContinue: () => boolean,
  ended: AbortSignal | undefined,
): FileStore => ({
  ...place,
  async put(name, source, options) {
    async function* checked(): AsyncGenerator<Uint8Array> {
      for await (const chunk of source as AsyncIterable<Uint8Array>) {
        if (!shouldContinue()) throw new Error("the gateway stops");
        yield chunk;
      }
    }
    return place.put(name, checked(), { ...options, ended });
  },
});
