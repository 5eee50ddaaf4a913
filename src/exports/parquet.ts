/**
 * Turns lines into a Parquet file. A worker thread sorts and compresses the columns, so that the gateway's calls do not wait. It
 * gets the same lines as the JSON format. Only one message is in flight, so memory use is the same for any day.
 */
import { Worker } from "node:worker_threads";
import { ownEntry } from "../base/own-files.ts";
import type { ExportKind } from "./lines.ts";

const threadFile = ownEntry("src/exports/parquet-worker");
/**
 * Enough memory for the footer of a day of a hundred million calls, 40 kB for each row group. If a file needs more, the thread
 * ends, not the gateway. A larger young generation would only fill up.
 */
const resourceLimits = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 16 };

/** Returns a function that sends a thread one message at a time. It throws the error that ended the thread, then and on later calls. */
function asking(thread: Worker): (lines: string | null) => Promise<Uint8Array> {
  let waiting: PromiseWithResolvers<Uint8Array> | undefined;
  let failure: Error | undefined;
  const end = (error: Error): void => {
    failure ??= error;
    waiting?.reject(failure);
  };
  thread.on("message", (bytes: Uint8Array) => waiting?.resolve(bytes));
  thread.on("error", end);
  thread.on("exit", () => end(new Error("the thread that writes Parquet has ended")));
  return (lines) => {
    if (failure !== undefined) throw failure;
    waiting = Promise.withResolvers();
    thread.postMessage(lines, []);
    return waiting.promise;
  };
}

/** Yields the bytes of the file. @throws the error of `batches`, or the one that ended the thread */
export async function* parquetOf(
  kind: ExportKind,
  batches: AsyncIterable<readonly object[]>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const thread = new Worker(threadFile, { workerData: kind, resourceLimits });
  const ask = asking(thread);
  try {
    for await (const lines of batches) {
      const bytes = await ask(JSON.stringify(lines));
      if (bytes.length > 0) yield bytes;
    }
    yield await ask(null);
  } finally {
    await thread.terminate();
  }
}
