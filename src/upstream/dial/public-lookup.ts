/** Names as connections resolve them that must not leave the public internet. */
import { isIP, type LookupFunction } from "node:net";
import { callbackify } from "node:util";
import { isPublicAddress } from "../../base/safe-url.ts";
import { ExchangeError } from "../exchange-error.ts";
import { createNames, type ResolvedAddress } from "../names.ts";

const insideMessage = "the provider's host points at a private or reserved network";

/** Whoever names a provider in the console is a stranger to the other organizations: each host waits for itself alone. */
const resolve = createNames();

/** Why a host may not be connected to that is an address itself, for which nothing is looked up; undefined where it may. */
export const insideFault = (hostname: string): Error | undefined =>
  isIP(hostname) === 0 || isPublicAddress(hostname)
    ? undefined
    : new ExchangeError("connect", insideMessage);

/** The addresses of a name. @throws where any of them is not public */
async function publicAddresses(hostname: string) {
  const addresses = await resolve(hostname, hostname);
  if (addresses.length === 0 || !addresses.every(({ address }) => isPublicAddress(address)))
    throw new ExchangeError("connect", insideMessage);
  return addresses;
}

/** Answers for any name with the same addresses. */
export const pinned =
  (addresses: readonly ResolvedAddress[]): LookupFunction =>
  (_hostname, options, callback) => {
    if (options.all === true) callback(null, [...addresses]);
    else callback(null, addresses[0]!.address, addresses[0]!.family);
  };

/** Resolves, and fails where any address is not public: for connections to what was not named by a file. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  callbackify(publicAddresses)(hostname, (error, addresses) => {
    if (error) callback(error, "", 0);
    else pinned(addresses)(hostname, options, callback);
  });
};
