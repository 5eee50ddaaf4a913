/** Renders the models of `GET /v1/models`. Requirements: MODELS. */
import { isPattern, modelNames, type Catalog } from "../catalog/index.ts";
import { isMediaModel, modelsFor, openScope, type CallableModel } from "../routing/index.ts";
import { routingScope, type Caller } from "../tenancy/index.ts";
import { embeddingPricing, mediaPricing, textPricing } from "./pricing.ts";
import { parametersOf } from "./supported.ts";

const callableModels = (catalog: Catalog, caller: Caller | undefined): CallableModel[] =>
  modelsFor(catalog, caller ? routingScope(caller) : openScope);

/** The models that a caller can really call, by their ids and aliases; without a caller, every model (AUTH-06, MODELS-06). */
export function listModels(catalog: Catalog, caller: Caller | undefined) {
  return callableModels(catalog, caller).flatMap((entry) => {
    const aliases = entry.model.aliases?.filter((alias) => !isPattern(alias)) ?? [];
    return [entry.model.id, ...aliases].map((name) => renderModel(catalog, entry, name));
  });
}

/** One model as in the list, by any of its names; undefined if the caller cannot call it. */
export function findModel(catalog: Catalog, caller: Caller | undefined, name: string) {
  const id = modelNames(catalog).any(name);
  const entry = callableModels(catalog, caller).find(({ model }) => model.id === id);
  return entry && renderModel(catalog, entry, name);
}

function renderModel(catalog: Catalog, callable: CallableModel, name: string) {
  const { model, offers } = callable;
  return {
    id: name,
    object: "model" as const,
    created: model.created,
    owned_by: model.id.slice(0, Math.max(model.id.indexOf("/"), 0)) || "tollgate",
    name: model.name ?? model.id,
    description: model.description ?? "",
    context_length: isMediaModel(callable) ? 0 : callable.model.contextLength,
    ...modalities(model),
    endpoints: model.endpoints,
    supported_parameters: parametersOf(callable, catalog),
    pricing: pricingOf(callable, catalog),
    providers: [...new Set(offers.map((offer) => offer.provider))].map((id) => ({
      id,
      supply_tier: catalog.providers.get(id)!.tier,
      supports_streaming: isMediaModel(callable)
        ? callable.offers.some(({ provider, streaming }) => provider === id && streaming)
        : model.kind === "text",
    })),
  };
}

function pricingOf(callable: CallableModel, { providers }: Catalog) {
  if (isMediaModel(callable)) return mediaPricing(callable.offers[0]!.price);
  const offer = callable.offers[0]!;
  if (offer.protocol === "embeddings") return embeddingPricing(offer.price);
  return textPricing(offer, providers.get(offer.provider)!);
}

/** The input and output modalities. Vectors, images and videos are not text tokens, so `max_output_tokens` is 0 for them. */
function modalities(model: CallableModel["model"]) {
  if (model.kind === "text") {
    return {
      max_output_tokens: model.maxOutputTokens,
      architecture: {
        input_modalities: model.inputModalities ?? ["text", "image"],
        output_modalities: model.outputModalities ?? ["text"],
      },
    };
  }
  const architecture =
    model.kind === "embedding"
      ? { input_modalities: ["text"], output_modalities: ["embeddings"] }
      : { input_modalities: ["text", "image"], output_modalities: [model.kind] };
  return { max_output_tokens: 0, architecture };
}
