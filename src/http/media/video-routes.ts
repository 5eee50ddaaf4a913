/** Videos in the vendor-native shape: creating and reading. Requirements: NVID. */
import type { FastifyInstance } from "fastify";
import { renderNative } from "../../tasks/index.ts";
import { jsonCreation, replayHeaders, submitCreation } from "./create-task.ts";
import { handle } from "../handle.ts";
import type { HttpServices } from "../services.ts";
import { taskOf } from "./task-caller.ts";

/** Adds the native endpoints. They hide image tasks (docs/decisions.md "Reads on other paths"). */
export function registerVideoRoutes(app: FastifyInstance, services: HttpServices): void {
  handle(app, "POST /v1/videos/generations", async (request, reply) => {
    const creation = await jsonCreation(request, "videos");
    const result = await submitCreation(services, request, creation);
    return reply.headers(replayHeaders(result)).send({ request_id: result.task.id });
  });
  handle(app, "GET /v1/videos/:id", async (request, reply) =>
    reply.send(renderNative(await taskOf(services, request, "video"), services.fileUrl)),
  );
}
