/** One reader of the stream: the topics it follows, what it may see of them, and which rows it has received. */
import type { Visibility } from "../../tenancy/index.ts";
import type { NewName, RowTopic } from "./news.ts";
import type { NoticeTopic } from "./notices.ts";

/** A topic: a kind of rows, new usage numbers, or a notice. */
export type Topic = RowTopic | "usage" | NoticeTopic;

const isRowTopic = (topic: Topic): topic is RowTopic =>
  topic === "requests" || topic === "tasks" || topic === "deliveries";

/** The kinds of rows to read for some topics. */
export const rowTopicsOf = (topics: readonly Topic[]): RowTopic[] => [
  ...new Set(
    topics.flatMap<RowTopic>((topic) =>
      topic === "usage" ? "requests" : isRowTopic(topic) ? topic : [],
    ),
  ),
];

/** A newly written row, with the data that decides who gets it. */
export interface NewRow {
  readonly name: NewName;
  /** The owner's user id; null if no user made it. */
  readonly ownerId: string | null;
  /** The row as its list shows it; `inside`: for organization admins. */
  record(inside: boolean): object;
}

/** Values that a row must have, by field name of its record; `member_id` is the owner. */
export type RowFilter = Readonly<Record<string, string | undefined>>;

/** True if this visibility includes the row: the rule of the lists (`whereVisible`), for a row in memory. */
export function isVisible(
  { everything, workspaceIds, ownWorkspaceIds, userId }: Visibility,
  { name: { workspaceId }, ownerId }: Pick<NewRow, "name" | "ownerId">,
): boolean {
  if (everything || workspaceIds.includes(workspaceId)) return true;
  return userId !== null && ownerId === userId && ownWorkspaceIds.includes(workspaceId);
}

const statusOf = (row: NewRow): unknown => (row.record(false) as { status?: unknown }).status;

/** True if a row has these values. A field that rows of its kind lack never matches. */
export function fitsFilter(filter: RowFilter, row: NewRow): boolean {
  return Object.entries(filter).every(([name, value]) => {
    if (value === undefined) return true;
    if (name === "workspace_id") return row.name.workspaceId === value;
    if (name === "member_id") return row.ownerId === value;
    // Matches the task itself; its callbacks match below.
    if (name === "task_id" && row.name.topic === "tasks") return row.name.id === value;
    // Several statuses, separated by commas, as in the lists.
    if (name === "status") return value.split(",").some((one) => one === statusOf(row));
    const found = (row.record(false) as Readonly<Record<string, unknown>>)[name];
    return typeof found === "number" ? String(found) === value : found === value;
  });
}

/** Which rows a reader has received: those before its mark, and later ones that were already visible. */
export class ReadPosition {
  #mark: bigint;
  /** Reading starts here instead of at the mark while a long-open transaction holds the mark back. */
  #floor: bigint | undefined;
  readonly #beyond = new Map<string, bigint>();

  constructor(mark: bigint, names: readonly NewName[] = []) {
    this.#mark = mark;
    this.add(mark, names);
  }

  /** Where the reader resumes after a break without missing anything. */
  get mark(): bigint {
    return this.#mark;
  }

  /** The first transaction whose rows are read for this reader. */
  get since(): bigint {
    return this.#floor ?? this.#mark;
  }

  /** True while the reader gets no rows of still open transactions before `since`. */
  get isHeld(): boolean {
    return this.#floor !== undefined;
  }

  /** True if the reader has received this version of the row; a change makes a new version. */
  has({ topic, id, written }: NewName): boolean {
    return written < this.since || this.#beyond.get(`${topic} ${id}`) === written;
  }

  /** Records that the reader has these names and everything written before `mark`. */
  add(mark: bigint, names: readonly NewName[]): void {
    if (this.#floor !== undefined && mark >= this.#floor) this.#floor = undefined;
    if (this.#floor === undefined && mark > this.#mark) this.#mark = mark;
    for (const { topic, id, written } of names) {
      if (written >= this.since) this.#beyond.set(`${topic} ${id}`, written);
    }
    for (const [key, written] of this.#beyond) {
      if (written < this.since) this.#beyond.delete(key);
    }
  }

  /** The reader reads its lists again and resumes from `mark`, because transaction numbers have changed. */
  restart(mark: bigint): void {
    this.#mark = mark;
    this.#floor = undefined;
    this.#beyond.clear();
  }

  /** The reader reads its lists again. From then on it gets only rows of transactions from `top` on. */
  skipTo(top: bigint): void {
    this.#floor = top;
    this.#beyond.clear();
  }
}
