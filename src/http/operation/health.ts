/** `/healthz` (the process), `/readyz` (database and start-up). docs/operate.md. */
import type { FastifyInstance } from "fastify";
import { handle } from "../handle.ts";
import type { HttpServices } from "../services.ts";

const databaseDeadlineMs = 2_000;
/** Gives a row where something can be written: a standby has no transaction ids, and a server that is read-only says so. */
const probe =
  "select pg_current_xact_id()::text where not current_setting('transaction_read_only')::boolean";
/** How long an answer of the database holds. */
const freshMs = 1_000;

/** Adds the health endpoints. They need no key. */
export function registerHealth(app: FastifyInstance, services: HttpServices): void {
  const databaseAnswers = createProbe(services);
  handle(app, "GET /healthz", (_request, reply) => reply.send({ status: "ok" }));
  handle(app, "GET /readyz", async (_request, reply) => {
    const [database, { isReady, workers }] = await Promise.all([
      databaseAnswers(),
      services.ready(),
    ]);
    const ready = isReady && database;
    return reply.code(ready ? 200 : 503).send({
      status: ready ? "ready" : "not_ready",
      database: database ? "ok" : "down",
      ...(workers && { workers }),
    });
  });
}

/**
 * Whether the database can be written. Anybody may ask for the answer: it is
 * shared by all who come while it is on its way, and for a second after.
 */
function createProbe({ database }: HttpServices): () => Promise<boolean> {
  let answer: Promise<boolean> | undefined;
  let freshUntilMs = Number.POSITIVE_INFINITY;
  const ask = async (): Promise<boolean> => {
    const late = new Promise<false>((resolve) =>
      setTimeout(resolve, databaseDeadlineMs, false).unref(),
    );
    const answered = database.query(probe).then(
      (rows) => rows.length === 1,
      () => false,
    );
    const isUp = await Promise.race([answered, late]);
    freshUntilMs = performance.now() + freshMs;
    return isUp;
  };
  return () => {
    if (answer === undefined || performance.now() >= freshUntilMs) {
      freshUntilMs = Number.POSITIVE_INFINITY;
      answer = ask();
    }
    return answer;
  };
}
