/** What `GET /v1/models` tells of each model. MODELS rows; wire notes, gaps section 7. */
import { formatUsd } from "../base/money.ts";
import { type Catalog, type TextRates } from "../catalog/index.ts";
import { modelsFor, openScope, type CallableModel } from "../routing/index.ts";
import { routingScope, type Caller } from "../tenancy/index.ts";
import { parametersOf } from "./supported.ts";

/** The models a caller can really call; without a caller every model (AUTH-06, MODELS-06). */
export function listModels(catalog: Catalog, caller: Caller | undefined) {
  return modelsFor(catalog, caller ? routingScope(caller) : openScope).map((entry) =>
    renderModel(catalog, entry),
  );
}

/** One model as the list shows it; undefined where the caller cannot call it. */
export function findModel(catalog: Catalog, caller: Caller | undefined, id: string) {
  return listModels(catalog, caller).find((model) => model.id === id);
}

function renderModel(catalog: Catalog, callable: CallableModel) {
  const { model, offers } = callable;
  return {
    id: model.id,
    object: "model" as const,
    created: model.created,
    owned_by: model.id.slice(0, Math.max(model.id.indexOf("/"), 0)) || "tollgate",
    name: model.name ?? model.id,
    description: model.description ?? "",
    context_length: model.contextLength,
    ...modalities(model),
    endpoints: model.endpoints,
    supported_parameters: parametersOf(callable),
    pricing: model.kind === "text" ? pricingRows(offers[0]!.price) : [inputRow(offers[0]!.price)],
    providers: [...new Set(offers.map((offer) => offer.provider))].map((id) => ({
      id,
      supply_tier: catalog.providers.get(id)!.tier,
      supports_streaming: model.kind === "text",
    })),
  };
}

/** What goes in and what comes out. Vectors are no tokens: an embedding model has none to put out. */
function modalities(model: CallableModel["model"]) {
  return model.kind === "text"
    ? {
        max_output_tokens: model.maxOutputTokens,
        architecture: { input_modalities: ["text", "image"], output_modalities: ["text"] },
      }
    : {
        max_output_tokens: 0,
        architecture: { input_modalities: ["text"], output_modalities: ["embeddings"] },
      };
}

const perMillion = (billable: string, nano: bigint) => ({
  billable,
  unit: "million_tokens",
  price_usd: formatUsd(nano),
});

const inputRow = (rates: TextRates) => perMillion("input_tokens", rates.input);

/** The rates of the first offer, in USD per million tokens. */
const pricingRows = (rates: TextRates) => [
  inputRow(rates),
  perMillion("cache_read_tokens", rates.cacheRead ?? rates.input),
  perMillion("cache_write_tokens", rates.cacheWrite ?? rates.input),
  perMillion("output_tokens", rates.output),
];
