/** What `GET /v1/models` tells of each model. MODELS rows; wire notes, gaps section 7. */
import { formatUsd } from "../base/money.ts";
import { supportedParameters, type Catalog, type TextRates } from "../catalog/index.ts";
import { modelsFor, openScope, type CallableModel } from "../routing/index.ts";
import { routingScope, type Caller } from "../tenancy/index.ts";

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

function renderModel(catalog: Catalog, { model, offers }: CallableModel) {
  return {
    id: model.id,
    object: "model" as const,
    created: model.created,
    owned_by: model.id.slice(0, Math.max(model.id.indexOf("/"), 0)) || "tollgate",
    name: model.name ?? model.id,
    description: model.description ?? "",
    context_length: model.contextLength,
    max_output_tokens: model.maxOutputTokens,
    architecture: { input_modalities: ["text", "image"], output_modalities: ["text"] },
    endpoints: model.endpoints,
    supported_parameters: supportedParameters(model),
    pricing: pricingRows(offers[0]!.price),
    providers: [...new Set(offers.map((offer) => offer.provider))].map((id) => ({
      id,
      supply_tier: catalog.providers.get(id)!.tier,
      supports_streaming: true,
    })),
  };
}

/** The rates of the first offer, in USD per million tokens. */
function pricingRows(rates: TextRates) {
  const row = (billable: string, nano: bigint) => ({
    billable,
    unit: "million_tokens",
    price_usd: formatUsd(nano),
  });
  return [
    row("input_tokens", rates.input),
    row("cache_read_tokens", rates.cacheRead ?? rates.input),
    row("cache_write_tokens", rates.cacheWrite ?? rates.input),
    row("output_tokens", rates.output),
  ];
}
