/** One reader of the stream: what they follow, what of it they may see, and which rows they have. */
import type { Visibility } from "../../tenancy/index.ts";
import type { NewName, RowTopic } from "./news.ts";
import type { NoticeTopic } from "./notices.ts";

/** What can be followed: rows, that there are newer numbers, what is no row. */
export type Topic = RowTopic | "usage" | NoticeTopic;

const isRowTopic = (topic: Topic): topic is RowTopic =>
  topic === "requests" || topic === "tasks" || topic === "deliveries";

/** The kinds of rows that must be looked at for some topics. */
export const rowTopicsOf = (topics: readonly Topic[]): RowTopic[] => [
  ...new Set(
    topics.flatMap<RowTopic>((topic) =>
      topic === "usage" ? "requests" : isRowTopic(topic) ? topic : [],
    ),
  ),
];

/** A row that was written, with what decides who gets it. */
export interface NewRow {
  readonly name: NewName;
  /** Whose it is; null where nobody made it. */
  readonly ownerId: string | null;
  /** As its list shows it; `inside`: to those who run the installation. */
  record(inside: boolean): object;
}

/** Values that a row must have, by the names of its record; `member_id` is its owner. */
export type RowFilter = Readonly<Record<string, string | undefined>>;

/** Whether somebody who sees so much sees a row: the rule of the lists (`whereVisible`), for a row in memory. */
export function isVisible(
  { everything, workspaceIds, ownWorkspaceIds, userId }: Visibility,
  { name: { workspaceId }, ownerId }: Pick<NewRow, "name" | "ownerId">,
): boolean {
  if (everything || workspaceIds.includes(workspaceId)) return true;
  return userId !== null && ownerId === userId && ownWorkspaceIds.includes(workspaceId);
}

const statusOf = (row: NewRow): unknown => (row.record(false) as { status?: unknown }).status;

/** Whether a row has the values. A name that rows of its kind do not have fits none. */
export function fitsFilter(filter: RowFilter, row: NewRow): boolean {
  return Object.entries(filter).every(([name, value]) => {
    if (value === undefined) return true;
    if (name === "workspace_id") return row.name.workspaceId === value;
    if (name === "member_id") return row.ownerId === value;
    // A task, and the callbacks that are about it.
    if (name === "task_id" && row.name.topic === "tasks") return row.name.id === value;
    // Several statuses, by commas, as the lists take them.
    if (name === "status") return value.split(",").some((one) => one === statusOf(row));
    const found = (row.record(false) as Readonly<Record<string, unknown>>)[name];
    return typeof found === "number" ? String(found) === value : found === value;
  });
}

/** Which rows somebody has had: those before their mark, and those that were visible beyond it already. */
export class Had {
  #mark: bigint;
  /** Where rows are read from instead, while a transaction that stays open holds the mark. */
  #floor: bigint | undefined;
  readonly #beyond = new Map<string, bigint>();

  constructor(mark: bigint, names: readonly NewName[] = []) {
    this.#mark = mark;
    this.add(mark, names);
  }

  /** Where they go on from after a break: they miss nothing. */
  get mark(): bigint {
    return this.#mark;
  }

  /** The first transaction whose rows are read for them. */
  get since(): bigint {
    return this.#floor ?? this.#mark;
  }

  /** They are told nothing of transactions before `since` that are still open. */
  get isHeld(): boolean {
    return this.#floor !== undefined;
  }

  /** A row that changed since is another one. */
  has({ topic, id, written }: NewName): boolean {
    return written < this.since || this.#beyond.get(`${topic} ${id}`) === written;
  }

  /** They have these names now, and all that was written before `mark`. */
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

  /** They read the lists anew, and go on from `mark`: numbers of transactions are others now. */
  restart(mark: bigint): void {
    this.#mark = mark;
    this.#floor = undefined;
    this.#beyond.clear();
  }

  /** They read the lists anew, and are told of what transactions from `top` on write. */
  leap(top: bigint): void {
    this.#floor = top;
    this.#beyond.clear();
  }
}
