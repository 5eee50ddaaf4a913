/** Addresses of the gateway as callers can use them. Pure. */

/** Hosts that stand for every address of a machine: a gateway listens there, and nobody can call it there. */
const everyAddress: ReadonlySet<string> = new Set(["0.0.0.0", "[::]"]);

/** An address that the gateway gives of itself; where it knows only that it listens everywhere, at the `origin` that it was reached by. */
export function asReached(url: string, origin: string): string {
  const own = new URL(url);
  return everyAddress.has(own.hostname) ? origin + url.slice(own.origin.length) : url;
}
