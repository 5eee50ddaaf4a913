/**
 * Files that work writes before it is certain that they stay. Each has its row before its bytes, so that the sweep finds what a
 * crash leaves behind; until the work keeps them they expire by themselves. Rows STORE.
 */
import type { Clock } from "../base/clock.ts";
import { dayMs, hourMs } from "../base/durations.ts";
import { GatewayError } from "../base/errors.ts";
import { beforeStop, type Stop } from "../base/in-time.ts";
import { retry } from "../base/retry.ts";
import { isShortage } from "../base/shortage.ts";
import type { Database, Queryable } from "../storage/index.ts";
import { newFileName, type FileSource, type FileStore } from "./store.ts";
import { expireFilesAt, recordFile, type FileRow } from "./table.ts";
import { unavailable } from "./watched.ts";

interface DraftServices {
  readonly files: FileStore;
  readonly database: Database;
  readonly clock: Clock;
}

/** Whose the files are, and how long they wait to be kept once they are written. */
interface Owner {
  readonly workspaceId: string;
  readonly taskId?: string | null;
  readonly waitMs: number;
  /**
   * Until when, by `performance.now`, a store that takes nothing is tried again. For bytes in memory that were paid for; not at all if
   * absent.
   */
  readonly untilMs?: number;
  /** When there is no more time for that, nor for a store that takes bytes in memory and does not answer. */
  readonly stop?: Stop;
}

/** Longer than one file may take to be written. */
const writingMs = hourMs;

const isAway = (error: unknown): boolean =>
  isShortage(error) || (error instanceof GatewayError && error.code === "storage_unavailable");

const pauseMsMax = 5_000;

/** A file to be written. */
interface Draft extends Pick<FileRow, "purpose"> {
  /** Its parameters stay with the row: the store need not know them. */
  readonly mediaType: string;
  readonly source: FileSource;
  /** Absent: a new one. */
  readonly name?: string;
  /** The task that it ends with; the owner's where absent. */
  readonly taskId?: string;
  /** Absent: whatever comes. */
  readonly bytesMax?: number;
}

export class FileDrafts {
  readonly #services: DraftServices;
  readonly #owner: Owner;
  readonly #record: (row: FileRow) => Promise<void>;
  readonly #rows = new Map<string, FileRow>();
  /** The store may still write a file that nobody waits for any more. */
  #isGivenUp = false;

  /** `record` writes a row; it may be repeated. */
  constructor(
    services: DraftServices,
    owner: Owner,
    record = (row: FileRow) => recordFile(services.database, row),
  ) {
    this.#services = services;
    this.#owner = owner;
    this.#record = record;
  }

  /** As the store has it. */
  get heldBytes(): number {
    return this.#services.files.heldBytes;
  }

  get names(): readonly string[] {
    return [...this.#rows.keys()];
  }

  /**
   * Writes a file, in bounded memory. @throws FileTooLargeError; what the source, the store or the database fails with; no bytes
   * stay then, and the sweep takes the row
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
      return isHeld ? beforeStop(writing, stop, () => this.#giveUp()) : writing;
    });
    const written = { ...row, bytes, expiresAt: new Date(clock.now() + waitMs) };
    await this.#record(written);
    return written;
  }

  #giveUp(): Error {
    this.#isGivenUp = true;
    return unavailable(new Error("the store did not answer before the gateway stopped"));
  }

  /** Keeps all files from now on, for so many milliseconds by their purpose. */
  async keep(tx: Queryable, keptMs: Readonly<Record<string, number>>): Promise<void> {
    const nowMs = this.#services.clock.now();
    for (const { name, purpose } of this.#rows.values())
      await expireFilesAt(tx, [name], new Date(nowMs + (keptMs[purpose] ?? 0)));
  }

  /** Removes all files. Never throws: what cannot be removed is left to the sweep. */
  async discard(): Promise<void> {
    const { files, database, clock } = this.#services;
    const { names } = this;
    this.#rows.clear();
    // It would not answer this either; and a row that went before its file would leave the file for ever.
    if (names.length === 0 || this.#isGivenUp) return;
    await Promise.allSettled([
      ...names.map((name) => files.remove(name)),
      expireFilesAt(database, names, new Date(clock.now())),
    ]);
  }
}

/** Longer than any task may take; the material of a task goes as soon as it has ended. */
const materialMs = 4 * dayMs;

/** Pictures that a caller sent, before there is a task that they belong to. */
export const inputDrafts = (services: DraftServices, workspaceId: string): FileDrafts =>
  new FileDrafts(services, { workspaceId, waitMs: materialMs });
