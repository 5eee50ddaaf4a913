/**
 * The connection pools, one per (origin, route, connect deadline), which live as long as the process and survive a catalogue reload. There
 * are two clients. Text calls, which are many and short, use our own (http1/): it does only what one POST with a text body needs. Media
 * uses undici: streamed uploads, other methods, answers as streams. Neither limits the connections of an origin: each open stream holds
 * one, and a queue here would look like a hanging upstream (T85). The process's limit of open files bounds them all (room.ts).
 */
import { silentLog, type Log } from "../base/log.ts";
import { getOrCreate } from "../base/memoize.ts";
import type { Proxies } from "../base/proxy.ts";
import type { Provider } from "../catalog/index.ts";
import { directRoute, DialRoutes, type DialRoute } from "./dial/dial-route.ts";
import { HttpPool } from "./http1/pool.ts";
import { keepOnly } from "./identity/index.ts";
import { quietMsDefault } from "./idle-list.ts";
import { MediaPool } from "./media-pool.ts";
import type { OriginRules } from "./origin-rules.ts";
import { createRooms, type RoomOptions } from "./room.ts";
import { Suspects } from "./surplus.ts";

/** Connections by origin. `connectMs` bounds the handshakes of proxy, TCP and TLS. `provider` may have its own route. */
export interface Pools {
  /** For text calls (`openExchange`) to an origin such as `https://api.example.com`. */
  get(origin: string, connectMs: number, provider?: Provider): HttpPool;
  /** For media (`ask`, `askForStream`). */
  forMedia(origin: string, connectMs: number, provider?: Provider): MediaPool;
  /** The route to an origin, for callers that open their own connections. */
  dialRoute(origin: string, provider?: Provider): DialRoute;
  close(): Promise<void>;
}

interface PoolsOptions extends RoomOptions {
  readonly log?: Log | undefined;
  /** The proxies for providers without their own; none if absent. */
  readonly proxies?: Proxies | undefined;
  /** Milliseconds of silence before a connection is reused. */
  readonly quietMs?: number | undefined;
}

/** Creates an empty set of pools. */
export function createPools({
  log = silentLog,
  quietMs = quietMsDefault,
  proxies,
  ...rooms
}: PoolsOptions = {}): Pools {
  const suspects = new Suspects(log);
  const dialRoutes = new DialRoutes(proxies);
  const roomOf = createRooms(rooms, () => {
    if (text.all().some((pool) => pool.closeOldest())) return true;
    // These close a moment later: only later connections get their room.
    for (const pool of media.all()) pool.closeOldest();
    return false;
  });
  const rulesOf = ({ origin, connectMs, dialRoute }: Key): OriginRules => ({
    origin,
    connectMs,
    dialRoute,
    room: roomOf(origin),
    quietMs,
    isSuspect: () => suspects.has(origin),
    surplus() {
      suspects.add(origin);
      for (const pool of [...text.of(origin), ...media.of(origin)]) pool.closeIdle();
    },
  });
  const text = new PoolMap((key) => new HttpPool(rulesOf(key)));
  const media = new PoolMap((key) => new MediaPool(rulesOf(key)));
  const pools: Pools = {
    get: (origin, connectMs, provider) =>
      text.get({ origin, connectMs, dialRoute: dialRoutes.to(origin, provider) }),
    forMedia: (origin, connectMs, provider) =>
      media.get({ origin, connectMs, dialRoute: dialRoutes.to(origin, provider) }),
    dialRoute: (origin, provider) => dialRoutes.to(origin, provider),
    async close() {
      // Stops renewing the cloud credentials that were fetched over these pools.
      keepOnly(new Set(), pools);
      for (const pool of text.clear()) pool.close();
      await Promise.all(media.clear().map((pool) => pool.destroy()));
    },
  };
  return pools;
}

interface Key {
  readonly origin: string;
  readonly connectMs: number;
  readonly dialRoute: DialRoute;
}

class PoolMap<P> {
  readonly #make: (key: Key) => P;
  readonly #pools = new Map<string, P>();

  constructor(make: (key: Key) => P) {
    this.#make = make;
  }

  get(key: Key): P {
    const { origin, connectMs, dialRoute } = key;
    const name = `${connectMs}${dialRoute === directRoute ? "" : `,${dialRoute.name}`} ${origin}`;
    return getOrCreate(this.#pools, name, () => this.#make(key));
  }

  /** Returns the pools of an origin, for all deadlines and routes. */
  of(origin: string): P[] {
    return [...this.#pools].flatMap(([name, pool]) => (name.endsWith(` ${origin}`) ? [pool] : []));
  }

  all(): P[] {
    return [...this.#pools.values()];
  }

  clear(): P[] {
    const pools = this.all();
    this.#pools.clear();
    return pools;
  }
}
