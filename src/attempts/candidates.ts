/** Who may be asked, and with which credential. docs/routing.md. */
import type { Catalog, Credential, MediaOffer, Provider } from "../catalog/index.ts";
import type { MediaRequest } from "../media/index.ts";
import type { Health, ServedModel } from "../routing/index.ts";
import { mediaDialect, type MediaDialect, type Pools } from "../upstream/index.ts";
import type { Failure } from "./failure.ts";

/** How a provider has been asked so far, for one call. */
export interface Tries {
  readonly count: number;
  /** The ids of the credentials it was asked with; absent where each is asked once, whatever it says. */
  readonly asked?: ReadonlySet<string>;
}

/** A provider that may be asked for a model. */
export interface Candidate {
  readonly provider: Provider;
  /** The id of its model, where a call may go to several. */
  readonly model?: string;
  readonly offer: ServedModel;
  /** Its context is shorter than that of another offer of the model that the call asks for. */
  readonly isShorter?: boolean;
  /** One with a longer context is left out for its health. */
  readonly isLongerOut?: boolean;
  /** What the calls of a session share: an account has its prompt cache and its reasoning, so they use one credential. */
  readonly session?: string | undefined;
}

/** A provider that may be asked for images or videos, and how. */
export interface MediaCandidate extends Candidate {
  readonly offer: MediaOffer;
  readonly dialect: MediaDialect;
}

/** A provider that is asked for images or videos, and the credential it is asked with. */
export interface KeyedCandidate extends MediaCandidate {
  readonly credential: Credential;
}

/** The provider of an offer; undefined where the configuration does not have it any more. */
export function mediaCandidate(
  catalog: Pick<Catalog, "providers">,
  offer: MediaOffer,
  kind: MediaRequest["kind"],
): MediaCandidate | undefined {
  const provider = catalog.providers.get(offer.provider);
  const dialect = provider && mediaDialect(provider.dialect, kind);
  return provider && dialect && { provider, dialect, offer };
}

/** The connections to a provider of images or videos. */
export function mediaPool(pools: Pools, provider: Provider) {
  const { baseUrl, timeouts } = provider;
  return pools.forMedia(new URL(baseUrl).origin, timeouts.connectMs, provider);
}

/** The address whose files may be fetched wherever it is: that of a provider whom the operator's own file names. */
export const trustedUrl = ({ baseUrl, guarded }: Provider): string | undefined =>
  guarded === true ? undefined : baseUrl;

/**
 * What follows an attempt that failed, once health knows of it: the same provider with another credential where its credential was refused
 * and another one works now, or where another account may have what this one has not; the next candidate, or nothing.
 */
export function nextAfter(
  { mayGoOn, health: outcome }: Pick<Failure, "mayGoOn" | "health">,
  health: Health,
  { offer, provider }: Candidate,
  { count, asked }: Tries,
): "other_credential" | "next_candidate" | "end" {
  if (mayGoOn !== true) return "end";
  const isOfAccount = outcome?.ofAccount === true;
  const isOfCredential = outcome?.credential !== undefined || isOfAccount;
  const excepted = isOfAccount ? asked : undefined;
  const hasAnother =
    count < provider.credentials.length && health.hasCredential(offer, provider, excepted);
  return isOfCredential && hasAnother ? "other_credential" : "next_candidate";
}
