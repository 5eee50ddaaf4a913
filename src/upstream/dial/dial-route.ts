/** The route to a provider's server: directly or through a proxy, and the TLS settings that check its certificate. */
import { createHash } from "node:crypto";
import { getOrCreate, memoizeByObject } from "../../base/memoize.ts";
import { noProxies, type Proxies, type Proxy } from "../../base/proxy.ts";
import type { Access, Provider, ProviderTls } from "../../catalog/index.ts";

/** The route of connections to an origin. */
export interface DialRoute {
  /** The same for equal routes; contains no secrets. */
  readonly name: string;
  readonly proxy?: Proxy | undefined;
  /** Connections go to public addresses only. There is no proxy then, because a proxy would resolve the name itself. */
  readonly guarded?: boolean | undefined;
  readonly tls?: ProviderTls | undefined;
  /** Plain HTTP is tunnelled through the proxy too: the library that writes the requests does not know of it. */
  readonly tunnels?: boolean | undefined;
  /** The server is not a provider's, such as a bucket: no provider setting affects the route. */
  readonly isOther?: boolean | undefined;
}

/** Returns the route to an origin: `Pools`. */
export interface DialRouteResolver {
  dialRoute(origin: string, provider?: Provider): DialRoute;
}

/** Directly, with the system's authorities. */
export const directRoute: DialRoute = { name: "" };

/** Only to the public internet: for providers outside the operator's file, whose own proxy and file settings are ignored. */
const guardedRoute: DialRoute = { name: "guarded", guarded: true };

function dialRouteOf(parts: Omit<DialRoute, "name">): DialRoute {
  if (!parts.proxy && !parts.tls) return directRoute;
  const hash = createHash("sha256").update(JSON.stringify([parts.proxy, parts.tls]));
  return { ...parts, name: hash.digest("base64url") };
}

/** Returns the route to one of a provider's servers: its own proxy, or the environment's. */
function dialRouteTo(
  origin: string,
  access: Pick<Access, "proxy" | "tls"> | undefined,
  proxies: Proxies,
): DialRoute {
  const proxy = access?.proxy ?? proxies.to(new URL(origin));
  return dialRouteOf({ proxy: proxy === "none" ? undefined : proxy, tls: access?.tls });
}

/** The routes of one set of proxies, each computed once per provider and origin. */
export class DialRoutes {
  readonly #proxies: Proxies;
  /** Routes by provider and origin. */
  readonly #routesOf = memoizeByObject((_provider: Provider) => new Map<string, DialRoute>());

  constructor(proxies: Proxies = noProxies) {
    this.#proxies = proxies;
  }

  /** Returns the route to an origin of a provider, or of no particular provider. */
  to(origin: string, provider?: Provider): DialRoute {
    if (provider === undefined) return dialRouteTo(origin, undefined, this.#proxies);
    return getOrCreate(this.#routesOf(provider), origin, () =>
      provider.guarded ? guardedRoute : dialRouteTo(origin, provider.access, this.#proxies),
    );
  }
}
