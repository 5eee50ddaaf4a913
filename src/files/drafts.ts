/**
 * Files that are written before it is certain that they stay. Each has its row before its bytes, so that the sweep finds files that a crash
 * leaves; they expire by themselves unless they are kept. Rows STORE.
 */
import type { Clock } from "../base/clock.ts";
import { dayMs, hourMs } from "../base/durations.ts";
import { GatewayError } from "../base/errors.ts";
import { withTimeoutAfterStop, type Stop } from "../base/timeouts.ts";
import { retry } from "../base/retry.ts";
import { isShortage } from "../base/shortage.ts";
import { reserveRetryMs, retryWhileAway, type Database, type Queryable } from "../storage/index.ts";
import { newFileName, type FileSource, type FileStore } from "./store.ts";
import { expireFilesAt, recordFile, type FileRow } from "./table.ts";
import { unavailable } from "./watched.ts";

interface DraftServices {
  readonly files: FileStore;
  readonly database: Database;
  readonly clock: Clock;
}

/** The owner of the files, and how long after the write they wait to be kept. */
interface Owner {
  readonly workspaceId: string;
  readonly taskId?: string | null;
  readonly waitMs: number;
  /**
   * The end, by `performance.now`, of retries while the store takes nothing. For bytes in memory that were paid for; no retries if absent.
   */
  readonly untilMs?: number;
  /** Ends those retries, and the wait for a store that takes bytes from memory and does not answer. */
  readonly stop?: Stop;
}

/** Longer than the write of one file may take. */
const writingMs = hourMs;

const isAway = (error: unknown): boolean =>
  isShortage(error) || (error instanceof GatewayError && error.code === "storage_unavailable");

const pauseMsMax = 5_000;

/** A file to be written. */
interface Draft extends Pick<FileRow, "purpose"> {
  /** The row keeps the media type's parameters: the store does not need them. */
  readonly mediaType: string;
  readonly source: FileSource;
  /** Absent: a new one. */
  readonly name?: string;
  /** The task with which the file ends; the owner's if absent. */
  readonly taskId?: string;
  /** Absent: any size. */
  readonly bytesMax?: number;
}

export class FileDrafts {
  readonly #services: DraftServices;
  readonly #owner: Owner;
  readonly #record: (row: FileRow) => Promise<void>;
  readonly #rows = new Map<string, FileRow>();
  /** True if a write was given up: the store may still finish it. */
  #isGivenUp = false;

  /** `record` writes a row; it may be repeated. Absent: it waits for a moment while the database is away. */
  constructor(
    services: DraftServices,
    owner: Owner,
    record = (row: FileRow) =>
      retryWhileAway(reserveRetryMs, () => recordFile(services.database, row)),
  ) {
    this.#services = services;
    this.#owner = owner;
    this.#record = record;
  }

  /** `heldBytes` of the store. */
  get heldBytes(): number {
    return this.#services.files.heldBytes;
  }

  get names(): readonly string[] {
    return [...this.#rows.keys()];
  }

  /**
   * Writes a file, in bounded memory. @throws FileTooLargeError; what the source, the store or the database fails with; no bytes stay then,
   * and the sweep takes the row
   */
  async put(draft: Draft): Promise<FileRow> {
    const { purpose, mediaType, source, bytesMax = Infinity } = draft;
    const [bare = mediaType] = mediaType.split(";", 1);
    const { files, clock } = this.#services;
    const { workspaceId, waitMs, untilMs = 0, stop } = this.#owner;
    const taskId = draft.taskId ?? this.#owner.taskId ?? null;
    const name = draft.name ?? newFileName(bare);
    const nowMs = clock.now();
    const createdAt = new Date(nowMs);
    const expiresAt = new Date(nowMs + Math.min(writingMs, waitMs));
    const row = { name, workspaceId, taskId, purpose, mediaType, bytes: 0, createdAt, expiresAt };
    this.#rows.set(name, row);
    await this.#record(row);
    const forMs = source instanceof Uint8Array ? untilMs - performance.now() : 0;
    const rule = { forMs, mayPass: isAway, pauseMsMax, signal: stop?.signal };
    const { bytes } = await retry(rule, () => {
      const writing = files.put(name, source, { mediaType: bare, bytesMax });
      const isHeld = source instanceof Uint8Array && stop !== undefined;
      return isHeld ? withTimeoutAfterStop(writing, stop, () => this.#giveUp()) : writing;
    });
    const written = { ...row, bytes, expiresAt: new Date(clock.now() + waitMs) };
    await this.#record(written);
    return written;
  }

  #giveUp(): Error {
    this.#isGivenUp = true;
    return unavailable(new Error("the store did not answer before the gateway stopped"));
  }

  /** Keeps all files from now on; `keptMs` has the milliseconds by purpose. */
  async keep(tx: Queryable, keptMs: Readonly<Record<string, number>>): Promise<void> {
    const nowMs = this.#services.clock.now();
    for (const { name, purpose } of this.#rows.values())
      await expireFilesAt(tx, [name], new Date(nowMs + (keptMs[purpose] ?? 0)));
  }

  /** Removes all files. Never throws: the sweep takes files that cannot be removed. */
  async discard(): Promise<void> {
    const { files, database, clock } = this.#services;
    const { names } = this;
    this.#rows.clear();
    // After giving up, the store would not answer this either. And a row deleted before its file would leave the file for ever.
    if (names.length === 0 || this.#isGivenUp) return;
    await Promise.allSettled([
      ...names.map((name) => files.remove(name)),
      expireFilesAt(database, names, new Date(clock.now())),
    ]);
  }
}

/** Longer than any task may take; a task's inputs are removed as soon as it has ended. */
const materialMs = 4 * dayMs;

/** Drafts for pictures that a caller sent, before their task exists. */
export const inputDrafts = (services: DraftServices, workspaceId: string): FileDrafts =>
  new FileDrafts(services, { workspaceId, waitMs: materialMs });
