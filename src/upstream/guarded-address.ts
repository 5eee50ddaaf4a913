/**
 * The one guard for untrusted addresses. Every address of the name must be public. The connection goes to the checked addresses, even if
 * the name resolves to others a moment later. Rows HOOK-07, HOOK-08; trap T77.
 */
import { isIP } from "node:net";
import type { Client } from "undici";
import {
  addressError,
  hostOf,
  isPublicAddress,
  parseSafeUrl,
  privateAddressError,
  type AddressRule,
} from "../base/safe-url.ts";
import { connectorOf } from "./dial/connector.ts";
import { directRoute, type DialRoute } from "./dial/dial-route.ts";
import { ExchangeError } from "./exchange-error.ts";
import { createNames, type Resolve, type ResolvedAddress } from "./names.ts";
import { undici } from "./undici.ts";

export type { Resolve, ResolvedAddress } from "./names.ts";

/** The rule of an address, and its resolver, if that is not the default. */
export interface CheckRule extends AddressRule {
  readonly resolve?: Resolve | undefined;
  /** The workspace that gave the address; its concurrent lookups are bounded. */
  readonly owner?: string | undefined;
  /** True if a vendor gave the address, not a stranger; `owner` is its provider. */
  readonly byVendor?: boolean | undefined;
}

export interface CheckedUrl {
  /** The checked URL; use its `href`, not the original text. */
  readonly url: URL;
  /** The allowed addresses; empty if the resolver did not answer. */
  readonly addresses: readonly ResolvedAddress[];
}

/**
 * Checks an address when a caller gives it. If the resolver does not answer, that is not the caller's fault. The URL then passes without
 * addresses, and is checked again before use. With `allowPrivate` nothing is resolved.
 * @throws GatewayError of the rule's code, naming the field: malformed, unknown, or not public in every address
 */
export async function checkAddress(text: string, rule: CheckRule): Promise<CheckedUrl> {
  const url = parseSafeUrl(text, rule);
  if (rule.allowPrivate) return { url, addresses: [] };
  return { url, addresses: await publicAddresses(url, rule) };
}

/** Checks several addresses at once: a slow name delays none of the others. @throws as {@link checkAddress}, for the first that is refused */
export async function checkAllAddresses(
  all: readonly (CheckRule & { readonly url: string })[],
): Promise<void> {
  const checks = await Promise.allSettled(all.map(({ url, ...rule }) => checkAddress(url, rule)));
  const refused = checks.find(({ status }) => status === "rejected");
  if (refused?.status === "rejected") throw refused.reason;
}

/**
 * Checks an address immediately before a connection.
 * @throws GatewayError as {@link checkAddress}; ExchangeError `connect` if the name cannot be resolved now
 */
export async function resolveToConnect(text: string, rule: CheckRule): Promise<CheckedUrl> {
  const url = parseSafeUrl(text, rule);
  const addresses = await publicAddresses(url, rule);
  if (addresses.length === 0)
    throw new ExchangeError("connect", `the name ${hostOf(url)} cannot be resolved now`);
  return { url, addresses };
}

async function publicAddresses(url: URL, rule: CheckRule): Promise<readonly ResolvedAddress[]> {
  const host = hostOf(url);
  const addresses = await addressesOf(host, rule);
  if (rule.allowPrivate || addresses.every(({ address }) => isPublicAddress(address)))
    return addresses;
  throw privateAddressError(rule);
}

async function addressesOf(host: string, rule: CheckRule): Promise<readonly ResolvedAddress[]> {
  const literal = isIP(host);
  if (literal !== 0) return [{ address: host, family: literal === 4 ? 4 : 6 }];
  try {
    return await (rule.resolve ?? namesOf(rule))(host, rule.owner);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOTFOUND" || code === "ENODATA")
      throw addressError(rule, "names a host that does not exist");
    return [];
  }
}

/** Separate resolvers: dead names of strangers do not delay other lookups. */
const ofStrangers = createNames();
const ofNeighbours = createNames({ bySystemToo: true });
const ofVendors = createNames({ bySystemToo: true });

function namesOf({ byVendor, allowPrivate }: CheckRule): Resolve {
  if (byVendor === true) return ofVendors;
  // If private networks are allowed, so are their local names.
  return allowPrivate ? ofNeighbours : ofStrangers;
}

/**
 * Returns a client for one host that connects only to the checked addresses. `Host` and the TLS handshake use the name. A proxy is given a
 * checked address, never the name: it must not resolve the name again.
 */
export function pinnedClient(
  { url, addresses }: CheckedUrl,
  connectMs: number,
  dialRoute: DialRoute = directRoute,
  maySend: () => boolean = () => true,
): Client {
  const connect = connectorOf(url.origin, dialRoute, connectMs, addresses);
  return new (undici().Client)(url.origin, {
    allowH2: false,
    connect: (options, callback) =>
      connect(options, (...[error, socket]) => {
        if (error !== null) return callback(error, null);
        // The waiting request is written in this turn of the event loop, so this is the last possible check.
        if (maySend()) return callback(null, socket);
        socket.destroy();
        callback(new Error("it may not be sent any more"), null);
      }),
  });
}
