/** The host in the URL by which programs and browsers on this machine reach a server, from the address that it listens on. */

/** Each key means all addresses of the machine. Servers can listen on it, but browsers refuse to open it. */
const reachedBy: Readonly<Record<string, string>> = {
  "0.0.0.0": "127.0.0.1",
  "0": "127.0.0.1",
  "::": "::1",
};

/** True if the host means all addresses of the machine. */
export const isEveryAddress = (host: string): boolean => Object.hasOwn(reachedBy, host);

/** Returns a host in its form for URLs: an IPv6 address in brackets. */
export const inBrackets = (host: string): string => (host.includes(":") ? `[${host}]` : host);

/** Returns the host by which a server is reached. */
export const hostInUrl = (host: string): string =>
  inBrackets(isEveryAddress(host) ? reachedBy[host]! : host);
