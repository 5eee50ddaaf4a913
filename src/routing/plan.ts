/**
 * The plan of one call: which offers may serve it, in which order, and why. docs/routing.md.
 * Constraints narrow first and hold for every attempt (T74); preferences only order what is left.
 */
import { GatewayError } from "../base/errors.ts";
import {
  endpointProtocol,
  type Catalog,
  type EmbeddingModel,
  type EndpointName,
  type EntryPoint,
  type Model,
  type Offer,
  type TextModel,
} from "../catalog/index.ts";
import type { Health } from "./health.ts";
import { lineUp } from "./line-up.ts";
import type { ParsedModelId, Strategy } from "./model-id.ts";
import { orderOffers, sessionDraw, standardPrice } from "./order.ts";
import { keptPlan } from "./plan-cache.ts";
import { allPaused, pauseExclusion, providerExclusion, type RoutingScope } from "./scope.ts";
import { chooseStrategy, targetModel } from "./target.ts";

export interface PlanInput<Entry extends EntryPoint = EntryPoint> {
  readonly catalog: Catalog;
  readonly entryPoint: Entry;
  readonly parsed: ParsedModelId;
  readonly scope: RoutingScope;
  /** `prompt_cache_key`, else the end-user id. */
  readonly affinity?: string | undefined;
  /** Uniform in [0, 1); `Math.random` where nothing is tested. */
  readonly random: () => number;
  /** How the providers are doing. Absent: nothing is known of any. */
  readonly health?: Health | undefined;
  /** Whether the caller wants a stream; speed is measured apart for streams. */
  readonly stream?: boolean | undefined;
  /** A plan without offers will do where all providers are paused: another model may answer. */
  readonly mayBeEmpty?: boolean | undefined;
}

/** One offer as the request log shows it. JSON as it is. */
export interface ExplainedOffer {
  readonly provider: string;
  readonly protocol: string;
  readonly tier: string;
  /** Nano-USD of a standard call (3,000 tokens in, 1,000 out), by which offers are compared. */
  readonly standard_price_nano: string;
  /** Why it may not serve this call, such as `circuit open since ...`; absent for a candidate. */
  readonly excluded?: string;
}

/** Why the plan is as it is, for the request log. JSON as it is. */
export interface Explanation {
  readonly model: string;
  readonly entry_point: EntryPoint;
  readonly strategy: Strategy;
  readonly strategy_source: "request" | "scope" | "default";
  readonly pinned_by_request?: string;
  readonly affinity_provider?: string;
  readonly offers: readonly ExplainedOffer[];
  /** `provider/protocol` in the order of attempts. */
  readonly order: readonly string[];
}

type CallableKind = TextModel | EmbeddingModel;

export interface Plan<Kind extends CallableKind = TextModel> {
  readonly model: Kind;
  /** The first is tried first. Never empty, unless the input said that it may be. */
  readonly offers: readonly Kind["offers"][number][];
  /** Those that health keeps out while there are others, in order: for a call that none of the others can take. */
  readonly leftOut: readonly Kind["offers"][number][];
  readonly explanation: Explanation;
}

export const isCallable = (model: Model): model is CallableKind =>
  model.kind === "text" || model.kind === "embedding";

function explainOffer(offer: Offer, input: PlanInput): ExplainedOffer {
  const provider = input.catalog.providers.get(offer.provider);
  const excluded =
    provider === undefined ? "not configured" : providerExclusion(input.scope, provider);
  return {
    provider: offer.provider,
    protocol: offer.protocol,
    tier: provider?.tier ?? "unknown",
    standard_price_nano: standardPrice(offer.price).toString(),
    ...(excluded === undefined ? {} : { excluded }),
  };
}

/** Every offer of a model, with why its provider gets no call of this scope now. */
export const explainOffers = (model: CallableKind, input: PlanInput): readonly ExplainedOffer[] =>
  model.offers.map((offer) => {
    const explained = explainOffer(offer, input);
    const excluded = explained.excluded ?? pauseExclusion(input.catalog, offer.provider);
    return excluded === undefined ? explained : { ...explained, excluded };
  });

/** The offers left, and every offer explained. The request's own pin narrows last, so that it cannot widen the scope. */
function narrow(model: CallableKind, input: PlanInput): Narrowed {
  const offers: readonly Offer[] = model.offers;
  const rows = offers.map((offer) => ({ offer, explained: explainOffer(offer, input) }));
  const allowed = rows.filter(({ explained }) => explained.excluded === undefined);
  if (allowed.length === 0) {
    const message = `No provider of the model "${model.id}" is inside the routing scope of this key.`;
    throw new GatewayError("model_not_allowed", message, { param: "model" });
  }
  const { provider } = input.parsed;
  if (provider === undefined) return awake({ allowed, rows }, model, input);
  const pinned = allowed.filter(({ offer }) => offer.provider === provider);
  if (pinned.length === 0) {
    const message = `The provider "${provider}" does not serve the model "${model.id}" to this key.`;
    throw new GatewayError("provider_not_found", message, { param: "model" });
  }
  const others = rows.map((row) =>
    row.offer.provider === provider || row.explained.excluded !== undefined
      ? row
      : { ...row, explained: { ...row.explained, excluded: "not the provider the request names" } },
  );
  return awake({ allowed: pinned, rows: others }, model, input);
}

interface ExplainedRow {
  readonly offer: Offer;
  readonly explained: ExplainedOffer;
}

interface Narrowed {
  readonly allowed: readonly ExplainedRow[];
  readonly rows: readonly ExplainedRow[];
}

/** Without the providers that are paused. @throws GatewayError `no_provider_available` where none is left and one has to be */
function awake(
  narrowed: Narrowed,
  { id }: CallableKind,
  { catalog, mayBeEmpty = false }: PlanInput,
): Narrowed {
  if (catalog.paused === undefined || catalog.paused.size === 0) return narrowed;
  const isAwake = ({ offer }: ExplainedRow) =>
    pauseExclusion(catalog, offer.provider) === undefined;
  const allowed = narrowed.allowed.filter(isAwake);
  if (allowed.length === 0 && !mayBeEmpty) throw allPaused(id);
  const rows = narrowed.rows.map(({ offer, explained }) => {
    const excluded = explained.excluded ?? pauseExclusion(catalog, offer.provider);
    return { offer, explained: excluded === undefined ? explained : { ...explained, excluded } };
  });
  return { allowed, rows };
}

/**
 * Which offers may serve a call, in order, with the reasons.
 * @throws GatewayError `model_not_found` (404), `model_not_allowed` (403), `unsupported_protocol`, `routing_locked`
 * or `provider_not_found` (400). Scopes and catalogues are values: a plan may be one that was made before.
 */
export function plan(input: PlanInput<EndpointName>): Plan;
export function plan(input: PlanInput<"embeddings">): Plan<EmbeddingModel>;
export function plan(input: PlanInput): Plan | Plan<EmbeddingModel> {
  return keptPlan(input, nameOf(input), () => makePlan(input));
}

/** What of a request a plan with one offer depends on. */
const nameOf = ({ entryPoint, parsed, affinity }: PlanInput): string =>
  `${entryPoint} ${parsed.model}:${parsed.provider ?? ""}:${parsed.strategy ?? ""} ${affinity ? "held" : ""}`;

/** A plan, and whether the next call would get the same: where one offer is all there is. */
interface MadePlan {
  readonly plan: Plan | Plan<EmbeddingModel>;
  readonly lasting: boolean;
}

function makePlan(input: PlanInput): MadePlan {
  const model = targetModel(input, isCallable);
  const { strategy, source } = chooseStrategy(input);
  const { allowed, rows } = narrow(model, input);
  const { affinity, health, random } = input;
  const common = {
    strategy,
    affinity,
    random,
    health,
    stream: input.stream,
    protocol: endpointProtocol[input.entryPoint],
    preferredProviders: input.scope.preferredProviders,
  };
  const order = (offers: readonly Offer[]) => orderOffers({ ...common, offers });
  const lined = lineUp(
    allowed.map(({ offer }) => offer),
    {
      health,
      providers: input.catalog.providers,
      order,
      draw: ({ provider }) => (affinity ? sessionDraw(affinity, provider) : random()),
    },
  );
  const { provider } = input.parsed;
  const held = lined.affinityProvider;
  const plan = {
    model,
    offers: lined.offers,
    leftOut: lined.excluded ? order([...lined.excluded.keys()]).offers : [],
    explanation: {
      model: model.id,
      entry_point: input.entryPoint,
      strategy,
      strategy_source: source,
      ...(provider === undefined ? {} : { pinned_by_request: provider }),
      ...(held === undefined ? {} : { affinity_provider: held }),
      offers: rows.map(({ offer, explained }) => withHealth(explained, lined.excluded?.get(offer))),
      order: lined.offers.map((offer) => `${offer.provider}/${offer.protocol}`),
    },
    // The entry point says which kind of model it is, and its offers are its own.
  } as Plan | Plan<EmbeddingModel>;
  return { plan, lasting: allowed.length === 1 };
}

const withHealth = (explained: ExplainedOffer, excluded: string | undefined): ExplainedOffer =>
  excluded === undefined ? explained : { ...explained, excluded };
