/**
 * The one guard for addresses that strangers name: every address behind the name must be public, and the connection goes to
 * the addresses that were checked, whatever the name says a moment later. Rows HOOK-07, HOOK-08; trap T77.
 */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { Client } from "undici";
import { inTurns } from "../base/in-turn.ts";
import {
  addressError,
  hostOf,
  isPublicAddress,
  parseSafeUrl,
  privateAddressError,
  type AddressRule,
} from "../base/safe-url.ts";
import { connectorOf, type ResolvedAddress } from "./dial/connector.ts";
import { directly, type Way } from "./dial/way.ts";
import { ExchangeError } from "./exchange-error.ts";
import { undici } from "./undici.ts";

export type { ResolvedAddress } from "./dial/connector.ts";

/** All addresses of a name. Fails as `node:dns` does. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** The rule of an address, and how its name is resolved where that is not the system's way. */
export interface CheckRule extends AddressRule {
  readonly resolve?: Resolve | undefined;
  /** A vendor has named it, and no stranger. */
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
 * @throws GatewayError `invalid_value` naming the field: malformed, unknown, or not public in every address
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
  throw privateAddressError(rule.param);
}

async function addressesOf(host: string, rule: CheckRule): Promise<readonly ResolvedAddress[]> {
  const literal = isIP(host);
  if (literal !== 0) return [{ address: host, family: literal === 4 ? 4 : 6 }];
  try {
    return await (rule.resolve ?? (rule.byVendor === true ? ofVendors : ofStrangers))(host);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOTFOUND" || code === "ENODATA")
      throw addressError(rule.param, "names a host that does not exist");
    return [];
  }
}

const resolveMsMax = 5_000;

const systemLookup: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true })) as ResolvedAddress[];

/**
 * Resolves one name at a time: a name whose servers do not answer blocks one of the two threads that all names of this process
 * have. Whoever waits in vain for their turn is not looked up any more.
 */
export function oneByOne(look: Resolve = systemLookup, resolveMs = resolveMsMax): Resolve {
  const inTurn = inTurns(1);
  return async (hostname) => {
    const late = new Error("the resolver did not answer");
    const { promise: over, reject } = Promise.withResolvers<never>();
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      reject(late);
    }, resolveMs);
    try {
      const looked = inTurn(() => (isOver ? Promise.reject(late) : look(hostname)));
      return await Promise.race([looked, over]);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** The system's resolver, hosts file included. Strangers with dead names take nobody's turn but each other's. */
const ofStrangers = oneByOne();
const ofVendors = oneByOne();

/**
 * A client of one host whose connections go to the checked addresses only. The name stays in `Host` and in the TLS handshake.
 * A proxy on the way is asked for such an address, never for the name: it must not resolve it anew.
 */
export function pinnedClient(
  { url, addresses }: CheckedUrl,
  connectMs: number,
  way: Way = directly,
): Client {
  return new (undici().Client)(url.origin, {
    allowH2: false,
    connect: connectorOf(url.origin, way, connectMs, addresses),
  });
}
