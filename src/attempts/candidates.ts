/** Candidates of a call, and the credentials for them. docs/routing.md. */
import type { Catalog, Credential, MediaOffer, Provider } from "../catalog/index.ts";
import type { MediaRequest } from "../media/index.ts";
import type { Health, ServedModel } from "../routing/index.ts";
import { mediaDialect, type MediaDialect, type Pools } from "../upstream/index.ts";
import type { Failure } from "./failure.ts";

/** The most providers of a model that a call asks. */
export const candidatesMax = 4;

/** The attempts at one provider so far, for one call. */
export interface ProviderAttempts {
  readonly count: number;
  /** The ids of the credentials that were used. */
  readonly asked: ReadonlySet<string>;
}

/** A provider that may serve a call. */
export interface Candidate {
  readonly provider: Provider;
  /** The id of its model, if the call may go to several models. */
  readonly model?: string;
  readonly offer: ServedModel;
  /** Its context is shorter than that of another offer of the requested model. */
  readonly isShorter?: boolean;
  /** An offer with a longer context is left out because of its health. */
  readonly isLongerLeftOut?: boolean;
  /** The session of the call. Its calls use one credential, because prompt cache and reasoning belong to the vendor's account. */
  readonly session?: string | undefined;
  /**
   * Leaves earlier reasoning of other vendors and accounts out of the request from now on. Returns false if it has none, or goes without it
   * already. Absent: requests of this kind have none.
   */
  leaveOutProofs?(): boolean;
}

/** A provider that may serve an image or video call, with its dialect. */
export interface MediaCandidate extends Candidate {
  readonly offer: MediaOffer;
  readonly dialect: MediaDialect;
}

/** A candidate for an image or video call, with the credential to use. */
export interface KeyedCandidate extends MediaCandidate {
  readonly credential: Credential;
}

/** Returns the candidate of an offer; undefined if the configuration no longer has the provider. */
export function mediaCandidate(
  catalog: Pick<Catalog, "providers">,
  offer: MediaOffer,
  kind: MediaRequest["kind"],
): MediaCandidate | undefined {
  const provider = catalog.providers.get(offer.provider);
  const dialect = provider && mediaDialect(provider.dialect, kind);
  return provider && dialect && { provider, dialect, offer };
}

/** The connection pool of an image or video provider. */
export function mediaPool(pools: Pools, provider: Provider) {
  const { baseUrl, timeouts } = provider;
  return pools.forMedia(new URL(baseUrl).origin, timeouts.connectMs, provider);
}

/**
 * The base URL that files may be fetched from even at a private address: that of a provider in the operator's own file. Undefined for
 * guarded providers.
 */
export const trustedUrl = ({ baseUrl, guarded }: Provider): string | undefined =>
  guarded === true ? undefined : baseUrl;

/**
 * Decides what follows a failed attempt, after health has recorded it. `other_credential`: the same provider again. Its credential was
 * refused or another account may answer, and another credential works now. `next_candidate`: failover. `end`: no further attempt.
 */
export function nextAfter(
  { allowsFailover, health: outcome }: Pick<Failure, "allowsFailover" | "health">,
  health: Health,
  { offer, provider }: Candidate,
  { count, asked }: ProviderAttempts,
): "other_credential" | "next_candidate" | "end" {
  if (allowsFailover !== true) return "end";
  const isOfAccount = outcome?.otherAccountMayAnswer === true;
  const isOfCredential = outcome?.credential !== undefined || isOfAccount;
  const excepted = isOfAccount ? asked : undefined;
  const hasAnother =
    count < provider.credentials.length && health.hasCredential(offer, provider, excepted);
  return isOfCredential && hasAnother ? "other_credential" : "next_candidate";
}
