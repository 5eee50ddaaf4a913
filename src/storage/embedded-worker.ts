/**
 * The worker thread that runs PGlite and serves it over PostgreSQL's wire protocol. Design section 2, "database".
 * A row is acknowledged after its WAL is written to the operating system, so it survives the death of this process.
 */
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { parentPort, workerData } from "node:worker_threads";
import { createNotificationTap } from "./notification-tap.ts";
import { wireChannel } from "./signals.ts";

/** What the worker is started with. A `path` is a Unix socket; without one it listens on a free port of 127.0.0.1. */
export interface WorkerInput {
  readonly databaseDir: string;
  readonly path: string | undefined;
}

export type FromWorker =
  | { readonly kind: "up"; readonly port: number }
  | { readonly kind: "notification"; readonly text: string }
  | { readonly kind: "failed"; readonly message: string };

const connectionsMax = 64;

async function serve(input: WorkerInput, send: (message: FromWorker) => void): Promise<void> {
  const database = await PGlite.create({
    dataDir: input.databaseDir,
    initDbStartParams: ["--no-sync"],
  });
  await database.exec(`listen ${wireChannel}`);

  const tap = createNotificationTap((channel, text) => {
    if (channel === wireChannel) send({ kind: "notification", text });
  });
  const execute = database.execProtocolRawStream.bind(database);
  database.execProtocolRawStream = async (message, options) => {
    try {
      await execute(message, {
        ...options,
        onRawData: (data) => {
          tap(data);
          options.onRawData(data);
        },
      });
    } catch (error) {
      // SQL errors arrive as data. What is thrown means that the engine itself has failed, and the socket server
      // would wait for it for ever: end the thread, and let the main thread start a new one on the same files.
      send({ kind: "failed", message: String(error) });
      setImmediate(() => process.exit(1));
      throw error;
    }
  };

  const server = new PGLiteSocketServer({
    db: database,
    maxConnections: connectionsMax,
    ...(input.path === undefined ? { host: "127.0.0.1", port: 0 } : { path: input.path }),
  });
  await server.start();
  send({ kind: "up", port: Number(/:(\d+)$/.exec(server.getServerConn())?.[1] ?? 0) });

  parentPort!.once("message", () => {
    void (async () => {
      await server.stop();
      await database.close();
      process.exit(0);
    })();
  });
}

if (parentPort !== null) {
  const port = parentPort;
  await serve(workerData as WorkerInput, (message) => port.postMessage(message));
}
