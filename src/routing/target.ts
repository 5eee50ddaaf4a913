/** The first step of every plan: the model that an id names, if the caller may call it, and the strategy. docs/routing.md. */
import { GatewayError } from "../base/errors.ts";
import type { Catalog, Model } from "../catalog/index.ts";
import type { ParsedModelId, Strategy } from "./model-id.ts";
import { modelAllowed, type RoutingScope } from "./scope.ts";
import { unknownModel } from "./unknown-model.ts";

/** The requested model, and the caller's scope. */
export interface ModelQuery {
  readonly catalog: Catalog;
  readonly parsed: ParsedModelId;
  readonly scope: RoutingScope;
  /** Such as `responses` or `tasks`, as `GET /v1/models` names them. */
  readonly entryPoint: string;
}

/**
 * Returns the model of a call, if the caller of this function can serve its kind.
 * @throws GatewayError `model_not_found` (404), `model_not_allowed` (403), `unsupported_protocol` (400)
 */
export function targetModel<Kind extends Model>(
  { catalog, parsed, scope, entryPoint }: ModelQuery,
  isServed: (model: Model) => model is Kind,
): Kind {
  const param = "model";
  const model = catalog.models.get(parsed.model);
  if (model === undefined && catalog.unpriced?.has(parsed.model)) {
    const message =
      `The model "${parsed.model}" has no price here, so it is not called. ` +
      `Whoever runs this gateway sets it in the configuration file: prices: { "${parsed.model}": ... }.`;
    throw new GatewayError("model_not_found", message, { param });
  }
  if (model === undefined) throw unknownModel(parsed.model, catalog, "", parsed.provider);
  if (!modelAllowed(scope, model.id)) {
    const message = `The model "${model.id}" is outside the model allowlist of this key.`;
    throw new GatewayError("model_not_allowed", message, { param });
  }
  const endpoints: readonly string[] = model.endpoints;
  if (!isServed(model) || !endpoints.includes(entryPoint)) {
    const offered = endpoints.join(", ") || "none of these endpoints";
    const message = `The model "${model.id}" does not offer ${entryPoint}; it offers ${offered}.`;
    throw new GatewayError("unsupported_protocol", message, { param });
  }
  return model;
}

/** The strategy, and which layer set it. */
interface ChosenStrategy {
  readonly strategy: Strategy;
  readonly source: "request" | "scope" | "default";
}

/** @throws GatewayError `routing_locked` (400) */
export function chooseStrategy({
  parsed,
  scope,
}: Pick<ModelQuery, "parsed" | "scope">): ChosenStrategy {
  if (parsed.strategy !== undefined) {
    if (scope.locked) {
      const message = `This key has its own routing, so the suffix :@${parsed.strategy} is not accepted.`;
      throw new GatewayError("routing_locked", message, { param: "model" });
    }
    return { strategy: parsed.strategy, source: "request" };
  }
  if (scope.sort !== null) return { strategy: scope.sort, source: "scope" };
  return { strategy: "balanced", source: "default" };
}

/** The first fields of every plan, for the request log. JSON as it is. */
export interface ExplainedTarget {
  readonly model: string;
  readonly entry_point: string;
  readonly strategy: Strategy;
  readonly strategy_source: ChosenStrategy["source"];
  readonly pinned_by_request?: string;
}

/** Explains the requested model and the strategy. */
export const explainTarget = (
  { parsed, entryPoint }: Pick<ModelQuery, "parsed" | "entryPoint">,
  { strategy, source }: ChosenStrategy,
): ExplainedTarget => ({
  model: parsed.model,
  entry_point: entryPoint,
  strategy,
  strategy_source: source,
  ...(parsed.provider === undefined ? {} : { pinned_by_request: parsed.provider }),
});
