/** Videos in the vendor-native shape: creating and reading. Requirements: NVID. */
import type { FastifyInstance } from "fastify";
import { renderNative } from "../../tasks/index.ts";
import { jsonCreation, replayHeaders, submitCreation } from "./create-task.ts";
import { authenticatingLimited } from "../callers/rate-headers.ts";
import { requestIdHeaders } from "../errors/reply-error.ts";
import type { HttpServices } from "../services.ts";
import { authenticatingFresh, taskOf } from "./task-caller.ts";

/** Adds the native endpoints. An image task is as if it did not exist here (docs/decisions.md "Reads on other paths"). */
export function registerVideoRoutes(app: FastifyInstance, services: HttpServices): void {
  const creating = { onRequest: authenticatingLimited(services) };
  app.post("/v1/videos/generations", creating, async (request, reply) => {
    const creation = await jsonCreation(request, "videos");
    const result = await submitCreation(services, request, creation);
    return reply
      .headers({ ...requestIdHeaders("chat", request.id), ...replayHeaders(result) })
      .send({ request_id: result.task.id });
  });
  const reading = { onRequest: authenticatingFresh(services) };
  app.get("/v1/videos/:id", reading, async (request, reply) =>
    reply
      .headers(requestIdHeaders("chat", request.id))
      .send(renderNative(await taskOf(services, request, "video"), services.fileUrl)),
  );
}
