/** One connection pool for each (origin, connect deadline). Pools live as long as the process; a reloaded catalogue reuses them. */
import { Pool } from "undici";

/** Connection pools by origin. */
export interface Pools {
  /** The pool for an origin such as `https://api.example.com`. `connectMs` bounds the TCP and TLS handshake. */
  get(origin: string, connectMs: number): Pool;
  close(): Promise<void>;
}

const keepAliveMs = 30_000;

/** Makes an empty set of pools. */
export function createPools(): Pools {
  const pools = new Map<string, Pool>();
  return {
    get(origin, connectMs) {
      const name = `${connectMs} ${origin}`;
      let pool = pools.get(name);
      if (!pool) {
        // No limit on connections: each open stream holds one, and a queue here would look like a hanging upstream (T85).
        pool = new Pool(origin, {
          connections: null,
          pipelining: 1,
          keepAliveTimeout: keepAliveMs,
          connect: { timeout: connectMs, noDelay: true },
        });
        pools.set(name, pool);
      }
      return pool;
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
      pools.clear();
    },
  };
}
