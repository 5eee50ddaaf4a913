/**
 * The worker thread that runs PGlite and serves it over PostgreSQL's wire protocol. Design section 2, "database".
 * A row is acknowledged after its WAL is written to the operating system, so it survives the death of this process.
 */
import { PGlite } from "@electric-sql/pglite";
import { parentPort, workerData } from "node:worker_threads";
import { serveEngine } from "./embedded-server.ts";
import { wireChannel } from "./signals.ts";
import { createWireTap } from "./wire-tap.ts";

/** What the worker is started with. A `path` is a Unix socket; without one it listens on `port` of 127.0.0.1 (0: any). */
export interface WorkerInput {
  readonly databaseDir: string;
  readonly path: string | undefined;
  readonly port: number;
}

export type FromWorker =
  | { readonly kind: "up"; readonly port: number }
  | { readonly kind: "notification"; readonly text: string }
  | { readonly kind: "failed"; readonly reason: string };

/** Lets `tap` see all that the database sends, and `fail` what it throws: not SQL errors, which are data, but its own. */
function watchOutput(
  database: PGlite,
  tap: (bytes: Uint8Array) => void,
  fail: (reason: string) => void,
): void {
  const execute = database.execProtocolRawStream.bind(database);
  database.execProtocolRawStream = async (message, options) => {
    const onRawData = (data: Uint8Array) => {
      tap(data);
      options.onRawData(data);
    };
    try {
      await execute(message, { ...options, onRawData });
    } catch (error) {
      fail(String(error));
      throw error;
    }
  };
}

async function serve(input: WorkerInput, send: (message: FromWorker) => void): Promise<void> {
  const database = await PGlite.create({
    dataDir: input.databaseDir,
    initDbStartParams: ["--no-sync"],
  });
  await database.exec(`listen ${wireChannel}`);

  // A broken engine is left at once, before it takes the next statement; the main thread starts a new one.
  const fail = (reason: string) => {
    send({ kind: "failed", reason });
    process.exit(1);
  };
  const tap = createWireTap({
    panic: fail,
    notification(channel, text) {
      if (channel === wireChannel) send({ kind: "notification", text });
    },
  });
  watchOutput(database, tap, fail);

  const server = await serveEngine(database, input);
  send({ kind: "up", port: server.port });

  parentPort!.once("message", () => {
    void (async () => {
      await server.close();
      await database.close();
      process.exit(0);
    })();
  });
}

if (parentPort !== null) {
  const port = parentPort;
  await serve(workerData as WorkerInput, (message) => port.postMessage(message));
}
