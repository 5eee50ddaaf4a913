/**
 * A store that knows whether it takes files now, and says in the log why not and what helps: a full disk, one that became
 * read-only, another owner, a bucket that is away. docs/operate.md "When files cannot be kept".
 */
import { randomBytes } from "node:crypto";
import { atIntervals } from "../base/at-intervals.ts";
import { GatewayError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { getOrMake } from "../base/made-once.ts";
import { isShortage } from "../base/shortage.ts";
import { adviceOnFiles } from "./advice.ts";
import { FileTooLargeError, type FileSource, type FileStore } from "./store.ts";

const lookEveryMs = 5_000;
const sayEveryMs = 60_000;
/** A disk with room for less counts as full. */
const probeBytes = 65_536;
const retryAfterSeconds = 5;

/** A store whose state is known. */
export interface WatchedFiles extends FileStore {
  /** What a call that needs the store is refused with; undefined while files can be kept. */
  readonly failure: GatewayError | undefined;
}

interface FilesWatch {
  readonly log: Pick<Log, "info" | "error">;
  /** The directory or the bucket, as the log names it. */
  readonly place: string;
  readonly everyMs?: number | undefined;
}

export const unavailable = (cause: unknown): GatewayError =>
  new GatewayError(
    "storage_unavailable",
    "The gateway's storage of files does not work now. Nothing was charged.",
    { retryAfterSeconds, cause },
  );

/** What a failure of the store is told as; what has a name of its own stays as it is. */
const named = (error: unknown): boolean =>
  error instanceof GatewayError ||
  error instanceof FileTooLargeError ||
  error instanceof RangeError ||
  isShortage(error);

/**
 * `store`, with its failures told as GatewayError `storage_unavailable`. It is looked at from time to time, and tried while it fails, so
 * that nobody asks a vendor for what cannot be kept. `close` ends that.
 */
export function watchFiles(store: FileStore, watch: FilesWatch): WatchedFiles {
  const standing = new Standing(watch);
  const probe = createProbe(store);
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    const { failure } = standing;
    try {
      // What a look suspects, a file decides: some file systems count no blocks, and some users may write into the last of them.
      await (failure === undefined ? store.look?.().catch(probe) : probe());
      // A file may have failed since.
      if (standing.failure === failure) standing.works();
    } catch (error) {
      if (!isShortage(error)) standing.fails(error);
    }
    isLooking = false;
  };
  const timer = setInterval(() => void look(), watch.everyMs ?? lookEveryMs);
  timer.unref();
  void look();
  const reading = async <Read>(read: () => Promise<Read>): Promise<Read> => {
    try {
      return await read();
    } catch (error) {
      if (named(error)) throw error;
      standing.says(error, "a file cannot be read: whoever asks for one gets 503");
      throw unavailable(error);
    }
  };
  return {
    ...store,
    get failure() {
      return standing.failure;
    },
    async put(name, source, options) {
      const from = new Source(source);
      try {
        return await store.put(name, from.chunks, options);
      } catch (error) {
        if (from.hasFailed || named(error)) throw error;
        throw standing.fails(error);
      }
    },
    open: (name, range) => reading(() => store.open(name, range)),
    size: (name) => reading(() => store.size(name)),
    close() {
      clearInterval(timer);
      return store.close();
    },
  };
}

/** Whether files can be kept, and what was said of it. */
class Standing {
  readonly #watch: FilesWatch;
  #failure: GatewayError | undefined;
  #sinceMs = 0;
  /** Of each thing that is said: several may go on at once. */
  readonly #troubles = new Map<string, () => number | undefined>();

  constructor(watch: FilesWatch) {
    this.#watch = watch;
  }

  get failure(): GatewayError | undefined {
    return this.#failure;
  }

  fails(error: unknown): GatewayError {
    if (this.#failure === undefined) this.#sinceMs = performance.now();
    this.#failure = unavailable(error);
    this.says(error, "files cannot be kept: calls that need them are refused until they can");
    return this.#failure;
  }

  works(): void {
    if (this.#failure === undefined) return;
    this.#failure = undefined;
    // What fails after this is told at once.
    this.#troubles.clear();
    const seconds = Math.round((performance.now() - this.#sinceMs) / 1_000);
    this.#watch.log.info({ place: this.#watch.place, seconds }, "files can be kept again");
  }

  /** The same thing at most once a minute: many calls meet it. */
  says(error: unknown, message: string): void {
    const advice = adviceOnFiles(error);
    const again = getOrMake(this.#troubles, message + advice.fix, () => atIntervals(sayEveryMs));
    if (again() === undefined) return;
    const { log, place } = this.#watch;
    log.error({ place, ...advice }, message);
  }
}

/** Bytes on their way to the store: what fails there is not the store's fault. */
class Source {
  readonly chunks: FileSource;
  hasFailed = false;

  constructor(source: FileSource) {
    this.chunks = source instanceof Uint8Array ? source : this.#watched(source);
  }

  async *#watched(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* source;
    } catch (error) {
      this.hasFailed = true;
      throw error;
    }
  }
}

/** Puts a file for a try, and removes it. One name for all tries of a process: a store may let nobody remove, and still takes files. */
function createProbe(store: FileStore): () => Promise<void> {
  const name = `probe-${randomBytes(8).toString("hex")}`;
  const mediaType = "application/octet-stream";
  return async () => {
    await store.put(name, Buffer.alloc(probeBytes), { mediaType, bytesMax: probeBytes });
    await store.remove(name).catch(() => undefined);
  };
}
