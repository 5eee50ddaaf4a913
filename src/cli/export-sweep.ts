/** The rounds that put each day that is over into its file, as the setting `exports` says. docs/operate.md. */
import type { Log } from "../base/log.ts";
import {
  exportNext,
  openExportPlace,
  type ExportKind,
  type ExportPlace,
} from "../exports/index.ts";
import type { Database, FileStore } from "../storage/index.ts";

const everyMsDefault = 60_000;

interface ExportSweep {
  readonly database: Database;
  readonly log: Log;
  /** Whether this process is the one of its gateway that looks; of several gateways the database lets one export at a time. */
  readonly sweeps: () => boolean;
  readonly exports: ExportPlace & { readonly what: readonly ExportKind[] };
  /** A minute if absent; 0: never. */
  readonly everyMs?: number | undefined;
}

/** Starts the rounds, one at a time; the returned function ends them, after the file under way. */
export function startExportSweep({
  database,
  log,
  sweeps,
  exports,
  everyMs = everyMsDefault,
}: ExportSweep): () => Promise<void> {
  let underWay: Promise<void> | undefined;
  let open = true;
  let place: FileStore | undefined;
  const goesOn = (): boolean => open;
  const round = async (): Promise<void> => {
    try {
      place ??= await openExportPlace(exports);
      for (const kind of exports.what) {
        while (goesOn()) {
          const done = await exportNext(database, place, kind);
          if (done === undefined) break;
          log.info({ ...done }, "exported a day");
        }
      }
    } catch (error) {
      log.warn({ err: error, to: exports.to }, "a day could not be exported; trying again later");
    }
    underWay = undefined;
  };
  const begin = (): void => {
    if (sweeps()) underWay ??= round();
  };
  const timer = everyMs > 0 ? setInterval(begin, everyMs) : undefined;
  return async () => {
    open = false;
    clearInterval(timer);
    await underWay;
    await place?.close();
  };
}
