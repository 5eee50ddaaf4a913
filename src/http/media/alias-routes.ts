/**
 * Tasks under two vendors' own paths: DashScope's `/api/v1/tasks`, Ark's `/api/v3/contents/generations/tasks`. Requirements: ALIAS,
 * ARK. Canceling, and creating on Ark's path, are extensions: clients of those vendors know no other path for them.
 */
import type { FastifyInstance } from "fastify";
import { GatewayError } from "../../base/errors.ts";
import { resolveModelId } from "../../routing/index.ts";
import { renderArk, renderDashscope } from "../../tasks/index.ts";
import { arkBody, arkParam, type ArkBody } from "./ark-request.ts";
import { jsonCreation, replayHeaders, submitCreation, type Creation } from "./create-task.ts";
import { handle } from "../handle.ts";
import type { HttpServices } from "../services.ts";
import { taskOf } from "./task-caller.ts";

/** Adds the alias paths. */
export function registerAliasRoutes(app: FastifyInstance, services: HttpServices): void {
  registerDashscope(app, services);
  registerArk(app, services);
}

function registerDashscope(app: FastifyInstance, services: HttpServices): void {
  handle(app, "GET /api/v1/tasks/:id", async (request, reply) =>
    reply.send(renderDashscope(await taskOf(services, request), services.fileUrl, request.id)),
  );
  handle(app, "POST /api/v1/tasks/:id/cancel", async (request, reply) => {
    const task = await taskOf(services, request);
    await services.tasks.cancel(task.workspaceId, task.id);
    return reply.send({ request_id: request.id });
  });
}

/** Ark makes only videos: this path hides image tasks (docs/decisions.md "Reads on other paths"). */
function registerArk(app: FastifyInstance, services: HttpServices): void {
  handle(app, "POST /api/v3/contents/generations/tasks", async (request, reply) => {
    let places: ArkBody["places"] | undefined;
    const fieldsOf = (body: Readonly<Record<string, unknown>>) => {
      const converted = arkBody(body);
      places = converted.places;
      return converted.fields;
    };
    const submit = async () => {
      const creation = await jsonCreation(request, "tasks", fieldsOf);
      refuseImageModel(services, creation);
      return submitCreation(services, request, creation);
    };
    const result = await submit().catch((error: unknown) => {
      throw places === undefined ? error : withArkParam(error, places);
    });
    return reply.headers(replayHeaders(result)).send({ id: result.task.id });
  });
  handle(app, "GET /api/v3/contents/generations/tasks/:id", async (request, reply) =>
    reply.send(renderArk(await taskOf(services, request, "video"), services.fileUrl)),
  );
  handle(app, "DELETE /api/v3/contents/generations/tasks/:id", async (request, reply) => {
    const task = await taskOf(services, request, "video");
    await services.tasks.cancel(task.workspaceId, task.id);
    return reply.send({});
  });
}

/** Refuses models without videos: the task could not be read on this path. An unknown model is refused later, with all other checks. */
function refuseImageModel({ text }: HttpServices, { model }: Creation): void {
  const catalog = text.catalog();
  const found = catalog.models.get(resolveModelId(model, catalog).model);
  if (found === undefined || found.kind === "video") return;
  throw new GatewayError(
    "unsupported_protocol",
    `The model "${found.id}" makes no videos; GET /v1/models lists those that do.`,
    {
      param: "model",
    },
  );
}

/** Returns an error with the field's name on Ark's path. */
function withArkParam(error: unknown, places: ArkBody["places"]): unknown {
  if (!(error instanceof GatewayError) || error.param === null) return error;
  const param = arkParam(error.param, places);
  if (param === error.param) return error;
  const message = error.message.replace(error.param, param);
  const { code, status, retryAfterSeconds, shouldRetry } = error;
  return new GatewayError(code, message, { status, retryAfterSeconds, shouldRetry, param });
}
