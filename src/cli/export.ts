/** `tollgate export`: exports days of the request log or the ledger as files, on demand. docs/data.md. */
import { counted } from "../base/counted.ts";
import { hasDay, dayText } from "../base/days.ts";
import { dayMs } from "../base/durations.ts";
import { exportFormats } from "../base/export-place.ts";
import { exportOnRequest, exportKinds, openExportPlace } from "../exports/index.ts";
import { readsOf } from "../storage/index.ts";
import { agentsThrough } from "../upstream/index.ts";
import { createLog } from "../base/log.ts";
import { settingsForCommands } from "./catalog.ts";
import { openReplicaOf } from "./database.ts";
import { readEnvironment } from "./environment.ts";
import { UsageError } from "./usage-error.ts";
import { wordOf } from "./fields.ts";
import { withDatabase } from "./open.ts";
import { printJsonLine } from "./print.ts";
import { environmentProxies } from "./proxies.ts";

export interface ExportOptions {
  readonly from: string;
  readonly to?: string;
  readonly into?: string;
  readonly format?: string;
  readonly json?: boolean;
}

/** Returns the start of a day in UTC, in Unix milliseconds. @throws UsageError */
function dayOf(text: string, option: string): number {
  const ms = Date.parse(`${text}T00:00:00Z`);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || !hasDay(text))
    throw new UsageError(`${option} is a day in UTC, such as 2026-11-23`);
  return ms;
}

function refuseUnended(day: number, option: string): void {
  const now = Date.now();
  if (day + dayMs <= now) return;
  throw new UsageError(
    `${option} is ${dayText(day)}, which is not over yet in UTC; the last day that is over is ${dayText(now - dayMs)}`,
  );
}

/** Writes one file for each day from `--from` to `--to`, both included. */
export async function exportCommand(what: string, options: ExportOptions): Promise<void> {
  const kind = wordOf(what, "what is exported", exportKinds);
  const first = dayOf(options.from, "--from");
  const last = options.to === undefined ? first : dayOf(options.to, "--to");
  if (last < first) throw new UsageError("--to is a day before --from");
  refuseUnended(last, options.to === undefined ? "--from" : "--to");
  const environment = readEnvironment(process.env);
  const { exports } = await settingsForCommands(environment);
  const to = options.into ?? exports?.to;
  if (to === undefined)
    throw new UsageError(
      "--into is missing: a folder, or s3://bucket/prefix; exports.to is not set either",
    );
  const format =
    options.format === undefined
      ? exports?.format
      : wordOf(options.format, "--format", exportFormats);
  const place = await openExportPlace({ ...exports, to }, () =>
    agentsThrough(environmentProxies(environment)),
  );
  try {
    await withDatabase(async ({ database }) => {
      const replica = openReplicaOf(environment, { database, log: createLog("warn") });
      try {
        await replica?.firstCheck;
        for (let ms = first; ms <= last; ms += dayMs) {
          const day = dayText(ms);
          const reads = replica ?? readsOf(database);
          const done = await exportOnRequest(reads, place, { kind, day, format });
          if (options.json) printJsonLine({ day, ...done });
          else
            console.log(
              `${done.file}: ${counted(done.rows, "row")}, ${counted(done.bytes, "byte")}`,
            );
        }
      } finally {
        await replica?.close();
      }
    });
  } finally {
    await place.close();
  }
}
