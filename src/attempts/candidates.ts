/** Who may be asked, and with which key. docs/routing.md. */
import type { Catalog, Credential, MediaOffer, Provider } from "../catalog/index.ts";
import type { MediaRequest } from "../media/index.ts";
import type { Health, ServedModel } from "../routing/index.ts";
import { mediaDialect, type MediaDialect, type Pools } from "../upstream/index.ts";

/** A provider that may be asked for a model. */
export interface Candidate {
  readonly provider: Provider;
  /** The id of its model, where a call may go to several. */
  readonly model?: string;
  readonly offer: ServedModel;
}

/** A provider that may be asked for images or videos, and how. */
export interface MediaCandidate extends Candidate {
  readonly offer: MediaOffer;
  readonly dialect: MediaDialect;
}

/** Who is asked, and with which key. */
export interface Target extends MediaCandidate {
  readonly credential: Credential;
}

/** The provider of an offer; undefined where the configuration does not have it any more. */
export function mediaCandidate(
  catalog: Catalog,
  offer: MediaOffer,
  kind: MediaRequest["kind"],
): MediaCandidate | undefined {
  const provider = catalog.providers.get(offer.provider);
  const dialect = provider && mediaDialect(provider.dialect, kind);
  return provider && dialect && { provider, dialect, offer };
}

/** The connections to a provider of images or videos. */
export function mediaPool(pools: Pools, { baseUrl, timeouts }: Provider) {
  return pools.forMedia(new URL(baseUrl).origin, timeouts.connectMs);
}

/**
 * After a refused key: whether the provider has another one that works now. Health leaves the refused key alone by then;
 * `tries` is how often this provider has been asked.
 */
export const hasAnotherKey = (
  health: Health,
  { offer, provider }: Candidate,
  tries: number,
): boolean => tries < provider.credentials.length && health.hasCredential(offer, provider);
