/**
 * Lines as a Parquet file. A thread writes it, so that calls of the gateway do not wait for columns to be sorted and packed. Its lines are
 * those of the other format, as JSON. One message is under way at a time: memory is the same for any day.
 */
import { Worker } from "node:worker_threads";
import { ownEntry } from "../base/own-files.ts";
import type { ExportKind } from "./lines.ts";

const threadFile = ownEntry("src/exports/parquet-worker");
/**
 * Room for the footer of a day of a hundred million calls, 40 kB for each row group; one that needs more ends the thread, and not the
 * gateway. A larger young generation would only be filled.
 */
const resourceLimits = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 16 };

/** Asks a thread one thing at a time. The returned function throws what the thread has ended with, then and later. */
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

/** The bytes of the file. @throws what `batches` throws, and what a thread ends with */
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
