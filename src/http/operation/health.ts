/** `/healthz` (the process), `/readyz` (database and start-up). docs/operate.md. */
import type { FastifyInstance, FastifyReply } from "fastify";
import { databaseState, type DatabaseState } from "../../storage/index.ts";
import { handle } from "../handle.ts";
import type { HttpServices } from "../services.ts";

/** Milliseconds for which an answer of the database is reused. */
const freshMs = 1_000;

/** Adds the health endpoints. They need no key. */
export function registerHealth(app: FastifyInstance, services: HttpServices): void {
  const askDatabase = createProbe(services);
  handle(app, "GET /healthz", (_request, reply) => ofNow(reply).send({ status: "ok" }));
  handle(app, "GET /readyz", async (_request, reply) => {
    const [database, { isReady, workers }] = await Promise.all([askDatabase(), services.ready()]);
    const ready = isReady && database === "ok";
    return ofNow(reply)
      .code(ready ? 200 : 503)
      .send({
        status: ready ? "ready" : "not_ready",
        database,
        // Text calls need no files: a gateway without them is ready.
        ...(services.files.failure && { files: "failing" }),
        ...(workers && { workers }),
      });
  });
}

/** Forbids caching: a cached answer would be about another moment. */
const ofNow = (reply: FastifyReply): FastifyReply => reply.header("cache-control", "no-store");

/**
 * Returns a check whether the database can be written. Its endpoint needs no key, so requests share one database query: all that come
 * while it is in flight, and for a second after it.
 */
function createProbe({ database }: HttpServices): () => Promise<DatabaseState["is"]> {
  let answer: Promise<DatabaseState["is"]> | undefined;
  let freshUntilMs = Number.POSITIVE_INFINITY;
  const ask = async (): Promise<DatabaseState["is"]> => {
    const state = await databaseState(database);
    freshUntilMs = performance.now() + freshMs;
    return state.is;
  };
  return () => {
    if (answer === undefined || performance.now() >= freshUntilMs) {
      freshUntilMs = Number.POSITIVE_INFINITY;
      answer = ask();
    }
    return answer;
  };
}
