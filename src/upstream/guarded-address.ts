/**
 * The one guard for addresses that strangers name: every address behind the name must be public, and the connection goes to
 * the addresses that were checked, whatever the name says a moment later. Rows HOOK-07, HOOK-08; trap T77.
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
import { directly, type Way } from "./dial/way.ts";
import { ExchangeError } from "./exchange-error.ts";
import { createNames, type Resolve, type ResolvedAddress } from "./names.ts";
import { undici } from "./undici.ts";

export type { Resolve, ResolvedAddress } from "./names.ts";

/** The rule of an address, and how its name is resolved where that is not the system's way. */
export interface CheckRule extends AddressRule {
  readonly resolve?: Resolve | undefined;
  /** The workspace that named it, whose lookups are bounded. */
  readonly owner?: string | undefined;
  /** A vendor has named it, and no stranger; `owner` is its provider. */
  readonly byVendor?: boolean | undefined;
}

export interface CheckedUrl {
  /** What was checked; use its `href`, not the text it was read from. */
  readonly url: URL;
  /** Where it may be connected to; empty where the resolver did not answer. */
  readonly addresses: readonly ResolvedAddress[];
}

/**
 * Checks an address when it is named. A resolver that does not answer is nobody's mistake: the address then passes, without
 * addresses, and is checked when it is used. With `allowPrivate` there is nothing to resolve it for.
 * @throws GatewayError of the rule's code, naming the field: malformed, unknown, or not public in every address
 */
export async function checkAddress(text: string, rule: CheckRule): Promise<CheckedUrl> {
  const url = parseSafeUrl(text, rule);
  if (rule.allowPrivate) return { url, addresses: [] };
  return { url, addresses: await publicAddresses(url, rule) };
}

/**
 * Checks an address in order to connect to it now.
 * @throws GatewayError as {@link checkAddress}; ExchangeError `connect` where the name cannot be resolved now
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

/** Strangers with dead names take nobody's turn but their own. */
const ofStrangers = createNames();
const ofNeighbours = createNames({ bySystemToo: true });
const ofVendors = createNames({ bySystemToo: true });

function namesOf({ byVendor, allowPrivate }: CheckRule): Resolve {
  if (byVendor === true) return ofVendors;
  // Where private networks may be named, so may their own names.
  return allowPrivate ? ofNeighbours : ofStrangers;
}

/**
 * A client of one host whose connections go to the checked addresses only. The name stays in `Host` and in the TLS handshake.
 * A proxy on the way is asked for such an address, never for the name: it must not resolve it anew.
 */
export function pinnedClient(
  { url, addresses }: CheckedUrl,
  connectMs: number,
  way: Way = directly,
  mayLeave: () => boolean = () => true,
): Client {
  const connect = connectorOf(url.origin, way, connectMs, addresses);
  return new (undici().Client)(url.origin, {
    allowH2: false,
    connect: (options, callback) =>
      connect(options, (...[error, socket]) => {
        if (error !== null) return callback(error, null);
        // What waits for the connection is written in this turn of the event loop.
        if (mayLeave()) return callback(null, socket);
        socket.destroy();
        callback(new Error("it may not be sent any more"), null);
      }),
  });
}
