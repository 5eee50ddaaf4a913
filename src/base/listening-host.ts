/** The host of an address that a server listens on, for the URL that this machine's programs and browsers reach it by. */

/** Each stands for all addresses of the machine. They are to listen on: browsers refuse to open them. */
const reachedBy: Readonly<Record<string, string>> = {
  "0.0.0.0": "127.0.0.1",
  "0": "127.0.0.1",
  "::": "::1",
};

/** Whether a server listens there on all addresses of the machine. */
export const isEveryAddress = (host: string): boolean => Object.hasOwn(reachedBy, host);

/** An IPv6 address stands in brackets. */
export function hostInUrl(host: string): string {
  const reached = isEveryAddress(host) ? reachedBy[host]! : host;
  return reached.includes(":") ? `[${reached}]` : reached;
}
