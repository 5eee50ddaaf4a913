/**
 * The plan of one call: its offers, in order, with the reasons. docs/routing.md. Constraints narrow first and hold for every attempt (T74);
 * preferences only order the rest.
 */
import {
  endpointProtocol,
  isCallable,
  type CallableModel,
  type EmbeddingModel,
  type EndpointName,
  type EntryPoint,
  type Offer,
  type TextModel,
} from "../catalog/index.ts";
import { orderByHealth } from "./order-by-health.ts";
import { candidatesOf, narrow, scopeExclusion } from "./narrow.ts";
import { orderOffers, sessionDraw, standardPrice, type OrderInput } from "./order.ts";
import { cachedPlan } from "./plan-cache.ts";
import { pauseExclusion } from "./scope.ts";
import {
  chooseStrategy,
  explainTarget,
  targetModel,
  type ExplainedTarget,
  type ModelQuery,
} from "./target.ts";

export interface PlanInput<Entry extends EntryPoint = EntryPoint>
  extends ModelQuery, Pick<OrderInput, "session" | "random" | "health" | "stream"> {
  readonly entryPoint: Entry;
  /** True if the plan may be without offers when all providers are paused, because another model may answer. */
  readonly mayBeEmpty?: boolean | undefined;
}

/** One offer as the request log shows it. JSON as it is. */
export interface ExplainedOffer {
  readonly provider: string;
  readonly protocol: string;
  readonly tier: string;
  /** The price of a standard call (3,000 tokens in, 1,000 out) in nano-USD, by which offers are compared. */
  readonly standard_price_nano: string;
  /** The reason why it may not serve this call, such as `circuit open since ...`; absent for a candidate. */
  readonly excluded?: string;
}

/** The reasons for the plan, for the request log. JSON as it is. */
export interface Explanation extends ExplainedTarget {
  /** The provider of the session, if the call has one. Rows of the request log have it by this name. */
  readonly affinity_provider?: string;
  readonly offers: readonly ExplainedOffer[];
  /** `provider/protocol` in the order of attempts. */
  readonly order: readonly string[];
}

export interface Plan<Kind extends CallableModel = TextModel> {
  readonly model: Kind;
  /** In the order of attempts. Never empty, unless the input allows it. */
  readonly offers: readonly Kind["offers"][number][];
  /** The offers that health leaves out while there are others, in order: for a call that none of the others can take. */
  readonly leftOut: readonly Kind["offers"][number][];
  readonly explanation: Explanation;
}

/** `excluded`: the reason why it may not serve the call; undefined for a candidate. */
function explainOffer(
  offer: Offer,
  { catalog }: PlanInput,
  excluded: string | undefined,
): ExplainedOffer {
  return {
    provider: offer.provider,
    protocol: offer.protocol,
    tier: catalog.providers.get(offer.provider)?.tier ?? "unknown",
    standard_price_nano: standardPrice(offer.price).toString(),
    ...(excluded === undefined ? {} : { excluded }),
  };
}

/** Returns every offer of a model, with the reason why its provider gets no call of this scope now, if any. */
export const explainOffers = (model: CallableModel, input: PlanInput): readonly ExplainedOffer[] =>
  model.offers.map((offer) => {
    const { provider } = offer;
    const excluded = scopeExclusion(input, provider) ?? pauseExclusion(input.catalog, provider);
    return explainOffer(offer, input, excluded);
  });

/**
 * Returns the offers that may serve a call, in order, with the reasons. Scopes and catalogues are values, so a plan may come from the
 * cache.
 * @throws GatewayError `model_not_found` (404), `model_not_allowed` (403), `unsupported_protocol`, `routing_locked` or `provider_not_found`
 * (400), `no_provider_available` (503) if all are paused.
 */
export function plan(input: PlanInput<EndpointName>): Plan;
export function plan(input: PlanInput<"embeddings">): Plan<EmbeddingModel>;
export function plan(input: PlanInput): Plan | Plan<EmbeddingModel> {
  return cachedPlan(input, nameOf(input), () => makePlan(input));
}

/** The parts of a request that a plan with one offer depends on. */
const nameOf = ({ entryPoint, parsed, session }: PlanInput): string =>
  `${entryPoint} ${parsed.model}:${parsed.provider ?? ""}:${parsed.strategy ?? ""} ${session ? "held" : ""}`;

/** A plan, and whether the next call would get the same one: true if there is only one offer. */
interface BuiltPlan {
  readonly plan: Plan | Plan<EmbeddingModel>;
  readonly lasting: boolean;
}

function makePlan(input: PlanInput): BuiltPlan {
  const model = targetModel(input, isCallable);
  const chosen = chooseStrategy(input);
  const rows = narrow<Offer>(model, input);
  const candidates = candidatesOf(rows);
  const { session, health, random } = input;
  const common = {
    strategy: chosen.strategy,
    session,
    random,
    health,
    stream: input.stream,
    protocol: endpointProtocol[input.entryPoint],
    preferredProviders: input.scope.preferredProviders,
  };
  const order = (offers: readonly Offer[]) => orderOffers({ ...common, offers });
  const ordered = orderByHealth(candidates, {
    health,
    providers: input.catalog.providers,
    order,
    draw: ({ provider }) => (session ? sessionDraw(session, provider) : random()),
  });
  const held = ordered.sessionProvider;
  const plan = {
    model,
    offers: ordered.offers,
    leftOut: ordered.excluded ? order([...ordered.excluded.keys()]).offers : [],
    explanation: {
      ...explainTarget(input, chosen),
      ...(held === undefined ? {} : { affinity_provider: held }),
      offers: rows.map(({ offer, excluded }) =>
        explainOffer(offer, input, excluded ?? ordered.excluded?.get(offer)),
      ),
      order: ordered.offers.map((offer) => `${offer.provider}/${offer.protocol}`),
    },
    // The entry point determines the kind of model, and a model's offers have its kind.
  } as Plan | Plan<EmbeddingModel>;
  return { plan, lasting: candidates.length === 1 };
}
