/**
 * The other models that a call may go to where no provider of its own model can answer: those that the request names, else
 * those of the model in the configuration. docs/routing.md "Other models".
 */
import { GatewayError } from "../base/errors.ts";
import type { Catalog, EmbeddingModel, TextModel } from "../catalog/index.ts";
import type { JsonObject } from "../protocols/index.ts";
import { allPaused, resolveModelId, type ParsedModelId, type Plan } from "../routing/index.ts";
import type { AnyCall, TextCall } from "./context.ts";
import type { CallRecord } from "./record.ts";

/** So many other models at most: each may take as many attempts as the first. */
const fallbacksMax = 3;

/** Where a request names them, and the names. */
interface Named {
  readonly param: string;
  readonly names: readonly string[];
}

/** The header of the protocols that have no field for it: names with commas between them. */
const fallbacksHeader = "x-gw-fallback-models";

/** The field that names them, where a protocol has one. */
export const fallbacksFieldOf = (protocol: AnyCall["protocol"]): "models" | undefined =>
  protocol === "chat" ? "models" : undefined;

function namedBy({ protocol, body, fallbackModels }: AnyCall): Named | undefined {
  const name = fallbacksFieldOf(protocol);
  const field = name && (body.value[name] ?? undefined);
  if (field !== undefined && fallbackModels !== undefined) {
    const message = `The field models and the header ${fallbacksHeader} say the same: send one of them.`;
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

/** How a call is planned for a model; without offers where all its providers are paused. @throws GatewayError where its caller may not call that */
type PlanOf<Kind extends TextModel | EmbeddingModel> = (parsed: ParsedModelId) => Plan<Kind>;

interface Planning<Kind extends TextModel | EmbeddingModel> {
  readonly call: AnyCall;
  readonly catalog: Catalog;
  /** What the call asks for. */
  readonly parsed: ParsedModelId;
  readonly plan: PlanOf<Kind>;
  /** Looks at the model that the call asks for, before others are. @throws GatewayError what refuses the call there */
  readonly check?: (model: Kind) => void;
}

/**
 * The plans of a call: its own model's, and those of the other models in their order, noted in its record. One that the
 * request names and its caller may not call is refused; one of the configuration is left out, as is one that the provider
 * which the request names does not serve (ROUTE-02).
 * @throws GatewayError for a name in the request, as for the model itself, naming the field that holds it;
 * `no_provider_available` where the providers of all are paused
 */
export function planWithFallbacks<Kind extends TextModel | EmbeddingModel>(
  record: CallRecord,
  planning: Planning<Kind>,
): readonly Plan<Kind>[] {
  const planned = planning.plan(planning.parsed);
  const { explanation, model } = planned;
  record.plan = explanation;
  planning.check?.(model);
  const others = fallbackPlans(planning, model);
  const fallbacks = others.map((one) => one.explanation);
  if (fallbacks.length > 0) record.plan = { ...explanation, fallbacks };
  const plans = [planned, ...others];
  if (plans.every(({ offers }) => offers.length === 0)) throw allPaused(model.id);
  return plans;
}

function fallbackPlans<Kind extends TextModel | EmbeddingModel>(
  { call, catalog, parsed, plan }: Planning<Kind>,
  model: Kind,
): readonly Plan<Kind>[] {
  const named = namedBy(call);
  if (named === undefined) {
    // A provider or strategy that the call names holds for all of its attempts.
    const planOf = (id: string) => plan({ ...parsed, model: id });
    return (model.fallbacks ?? []).flatMap((id) => unlessRefused(() => planOf(id)));
  }
  const { param, names } = named;
  const plans = names.map((name) => asParam(param, () => plan(resolveModelId(name, catalog))));
  const others = plans.filter(
    (one, index) =>
      one.model.id !== model.id &&
      plans.findIndex((earlier) => earlier.model.id === one.model.id) === index,
  );
  if (others.length <= fallbacksMax) return others;
  const message = `A call can name ${fallbacksMax} other models at most.`;
  throw new GatewayError("invalid_value", message, { param });
}

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
