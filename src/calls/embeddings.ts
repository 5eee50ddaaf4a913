/** Prepares an embedding call; its other steps are those of a text call. docs/decisions.md "Also served". */
import { estimateInputTokens, priceUsage, type EmbeddingModel } from "../catalog/index.ts";
import { checkBound } from "../base/cost-bound.ts";
import { larger, type NanoUsd } from "../base/money.ts";
import { noUsage } from "../base/usage.ts";
import { embeddingInput, embeddingRoute, validateEmbeddings } from "../protocols/index.ts";
import { plan, resolveModelId, type Plan } from "../routing/index.ts";
import type { EmbeddingCall, TextServices } from "./context.ts";
import { planWithFallbacks } from "./fallbacks.ts";
import { planBasis } from "./plan-basis.ts";
import type { Candidate, Prepared } from "./prepare.ts";
import type { CallRecord } from "./record.ts";

/** Prepares a call, and records the decisions. @throws GatewayError that refuses it. */
export function prepareEmbedding(
  services: TextServices,
  call: EmbeddingCall,
  record: CallRecord,
): Prepared {
  const catalog = services.catalog();
  const parsed = resolveModelId(call.model, catalog);
  record.model = parsed.model;
  const body = call.body.value;
  validateEmbeddings(body);
  const { characters, tokens, session } = embeddingInput(body);
  const basis = planBasis(services, call, session);
  const plans = planWithFallbacks(record, {
    call,
    catalog,
    parsed,
    plan: (of) =>
      plan({ ...basis, catalog, parsed: of, entryPoint: "embeddings", mayBeEmpty: true }),
  });
  const inputEstimate = estimateInputTokens(characters, 0) + tokens;
  const boundAt = (inputTokens: number): NanoUsd =>
    plans
      .flatMap(({ offers }) => offers)
      .map(({ price }) => priceUsage(price, { ...noUsage, inputTokens }))
      .reduce(larger);
  record.reservedNano = boundAt(inputEstimate);
  checkBound(record.reservedNano, () => [{ field: "input", leastNano: () => boundAt(1) }]);
  const { contextLength } = plans[0]!.model;
  const candidatesOf = ({ model: limits, offers }: Plan<EmbeddingModel>): Candidate[] =>
    offers.map((offer) => {
      const { id: model } = limits;
      const { upstreamModel } = offer;
      const route = embeddingRoute({
        get body() {
          return call.body.value;
        },
        model,
        upstreamModel,
      });
      return {
        offer,
        model,
        isShorter: limits.contextLength < contextLength,
        provider: catalog.providers.get(offer.provider)!,
        route: () => route,
        discardDerived: () => route.discardDerived(),
        reservedOutputTokens: 0,
        notes: () => route.notes,
      };
    });
  return { candidates: plans.flatMap(candidatesOf), inputEstimate };
}
