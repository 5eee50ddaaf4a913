/** The host of an address that a server listens on, for the URL that this machine's programs and browsers reach it by. */

/** Each stands for all addresses of the machine. They are to listen on: browsers refuse to open them. */
const reachedBy: Readonly<Record<string, string>> = {
  "0.0.0.0": "127.0.0.1",
  "0": "127.0.0.1",
  "::": "::1",
};

/** Whether a server listens there on all addresses of the machine. */
export const isEveryAddress = (host: string): boolean => Object.hasOwn(reachedBy, host);

/** A host as URLs have it: an IPv6 address stands in brackets. */
export const inBrackets = (host: string): string => (host.includes(":") ? `[${host}]` : host);

/** The host that a server is reached by. */
export const hostInUrl = (host: string): string =>
  inBrackets(isEveryAddress(host) ? reachedBy[host]! : host);
