/**
 * A store that knows whether it can take files now. If not, it logs the reason and a fix: a full disk, a disk that became read-only,
 * another owner, a bucket that is away. docs/data.md "When files cannot be kept".
 */
import { randomBytes } from "node:crypto";
import { throttleCounter } from "../base/throttle-counter.ts";
import { GatewayError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { getOrCreate } from "../base/memoize.ts";
import { isShortage } from "../base/shortage.ts";
import { adviceOnFiles } from "./advice.ts";
import { FileTooLargeError, type FileSource, type FileStore } from "./store.ts";

const lookEveryMs = 5_000;
const sayEveryMs = 60_000;
/** A disk with less room counts as full. */
const probeBytes = 65_536;
const retryAfterSeconds = 5;

/** A store with a known state. */
export interface WatchedFiles extends FileStore {
  /** The error for calls that need the store; undefined while files can be stored. */
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

/** True for errors that stay as they are: those with a meaning of their own. */
const hasOwnMeaning = (error: unknown): boolean =>
  error instanceof GatewayError ||
  error instanceof FileTooLargeError ||
  error instanceof RangeError ||
  isShortage(error);

/**
 * Wraps `store` so that its failures are GatewayError `storage_unavailable`. Checks it from time to time, with a test file while it fails,
 * so that no call asks a vendor for files that cannot be stored. `close` ends that.
 */
export function watchFiles(store: FileStore, watch: FilesWatch): WatchedFiles {
  const health = new StoreHealth(watch);
  const probe = createProbe(store);
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    const { failure } = health;
    try {
      // A test file decides if the check fails: some file systems report no free blocks, and some users may write into the reserved ones.
      await (failure === undefined ? store.look?.().catch(probe) : probe());
      // A file may have failed since.
      if (health.failure === failure) health.markWorking();
    } catch (error) {
      if (!isShortage(error)) health.markFailed(error);
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
      if (hasOwnMeaning(error)) throw error;
      health.logFailure(error, "a file cannot be read: whoever asks for one gets 503");
      throw unavailable(error);
    }
  };
  return {
    ...store,
    get failure() {
      return health.failure;
    },
    async put(name, source, options) {
      const from = new Source(source);
      try {
        return await store.put(name, from.chunks, options);
      } catch (error) {
        if (from.hasFailed || hasOwnMeaning(error)) throw error;
        throw health.markFailed(error);
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

/** The state of a store, and the failures that were logged. */
class StoreHealth {
  readonly #watch: FilesWatch;
  #failure: GatewayError | undefined;
  #sinceMs = 0;
  /** By failure that is logged: several may go on at once. */
  readonly #troubles = new Map<string, () => number | undefined>();

  constructor(watch: FilesWatch) {
    this.#watch = watch;
  }

  get failure(): GatewayError | undefined {
    return this.#failure;
  }

  markFailed(error: unknown): GatewayError {
    if (this.#failure === undefined) this.#sinceMs = performance.now();
    this.#failure = unavailable(error);
    this.logFailure(error, "files cannot be kept: calls that need them are refused until they can");
    return this.#failure;
  }

  markWorking(): void {
    if (this.#failure === undefined) return;
    this.#failure = undefined;
    // Log the next failure without delay.
    this.#troubles.clear();
    const seconds = Math.round((performance.now() - this.#sinceMs) / 1_000);
    this.#watch.log.info({ place: this.#watch.place, seconds }, "files can be kept again");
  }

  /** Logs the same failure at most once a minute, because many calls meet it. */
  logFailure(error: unknown, message: string): void {
    const advice = adviceOnFiles(error);
    const again = getOrCreate(this.#troubles, message + advice.fix, () =>
      throttleCounter(sayEveryMs),
    );
    if (again() === undefined) return;
    const { log, place } = this.#watch;
    log.error({ place, ...advice }, message);
  }
}

/** The bytes for the store: a failure of their source is not the store's fault. */
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

/**
 * Returns a function that puts a test file and removes it. A process uses one name for all tests: some stores forbid removing, but take
 * files.
 */
function createProbe(store: FileStore): () => Promise<void> {
  const name = `probe-${randomBytes(8).toString("hex")}`;
  const mediaType = "application/octet-stream";
  return async () => {
    await store.put(name, Buffer.alloc(probeBytes), { mediaType, bytesMax: probeBytes });
    await store.remove(name).catch(() => undefined);
  };
}
