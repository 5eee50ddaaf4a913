/** Exports one day on request, without recording it as exported. docs/data.md "Exports". */
import { dayMs } from "../base/durations.ts";
import { idTime } from "../base/ids.ts";
import type { FileStore } from "../files/index.ts";
import type { Queryable, Reads } from "../storage/index.ts";
import { fileBeforeRestore } from "./before-restore.ts";
import { exportDay, type Day, type DayFile } from "./day.ts";
import { closedMs } from "./open-calls.ts";

/** Rows of the day are gone, so a new file would lack them. */
class DayGoneError extends Error {
  override name = "DayGoneError";
}

async function refuseGone(tx: Queryable, { kind, day }: Day): Promise<void> {
  if (kind !== "requests") return;
  const rows = await tx.query("select 1 from request_log_start where id_time > $1", [
    idTime(Date.parse(`${day}T00:00:00Z`)),
  ]);
  if (rows.length === 0) return;
  throw new DayGoneError(
    `retention has removed calls of ${day}, so that its file would be empty, or written over by less: choose a later day`,
  );
}

/**
 * Seconds that log and ledger may be behind: rows of the last moment become visible, and gateways report calls that began before
 * midnight.
 */
const marginSeconds = 60;

/** Returns the time in ms before which everything is there; by the database's clock, since this machine's may be ahead. */
async function completeMs(tx: Queryable, kind: Day["kind"]): Promise<number> {
  if (kind === "requests") return closedMs(tx, marginSeconds);
  const [row] = await tx.query<{ ms: number }>(
    "select extract(epoch from ledger_now())::float8 * 1000 as ms",
  );
  return row!.ms - marginSeconds * 1_000;
}

/** The day is not over, or calls of it still run, so its file would lack some. */
class DayOpenError extends Error {
  override name = "DayOpenError";
}

async function refuseOpen(tx: Queryable, { kind, day }: Day): Promise<void> {
  if ((await completeMs(tx, kind)) >= Date.parse(`${day}T00:00:00Z`) + dayMs) return;
  throw new DayOpenError(
    kind === "requests"
      ? `calls or tasks of ${day} are not over yet, so that its file would lack them: try again later`
      : `${day} is not over yet by the database's clock, so that its file would lack entries: try again later`,
  );
}

async function refuseBeforeRestore(tx: Queryable, place: FileStore, day: Day): Promise<void> {
  const existing = await fileBeforeRestore(tx, place, day);
  if (existing === undefined) return;
  throw new DayGoneError(
    `${existing.file} is from before the database was restored from a backup, and may have what the backup lacks: ` +
      "choose another place, or move the file first",
  );
}

/** Writes the file of a day that is over, again or to another place. @throws DayGoneError, DayOpenError, and as {@link exportDay} */
export function exportOnRequest(reads: Reads, place: FileStore, day: Day): Promise<DayFile> {
  return reads.read(
    async (tx) => {
      await refuseGone(tx, day);
      await refuseOpen(tx, day);
      await refuseBeforeRestore(tx, place, day);
      return exportDay(tx, place, day);
    },
    { exact: true, snapshot: true },
  );
}
