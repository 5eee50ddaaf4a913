/**
 * The one guard for addresses that strangers name: every address behind the name must be public, and the connection goes to
 * the addresses that were checked, whatever the name says a moment later. Rows HOOK-07, HOOK-08; trap T77.
 */
import { lookup as lookupInSystem } from "node:dns";
import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import type { Client } from "undici";
import {
  addressError,
  hostOf,
  isPublicAddress,
  parseSafeUrl,
  privateAddressError,
  type AddressRule,
} from "../base/safe-url.ts";
import { ExchangeError } from "./exchange-error.ts";
import { undici } from "./undici.ts";

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** All addresses of a name. Fails as `node:dns` does. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** The rule of an address, and how its name is resolved where that is not the system's way. */
export interface CheckRule extends AddressRule {
  readonly resolve?: Resolve | undefined;
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
    return await (rule.resolve ?? systemResolve)(host);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOTFOUND" || code === "ENODATA")
      throw addressError(rule.param, "names a host that does not exist");
    return [];
  }
}

const resolveMs = 5_000;
/** The system's resolver blocks one of four threads that files and all other names need too. */
const resolvingMax = 2;
let resolving = 0;
const waiting: (() => void)[] = [];

/** The system's resolver, hosts file included, at most two at a time. */
async function systemResolve(hostname: string): Promise<readonly ResolvedAddress[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error("the resolver did not answer")), resolveMs);
  });
  try {
    return await Promise.race([lookupInTurn(hostname), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function lookupInTurn(hostname: string): Promise<readonly ResolvedAddress[]> {
  if (resolving < resolvingMax) resolving += 1;
  // Whoever ends hands its place on.
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return (await lookup(hostname, { all: true })) as ResolvedAddress[];
  } finally {
    const next = waiting.shift();
    if (next) next();
    else resolving -= 1;
  }
}

const insideMessage = "the provider's host points at a private or reserved network";

/** Resolves as the system does, and fails where any address is not public: for connections to what was not named by a file. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookupInSystem(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, "", 0);
    const [first] = addresses;
    if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
      return callback(new ExchangeError("connect", insideMessage), "", 0);
    if (options.all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};

/** A client of one host whose connections go to the checked addresses only. The name stays in `Host` and in the TLS handshake. */
export function pinnedClient({ url, addresses }: CheckedUrl, connectMs: number): Client {
  const pinned: LookupFunction = (_hostname, options, callback) => {
    if (options.all === true) callback(null, [...addresses]);
    else callback(null, addresses[0]!.address, addresses[0]!.family);
  };
  return new (undici().Client)(url.origin, {
    allowH2: false,
    connect: { lookup: pinned, timeout: connectMs },
  });
}
