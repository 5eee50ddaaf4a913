/**
 * `GET /v1/models`, one model by id, and the same list in the generateContent shape under `/v1beta`.
 * MODELS rows. The only endpoint that also answers without a key (AUTH-06); a wrong key is still refused.
 */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { GatewayError } from "../base/errors.ts";
import { findModel, listModels } from "../calls/index.ts";
import type { Caller } from "../tenancy/index.ts";
import { credentialOf, hasCredential } from "./credential.ts";
import { modelPathTail } from "./model-path.ts";
import type { HttpServices } from "./services.ts";

/** Adds the model lists. */
export function registerModels(app: FastifyInstance, services: HttpServices): void {
  const { authenticator, text } = services;
  const callerOf = async (request: FastifyRequest): Promise<Caller | undefined> =>
    hasCredential(request)
      ? authenticator.authenticate(credentialOf(request), { fresh: true })
      : undefined;

  app.get("/v1/models", async (request) => ({
    object: "list",
    data: listModels(text.catalog(), await callerOf(request)),
  }));
  app.get("/v1/models/*", async (request) => oneModel(services, request, await callerOf(request)));
  app.get("/v1beta/models", async (request) => ({
    models: listModels(text.catalog(), await callerOf(request)).map(geminiModel),
  }));
  app.get("/v1beta/models/*", async (request) =>
    geminiModel(oneModel(services, request, await callerOf(request))),
  );
}

type ListedModel = ReturnType<typeof listModels>[number];

function oneModel(
  services: HttpServices,
  request: FastifyRequest,
  caller: Caller | undefined,
): ListedModel {
  const id = modelPathTail(request);
  const model = findModel(services.text.catalog(), caller, id);
  if (!model)
    throw new GatewayError(
      "model_not_found",
      `The model "${id.slice(0, 200)}" does not exist for this key.`,
    );
  return model;
}

function geminiModel(model: ListedModel) {
  return {
    name: `models/${model.id}`,
    displayName: model.name,
    description: model.description,
    inputTokenLimit: model.context_length,
    outputTokenLimit: model.max_output_tokens,
    supportedGenerationMethods: model.endpoints.some((endpoint) => endpoint === "generate_content")
      ? ["generateContent", "countTokens"]
      : [],
  };
}
