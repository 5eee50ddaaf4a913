/** The rounds that put each day that is over into its file, as the setting `exports` says. docs/operate.md. */
import type { Log } from "../base/log.ts";
import type { Proxies } from "../base/proxy.ts";
import {
  exportNext,
  openExportPlace,
  type ExportKind,
  type ExportPlace,
} from "../exports/index.ts";
import type { Database, FileStore } from "../storage/index.ts";
import { agentsThrough } from "../upstream/index.ts";
import { startRounds } from "./rounds.ts";

const everyMsDefault = 60_000;

interface ExportSweep {
  readonly database: Database;
  readonly log: Log;
  /** Whether this process is the one of its gateway that looks; of several gateways the database lets one export at a time. */
  readonly sweeps: () => boolean;
  readonly exports: ExportPlace & { readonly what: readonly ExportKind[] };
  /** Those that lead to a bucket. */
  readonly proxies: Proxies;
  /** A minute if absent; 0: never. */
  readonly everyMs?: number | undefined;
}

/** Starts the rounds, one at a time; the returned function ends them, after the file under way. */
export function startExportSweep({
  database,
  log,
  sweeps,
  exports,
  proxies,
  everyMs = everyMsDefault,
}: ExportSweep): () => Promise<void> {
  let place: FileStore | undefined;
  const end = startRounds({
    everyMs,
    sweeps,
    log,
    failure: `a day could not be exported to ${exports.to}; trying again later`,
    async round(goesOn) {
      place ??= await openExportPlace(exports, () => agentsThrough(proxies));
      for (const kind of exports.what) {
        while (goesOn()) {
          const done = await exportNext(database, place, kind);
          if (done === undefined) break;
          log.info({ ...done }, "exported a day");
        }
      }
    },
  });
  return async () => {
    await end();
    await place?.close();
  };
}
