/**
 * Fallback models, used when no provider of the requested model can answer. The request names them, or else the model's configuration
 * does. docs/routing.md "Other models".
 */
import { GatewayError } from "../base/errors.ts";
import type { Catalog, EmbeddingModel, TextModel } from "../catalog/index.ts";
import type { JsonObject } from "../protocols/index.ts";
import { allPaused, resolveModelId, type ParsedModelId, type Plan } from "../routing/index.ts";
import type { AnyCall, TextCall } from "./context.ts";
import type { CallRecord } from "./record.ts";

/** The most fallback models in a request: each may take as many attempts as the first model. */
const fallbacksMax = 3;

/** The names in a request, and the field or header that holds them. */
interface Named {
  readonly param: string;
  readonly names: readonly string[];
}

/** The header for protocols without a field: comma-separated names. */
const fallbacksHeader = "x-gw-fallback-models";

/** The field for fallback models, if the protocol has one. */
export const fallbacksFieldOf = (protocol: AnyCall["protocol"]): "models" | undefined =>
  protocol === "chat" ? "models" : undefined;

function namedBy({ protocol, body, fallbackModels }: AnyCall): Named | undefined {
  const name = fallbacksFieldOf(protocol);
  const field = name && (body.value[name] ?? undefined);
  if (field !== undefined && fallbackModels !== undefined) {
    const message = `The field models and the header ${fallbacksHeader} cannot be combined: send one of them.`;
    throw new GatewayError("invalid_value", message, { param: "models" });
  }
  if (field !== undefined) return { param: "models", names: field as string[] };
  if (fallbackModels === undefined) return undefined;
  const names = fallbackModels.split(",").map((name) => name.trim());
  return { param: fallbacksHeader, names: names.filter((name) => name !== "") };
}

/** The body without the field that only the gateway reads. */
export function withoutFallbacks({ protocol, body: { value: body } }: TextCall): JsonObject {
  if (protocol !== "chat" || body["models"] === undefined) return body;
  const { models: _read, ...rest } = body;
  return rest;
}

/**
 * Plans a call for one model. The plan has no offers if all providers are paused. @throws GatewayError if the caller may not call
 * that model
 */
type PlanOf<Kind extends TextModel | EmbeddingModel> = (parsed: ParsedModelId) => Plan<Kind>;

interface Planning<Kind extends TextModel | EmbeddingModel> {
  readonly call: AnyCall;
  readonly catalog: Catalog;
  /** The model that the call asks for. */
  readonly parsed: ParsedModelId;
  readonly plan: PlanOf<Kind>;
  /** Checks the requested model before fallbacks are planned. @throws GatewayError if it refuses the call */
  readonly check?: (model: Kind) => void;
}

/**
 * Returns the plans of a call and records them: first its own model's, then those of the fallbacks in order. A fallback named in the
 * request that the caller may not call is an error; one from the configuration is skipped. So is one that the provider named in the
 * request does not serve (ROUTE-02). The requested model may be its own fallback, at another provider.
 * @throws GatewayError for a name in the request, as for the model itself, naming its field; `no_provider_available` if the providers
 * of all models are paused
 */
export function planWithFallbacks<Kind extends TextModel | EmbeddingModel>(
  record: CallRecord,
  planning: Planning<Kind>,
): readonly Plan<Kind>[] {
  const planned = planning.plan(planning.parsed);
  const { explanation, model } = planned;
  record.plan = explanation;
  planning.check?.(model);
  const others = fallbackPlans(planning, planned);
  const fallbacks = others.map((one) => one.explanation);
  if (fallbacks.length > 0) record.plan = { ...explanation, fallbacks };
  const plans = [planned, ...others];
  if (plans.every(({ offers }) => offers.length === 0)) throw allPaused(model.id);
  return plans;
}

function fallbackPlans<Kind extends TextModel | EmbeddingModel>(
  { call, catalog, parsed, plan }: Planning<Kind>,
  own: Plan<Kind>,
): readonly Plan<Kind>[] {
  const named = namedBy(call);
  if (named === undefined) {
    // A provider or strategy named in the call applies to all of its attempts.
    const planOf = (id: string) => plan({ ...parsed, model: id });
    return (own.model.fallbacks ?? []).flatMap((id) => unlessRefused(() => planOf(id)));
  }
  const { param, names } = named;
  const others: Plan<Kind>[] = [];
  // A request may repeat names ten thousands of times, and planning one takes some microseconds.
  const planned = new Set<string>();
  for (const name of names) {
    const of = asParam(param, () => resolveModelId(name, catalog));
    const spelled = JSON.stringify(of);
    if (planned.has(spelled)) continue;
    planned.add(spelled);
    const one = withNewOffers(
      asParam(param, () => plan(of)),
      [own, ...others],
    );
    if (one === undefined) continue;
    if (others.length === fallbacksMax) throw tooMany(param);
    others.push(one);
  }
  return others;
}

/** Returns a plan without the offers of earlier plans for its model; undefined if these have all of them. */
function withNewOffers<Kind extends TextModel | EmbeddingModel>(
  plan: Plan<Kind>,
  earlier: readonly Plan<Kind>[],
): Plan<Kind> | undefined {
  const alike = earlier.filter(({ model }) => model.id === plan.model.id);
  if (alike.length === 0) return plan;
  const asked = new Set<Kind["offers"][number]>(alike.flatMap(({ offers }) => offers));
  const offers = plan.offers.filter((offer) => !asked.has(offer));
  if (offers.length === 0) return undefined;
  const order = offers.map((offer) => `${offer.provider}/${offer.protocol}`);
  return { ...plan, offers, explanation: { ...plan.explanation, order } };
}

const tooMany = (param: string): GatewayError =>
  new GatewayError("invalid_value", `A call can name ${fallbacksMax} other models at most.`, {
    param,
  });

function unlessRefused<Made>(make: () => Made): Made[] {
  try {
    return [make()];
  } catch (error) {
    if (error instanceof GatewayError) return [];
    throw error;
  }
}

function asParam<Made>(param: string, make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code, status, message } = error;
    throw new GatewayError(code, message, { status, param });
  }
}
