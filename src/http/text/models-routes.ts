/**
 * `GET /v1/models`, one model by id, and both in the shapes that SDKs read: Google's under `/v1beta` and for its SDKs, Anthropic's.
 * MODELS rows. The only endpoint that also answers without a key (AUTH-06); a wrong key is still refused.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { GatewayError } from "../../base/errors.ts";
import { findModel, listModels } from "../../calls/index.ts";
import { handle } from "../handle.ts";
import { styleOf } from "../routes.ts";
import type { HttpServices } from "../services.ts";
import {
  anthropicShape,
  codexShape,
  geminiShape,
  publicModelLists,
  openShape,
  type ListedModel,
  type ModelListShape,
} from "./model-lists.ts";
import { modelOf } from "./model-path.ts";

/** Adds the model lists. */
export function registerModels(app: FastifyInstance, services: HttpServices): void {
  const publicList = publicModelLists();
  const list = async (request: FastifyRequest, reply: FastifyReply) => {
    const catalog = services.text.catalog();
    const shape = shapeOf(request);
    if (request.caller !== undefined)
      return shape.list(listModels(catalog, request.caller), catalog);
    return reply.type(jsonType).send(publicList(catalog, shape));
  };
  const one = async (request: FastifyRequest, reply: FastifyReply) => {
    refuseCall(request, reply);
    return shapeOf(request).one(oneModel(services, request), services.text.catalog());
  };
  handle(app, "GET /v1/models", list);
  handle(app, "GET /v1/models/*", one);
  handle(app, "GET /v1beta/models", list);
  handle(app, "GET /v1beta/models/*", one);
}

const jsonType = "application/json; charset=utf-8";

function shapeOf({ match, headers, query }: FastifyRequest): ModelListShape {
  const style = styleOf(match, headers);
  if (style === "generate_content") return geminiShape;
  if (style === "messages") return anthropicShape;
  // Only Codex tells its version.
  return Object.hasOwn(query as object, "client_version") ? codexShape : openShape;
}

/** Refuses a GET of a call's path: a person opened it in a browser, or a program sent the wrong method. */
function refuseCall({ match, method }: FastifyRequest, reply: FastifyReply): void {
  if (!/:(?:generateContent|streamGenerateContent|countTokens)$/.test(modelOf(match))) return;
  reply.raw.setHeader("allow", "POST");
  throw new GatewayError("method_not_allowed", `${method} is not allowed here; use POST.`);
}

function oneModel({ text }: HttpServices, { match, caller }: FastifyRequest): ListedModel {
  const id = modelOf(match);
  const model = findModel(text.catalog(), caller, id);
  if (!model)
    throw new GatewayError(
      "model_not_found",
      `The model "${id.slice(0, 200)}" does not exist for this key.`,
    );
  return model;
}
