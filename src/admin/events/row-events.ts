/** Turns new rows into events for the readers who may see them. A row that cannot be rendered does not hold back the others. */
import { throttleCounter } from "../../base/throttle-counter.ts";
import type { Log } from "../../base/log.ts";
import { isTransient } from "../../storage/index.ts";
import type { Visibility } from "../../tenancy/index.ts";
import type { NewName, RowTopic } from "./news.ts";
import { fitsFilter, isVisible, type NewRow, type RowFilter, type Topic } from "./reader.ts";

/** A row, or the number of rows that were skipped. */
export interface RowEvent {
  readonly event: "row" | "skipped";
  readonly data: object;
}

/** The topics, filter and visibility of a reader. */
export interface RowReader {
  readonly topics: readonly Topic[];
  readonly filter: RowFilter;
  readonly sight: { readonly rows: Readonly<Record<RowTopic, Visibility>> };
}

export interface RowEventsOptions {
  readonly log: Pick<Log, "warn">;
  /** Reads rows of one kind by their names. */
  readonly read: (topic: RowTopic, names: readonly NewName[]) => Promise<readonly NewRow[]>;
}

const warnMs = 60_000;
/** Row ids in one log line. */
const warnedRowsMax = 5;

export class RowEvents {
  readonly #options: RowEventsOptions;
  readonly #unshown = throttleCounter(warnMs);

  constructor(options: RowEventsOptions) {
    this.#options = options;
  }

  /** Reads rows by their names. Undefined after an error that a retry would not mend; transient errors are thrown. */
  async read(names: readonly NewName[]): Promise<readonly NewRow[] | undefined> {
    const groups = Map.groupBy(names, ({ topic }) => topic);
    try {
      const read = await Promise.all(
        [...groups].map(([topic, of]) => this.#options.read(topic, of)),
      );
      return read.flat();
    } catch (error) {
      if (isTransient(error)) throw error;
      this.#warn(error, names);
      return undefined;
    }
  }

  /** The events of some rows for a reader. A kind with more than `rowsMax` rows gives only their number. */
  eventsFor(reader: RowReader, rows: readonly NewRow[], rowsMax = Infinity): RowEvent[] {
    const fitting = rows.filter((row) => this.#guard(row, () => isFor(reader, row)) === true);
    return [...Map.groupBy(fitting, ({ name }) => name.topic)].flatMap(([topic, of]) =>
      of.length > rowsMax
        ? [{ event: "skipped" as const, data: { topic, count: of.length } }]
        : of.flatMap((row) => this.#guard(row, () => eventOf(reader, row)) ?? []),
    );
  }

  #guard<Result>(row: NewRow, work: () => Result): Result | undefined {
    try {
      return work();
    } catch (error) {
      this.#warn(error, [row.name]);
      return undefined;
    }
  }

  #warn(error: unknown, names: readonly NewName[]): void {
    const times = this.#unshown();
    if (times === undefined) return;
    const rows = names.slice(0, warnedRowsMax).map(({ id }) => id);
    this.#options.log.warn({ err: error, rows, times }, "new rows cannot be shown as events");
  }
}

function isFor({ topics, sight, filter }: RowReader, row: NewRow): boolean {
  const { topic } = row.name;
  return topics.includes(topic) && isVisible(sight.rows[topic], row) && fitsFilter(filter, row);
}

function eventOf({ sight }: RowReader, row: NewRow): RowEvent {
  const { topic } = row.name;
  return { event: "row", data: { topic, row: row.record(sight.rows[topic].everything) } };
}
