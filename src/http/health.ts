/** `/healthz` (the process), `/readyz` (database and start-up), `/metrics` (Prometheus). design.md section 8 "Health". */
import type { FastifyInstance } from "fastify";
import type { HttpServices } from "./services.ts";

const databaseDeadlineMs = 2_000;

/** Adds the health endpoints. They need no key. */
export function registerHealth(app: FastifyInstance, services: HttpServices): void {
  app.get("/healthz", (_request, reply) => reply.send({ status: "ok" }));
  app.get("/readyz", async (_request, reply) => {
    const database = await databaseAnswers(services);
    const ready = services.ready() && database;
    return reply
      .code(ready ? 200 : 503)
      .send({ status: ready ? "ready" : "not_ready", database: database ? "ok" : "down" });
  });
  app.get("/metrics", async (_request, reply) =>
    reply.type(services.metrics.contentType).send(await services.metrics.render()),
  );
}

async function databaseAnswers({ database }: HttpServices): Promise<boolean> {
  const late = new Promise<false>((resolve) =>
    setTimeout(resolve, databaseDeadlineMs, false).unref(),
  );
  const answer = database.query("select 1").then(
    () => true,
    () => false,
  );
  return Promise.race([answer, late]);
}
