/** Names as connections resolve them that must not leave the public internet. */
import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { isPublicAddress } from "../../base/safe-url.ts";
import { ExchangeError } from "../exchange-error.ts";

const insideMessage = "the provider's host points at a private or reserved network";

/** Resolves as the system does, and fails where any address is not public: for connections to what was not named by a file. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, "", 0);
    const [first] = addresses;
    if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
      return callback(new ExchangeError("connect", insideMessage), "", 0);
    if (options.all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};
