/** How a provider's server is reached: directly or through a proxy, and what its certificate is checked with. */
import { createHash } from "node:crypto";
import { getOrMake, perObject } from "../../base/made-once.ts";
import { noProxies, type Proxies, type Proxy } from "../../base/proxy.ts";
import type { Access, Provider, ProviderTls } from "../../catalog/index.ts";

/** How connections to an origin are made. */
export interface Way {
  /** The same for the same way; without secrets. */
  readonly name: string;
  readonly proxy?: Proxy | undefined;
  /** Connections go to public addresses only. A proxy would resolve the name itself: there is none then. */
  readonly guarded?: boolean | undefined;
  readonly tls?: ProviderTls | undefined;
  /** Plain HTTP goes through a tunnel of the proxy as well: whoever writes the requests knows of no proxy. */
  readonly tunnels?: boolean | undefined;
  /** To a server that is no provider's, such as a bucket: no setting of a provider says how it is reached. */
  readonly isOther?: boolean | undefined;
}

/** How an origin is reached: `Pools`. */
export interface WaysTo {
  way(origin: string, provider?: Provider): Way;
}

/** Directly, with the authorities of the system. */
export const directly: Way = { name: "" };

/** To the public internet alone: for providers that no file names, whose own word on proxies and files does not count. */
const guardedly: Way = { name: "guarded", guarded: true };

function wayOf(parts: Omit<Way, "name">): Way {
  if (!parts.proxy && !parts.tls) return directly;
  const hash = createHash("sha256").update(JSON.stringify([parts.proxy, parts.tls]));
  return { ...parts, name: hash.digest("base64url") };
}

/** The way to one of a provider's servers: its own proxy, or the environment's. */
function wayTo(
  origin: string,
  access: Pick<Access, "proxy" | "tls"> | undefined,
  proxies: Proxies,
): Way {
  const proxy = access?.proxy ?? proxies.to(new URL(origin));
  return wayOf({ proxy: proxy === "none" ? undefined : proxy, tls: access?.tls });
}

/** The ways of one set of proxies, each worked out once for a provider and an origin. */
export class Ways {
  readonly #proxies: Proxies;
  /** By origin. */
  readonly #waysOf = perObject((_provider: Provider) => new Map<string, Way>());

  constructor(proxies: Proxies = noProxies) {
    this.#proxies = proxies;
  }

  /** The way to an origin of a provider, or of nobody's in particular. */
  to(origin: string, provider?: Provider): Way {
    if (provider === undefined) return wayTo(origin, undefined, this.#proxies);
    return getOrMake(this.#waysOf(provider), origin, () =>
      provider.guarded ? guardedly : wayTo(origin, provider.access, this.#proxies),
    );
  }
}
