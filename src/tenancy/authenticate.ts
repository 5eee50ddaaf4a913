/**
 * Finds the caller of an API key. AUTH-02 to AUTH-05, KEY-08 to KEY-12.
 * Usable callers are cached. Every change of a key, workspace or organization drops them on every node (T73). The ledger decides last
 * on revoked keys: it reads the key again in the transaction that reserves the money.
 */
import type { Clock } from "../base/clock.ts";
import { GatewayError } from "../base/errors.ts";
import { keyError } from "../base/key-errors.ts";
import type { Log } from "../base/log.ts";
import { readOnce, type Database } from "../storage/index.ts";
import { createCallerCache } from "./caller-cache.ts";
import type { Caller, KeyValue, LoadedKey } from "./caller.ts";
import { loadKey } from "./caller.ts";
import { subscribeChanges } from "./changes.ts";
import { createSlots, unknownKey, type Slot } from "./key-slots.ts";
import { createLastUsed } from "./last-used.ts";
import type { Secrets } from "./secrets.ts";

export interface AuthenticatorOptions {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
  /** The most callers in the cache; 10,000 if absent. */
  readonly cacheSizeMax?: number | undefined;
}

export interface Authenticator {
  /**
   * The caller of a key or of a temporary value. `fresh` bypasses the cache and reads the database.
   * @throws GatewayError 401 `invalid_api_key`, `api_key_revoked`, `api_key_disabled`, `api_key_expired`; 403 `workspace_disabled`;
   * 503 `database_unavailable`
   */
  authenticate(key: string, options?: { readonly fresh?: boolean }): Promise<Caller>;
  /** The cached caller of a key, without waiting. Undefined if the database must be asked. @throws GatewayError */
  known(key: string): Caller | undefined;
  /** Writes the last `last_used_at` values and stops listening. The database stays open. */
  close(): Promise<void>;
}

function refuseUnusable(loaded: LoadedKey): void {
  if (loaded.status !== "active") throw keyError(`key_${loaded.status}`);
  if (loaded.workspaceStatus === "disabled") throw keyError("workspace_disabled");
}

async function loadUsable(database: Database, value: KeyValue, nowMs: number): Promise<LoadedKey> {
  const loaded = await readOnce(
    "API keys cannot be checked now: the database does not answer.",
    () => loadKey(database, value, nowMs),
  );
  if (loaded === undefined) throw unknownKey();
  refuseUnusable(loaded);
  return loaded;
}

function refuseExpired(caller: Caller, nowMs: number): void {
  if (caller.expiresAt === null || caller.expiresAt.getTime() > nowMs) return;
  throw new GatewayError("api_key_expired", endedAt(caller, caller.expiresAt.toISOString()));
}

/** A key whose value ended may be active: only the value must be replaced. */
function endedAt({ endOf }: Caller, time: string): string {
  switch (endOf) {
    case "replaced":
      return `The API key was rotated; this earlier value of it ended at ${time}. Use its current value.`;
    case "temporary":
      return `This temporary value of an API key expired at ${time}. Make a new one.`;
    case undefined:
      return `The API key expired at ${time}.`;
  }
}

const callersMax = 10_000;

/**
 * Calls `forget` with a predicate that matches the callers affected by a change of a key, workspace or organization. After the signal
 * connection was lost, it matches all. Returns the functions that unsubscribe.
 */
function forgetChanged(
  database: Database,
  forget: (test: (caller: Caller) => boolean) => void,
): readonly (() => void)[] {
  return [
    subscribeChanges(database, "keys", (id) => forget((caller) => caller.keyId === id)),
    subscribeChanges(database, "workspaces", (id) => forget((caller) => caller.workspaceId === id)),
    subscribeChanges(database, "organizations", (id) =>
      forget((caller) => caller.organizationId === id),
    ),
    database.signals.onReconnect(() => forget(() => true)),
  ];
}

/** Creates an authenticator on a database. It subscribes to changes at once; `close` unsubscribes. */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { database, secrets, clock } = options;
  const cache = createCallerCache(options.cacheSizeMax ?? callersMax);
  const lastUsed = createLastUsed(database, options.log);
  /** Loads in flight that other requests for the same key may share. A change clears them, because their results may be stale. */
  const shared = new Map<string, Promise<Caller>>();
  const slotOf = createSlots(secrets, options.cacheSizeMax ?? callersMax);

  const endings = forgetChanged(database, (test) => {
    shared.clear();
    cache.forgetWhere(test);
  });

  async function load({ value, slot }: Slot): Promise<Caller> {
    const loading = cache.begin(slot);
    try {
      const loaded = await loadUsable(database, value, clock.now());
      // While signals are lost, the cache is not read; on reconnect it is emptied.
      cache.put(loading, loaded.caller, clock.now());
      return loaded.caller;
    } catch (error) {
      cache.forgetSlot(slot);
      throw error;
    } finally {
      cache.end(loading);
    }
  }

  function loadShared(found: Slot): Promise<Caller> {
    const underWay = shared.get(found.slot);
    if (underWay !== undefined) return underWay;
    const started = load(found).finally(() => {
      if (shared.get(found.slot) === started) shared.delete(found.slot);
    });
    shared.set(found.slot, started);
    return started;
  }

  function admit(caller: Caller, nowMs: number): Caller {
    refuseExpired(caller, nowMs);
    lastUsed.touch(caller.workspaceId, caller.keyId, nowMs);
    return caller;
  }

  function known(key: string): Caller | undefined {
    const { slot } = slotOf(key);
    const nowMs = clock.now();
    const cached = database.signals.healthy() ? cache.get(slot, nowMs) : undefined;
    return cached && admit(cached, nowMs);
  }

  return {
    known,
    async authenticate(key, { fresh = false } = {}) {
      const cached = fresh ? undefined : known(key);
      if (cached) return cached;
      const found = slotOf(key);
      const nowMs = clock.now();
      const shareable = !fresh && database.signals.healthy();
      const caller = await (shareable ? loadShared(found) : load(found));
      return admit(caller, nowMs);
    },
    async close() {
      for (const end of endings) end();
      await lastUsed.flush();
    },
  };
}
