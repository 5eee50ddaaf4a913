/**
 * The connections to each (origin, connect deadline), for as long as the process lives; a reloaded catalogue uses them on.
 * There are two clients. Text calls, of which there are many and short ones, go over our own (http1/), which does for one POST
 * with a text body only what that needs. Media goes over undici: streamed uploads, other methods, answers as streams.
 */
import { Pool } from "undici";
import { HttpPool } from "./http1/pool.ts";

/** Connections by origin. `connectMs` bounds the TCP and TLS handshake. */
export interface Pools {
  /** For text calls (`openExchange`) to an origin such as `https://api.example.com`. */
  get(origin: string, connectMs: number): HttpPool;
  /** For media (`ask`, `askForStream`). */
  forMedia(origin: string, connectMs: number): Pool;
  close(): Promise<void>;
}

const keepAliveMs = 30_000;

/** Makes an empty set of pools. */
export function createPools(): Pools {
  const text = new PoolMap((origin, connectMs) => new HttpPool(origin, connectMs));
  const media = new PoolMap(
    (origin, connectMs) =>
      // No limit on connections: each open stream holds one, and a queue here would look like a hanging upstream (T85).
      new Pool(origin, {
        connections: null,
        pipelining: 1,
        keepAliveTimeout: keepAliveMs,
        connect: { timeout: connectMs, noDelay: true },
      }),
  );
  return {
    get: (origin, connectMs) => text.get(origin, connectMs),
    forMedia: (origin, connectMs) => media.get(origin, connectMs),
    async close() {
      for (const pool of text.clear()) pool.close();
      await Promise.all(media.clear().map((pool) => pool.destroy()));
    },
  };
}

class PoolMap<P> {
  readonly #make: (origin: string, connectMs: number) => P;
  readonly #pools = new Map<string, P>();

  constructor(make: (origin: string, connectMs: number) => P) {
    this.#make = make;
  }

  get(origin: string, connectMs: number): P {
    const name = `${connectMs} ${origin}`;
    let pool = this.#pools.get(name);
    if (pool === undefined) {
      pool = this.#make(origin, connectMs);
      this.#pools.set(name, pool);
    }
    return pool;
  }

  clear(): P[] {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    return pools;
  }
}
