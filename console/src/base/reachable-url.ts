/** URLs of the gateway that callers can use. Pure. */

/** Wildcard hosts: a gateway listens there, but callers cannot call them. */
const everyAddress: ReadonlySet<string> = new Set(["0.0.0.0", "[::]"]);

/**
 * Returns a URL that the gateway reported; with a wildcard host, replaces its origin by `origin`, at which the browser reached the
 * gateway.
 */
export function reachableUrl(url: string, origin: string): string {
  const own = new URL(url);
  return everyAddress.has(own.hostname) ? origin + url.slice(own.origin.length) : url;
}
