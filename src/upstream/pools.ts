/**
 * The connections to each (origin, connect deadline), for as long as the process lives; a reloaded catalogue uses them on.
 * There are two clients. Text calls, of which there are many and short ones, go over our own (http1/), which does for one POST
 * with a text body only what that needs. Media goes over undici: streamed uploads, other methods, answers as streams.
 * Neither limits the connections of an origin: each open stream holds one, and a queue here would look like a hanging
 * upstream (T85). All of them together are bounded by how many files the process may have open (room.ts).
 */
import { silentLog, type Log } from "../base/log.ts";
import { HttpPool } from "./http1/pool.ts";
import { quietMsDefault } from "./idle-list.ts";
import { MediaPool } from "./media-pool.ts";
import type { OriginRules } from "./origin-rules.ts";
import { createRooms, type RoomOptions } from "./room.ts";
import { Suspects } from "./surplus.ts";

/** Connections by origin. `connectMs` bounds the TCP and TLS handshake; `guarded` ones go to public addresses only. */
export interface Pools {
  /** For text calls (`openExchange`) to an origin such as `https://api.example.com`. */
  get(origin: string, connectMs: number, guarded?: boolean): HttpPool;
  /** For media (`ask`, `askForStream`). */
  forMedia(origin: string, connectMs: number, guarded?: boolean): MediaPool;
  close(): Promise<void>;
}

interface PoolsOptions extends RoomOptions {
  readonly log?: Log | undefined;
  /** How long a connection must have been silent before it is used again, milliseconds. */
  readonly quietMs?: number | undefined;
}

/** Makes an empty set of pools. */
export function createPools({
  log = silentLog,
  quietMs = quietMsDefault,
  ...rooms
}: PoolsOptions = {}): Pools {
  const suspects = new Suspects(log);
  const roomOf = createRooms(rooms, () => {
    if (text.all().some((pool) => pool.closeOldest())) return true;
    // These close a moment later: there is room for whoever comes then.
    for (const pool of media.all()) pool.closeOldest();
    return false;
  });
  const rulesOf = (origin: string, connectMs: number, guarded: boolean): OriginRules => ({
    origin,
    guarded,
    connectMs,
    room: roomOf(origin),
    quietMs,
    isSuspect: () => suspects.has(origin),
    surplus() {
      suspects.add(origin);
      for (const pool of [...text.of(origin), ...media.of(origin)]) pool.closeIdle();
    },
  });
  const text = new PoolMap((...of) => new HttpPool(rulesOf(...of)));
  const media = new PoolMap((...of) => new MediaPool(rulesOf(...of)));
  return {
    get: (origin, connectMs, guarded = false) => text.get(origin, connectMs, guarded),
    forMedia: (origin, connectMs, guarded = false) => media.get(origin, connectMs, guarded),
    async close() {
      for (const pool of text.clear()) pool.close();
      await Promise.all(media.clear().map((pool) => pool.destroy()));
    },
  };
}

type MakePool<P> = (origin: string, connectMs: number, guarded: boolean) => P;

class PoolMap<P> {
  readonly #make: MakePool<P>;
  readonly #pools = new Map<string, P>();

  constructor(make: MakePool<P>) {
    this.#make = make;
  }

  get(origin: string, connectMs: number, guarded: boolean): P {
    const name = `${guarded ? "public " : ""}${connectMs} ${origin}`;
    let pool = this.#pools.get(name);
    if (pool === undefined) {
      pool = this.#make(origin, connectMs, guarded);
      this.#pools.set(name, pool);
    }
    return pool;
  }

  /** Those of an origin, whatever their deadline. */
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
