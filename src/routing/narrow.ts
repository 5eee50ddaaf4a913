/**
 * Selects the offers of a model that may serve a call, with reasons for the others; one rule for text and media. The scope narrows first,
 * then the request's own pin, which cannot widen the scope, then pauses. docs/routing.md; T74.
 */
import { GatewayError } from "../base/errors.ts";
import { allPaused, pauseExclusion, providerExclusion } from "./scope.ts";
import type { ModelQuery } from "./target.ts";

/** An offer, and the reason why it may not serve the call; undefined for a candidate. */
export interface NarrowedOffer<Kind> {
  readonly offer: Kind;
  readonly excluded: string | undefined;
}

interface Narrowing<Kind> extends ModelQuery {
  /** The reason why an offer cannot serve this request, for conditions that only the caller of this function knows. */
  readonly exclusion?: ((offer: Kind) => string | undefined) | undefined;
  /** True if the result may be without candidates when all are paused, because another model may answer. */
  readonly mayBeEmpty?: boolean | undefined;
}

/** The reason why the scope excludes a provider, whatever the request says; undefined if it does not. */
export function scopeExclusion(
  { catalog, scope }: Pick<ModelQuery, "catalog" | "scope">,
  providerId: string,
): string | undefined {
  const provider = catalog.providers.get(providerId);
  return provider === undefined ? "not configured" : providerExclusion(scope, provider);
}

/**
 * Returns every offer of a model, in the catalogue's order.
 * @throws GatewayError `model_not_allowed` (403), `provider_not_found` (400), `no_provider_available` (503) if all are paused
 */
export function narrow<Kind extends { readonly provider: string }>(
  model: { readonly id: string; readonly offers: readonly Kind[] },
  query: Narrowing<Kind>,
): readonly NarrowedOffer<Kind>[] {
  const { catalog, exclusion, mayBeEmpty = false } = query;
  const { provider: pinned } = query.parsed;
  const scoped = model.offers.map((offer) => ({
    offer,
    excluded: scopeExclusion(query, offer.provider) ?? exclusion?.(offer),
  }));
  if (!scoped.some(isCandidate)) {
    const not =
      exclusion === undefined
        ? "is inside the routing scope of this key."
        : "can serve this request inside the routing scope of this key.";
    const message = `No provider of the model "${model.id}" ${not}`;
    throw new GatewayError("model_not_allowed", message, { param: "model" });
  }
  const named = without(scoped, ({ provider }) =>
    pinned === undefined || provider === pinned ? undefined : "not the provider the request names",
  );
  if (!named.some(isCandidate)) {
    const others = [...new Set(candidatesOf(scoped).map(({ provider }) => provider))].join(", ");
    const message = `The provider "${pinned}" does not serve the model "${model.id}" to this key. These do: ${others}.`;
    throw new GatewayError("provider_not_found", message, { param: "model" });
  }
  const unpaused = without(named, ({ provider }) => pauseExclusion(catalog, provider));
  if (!mayBeEmpty && !unpaused.some(isCandidate)) throw allPaused(model.id);
  return unpaused;
}

const isCandidate = ({ excluded }: NarrowedOffer<unknown>): boolean => excluded === undefined;

/** The offers that may serve the call. */
export const candidatesOf = <Kind>(rows: readonly NarrowedOffer<Kind>[]): Kind[] =>
  rows.filter(isCandidate).map(({ offer }) => offer);

const without = <Kind>(
  rows: readonly NarrowedOffer<Kind>[],
  why: (offer: Kind) => string | undefined,
): readonly NarrowedOffer<Kind>[] =>
  rows.map((row) => (isCandidate(row) ? { offer: row.offer, excluded: why(row.offer) } : row));
