/** Name lookups for connections that must stay on the public internet. */
import { isIP, type LookupFunction } from "node:net";
import { callbackify } from "node:util";
import { isPublicAddress } from "../../base/safe-url.ts";
import { ExchangeError } from "../exchange-error.ts";
import { createNames, type ResolvedAddress } from "../names.ts";

const insideMessage = "the provider's host points at a private or reserved network";

/** Providers in the console come from organizations that do not trust each other. So lookups are limited per host, which is their owner. */
const resolve = createNames();

/** The error for a host that is a private address, which needs no lookup; undefined if it is allowed. */
export const insideFault = (hostname: string): Error | undefined =>
  isIP(hostname) === 0 || isPublicAddress(hostname)
    ? undefined
    : new ExchangeError("connect", insideMessage);

/** Returns the addresses of a name. @throws ExchangeError if any of them is not public */
async function publicAddresses(hostname: string) {
  const addresses = await resolve(hostname, hostname);
  if (addresses.length === 0 || !addresses.every(({ address }) => isPublicAddress(address)))
    throw new ExchangeError("connect", insideMessage);
  return addresses;
}

/** Returns a lookup that answers any name with the same addresses. */
export const pinned =
  (addresses: readonly ResolvedAddress[]): LookupFunction =>
  (_hostname, options, callback) => {
    if (options.all === true) callback(null, [...addresses]);
    else callback(null, addresses[0]!.address, addresses[0]!.family);
  };

/** Resolves a name, and fails if any address is not public: for hosts that no file of the operator names. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  callbackify(publicAddresses)(hostname, (error, addresses) => {
    if (error) callback(error, "", 0);
    else pinned(addresses)(hostname, options, callback);
  });
};
