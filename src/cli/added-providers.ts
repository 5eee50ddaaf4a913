/**
 * The part of a running gateway's catalogue that the management API adds: providers, and pauses of any provider. It is read at the
 * start, and again with every change on any gateway. docs/models.md "Side by side".
 */
import { openProvider } from "../admin/index.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { parseSafeUrl } from "../base/safe-url.ts";
import { buildAdded, shippedList, type BuiltProvider } from "../catalog/index.ts";
import {
  catalogList,
  onCatalogList,
  providerPauses,
  purgeProviders,
  storedProviders,
  type Database,
  type Queryable,
  type StoredProvider,
} from "../storage/index.ts";
import { subscribeChanges, type Secrets } from "../tenancy/index.ts";
import { queuedReads } from "./queued-reads.ts";

export interface Added {
  readonly providers: readonly BuiltProvider[];
  /** End of each provider's pause, in Unix milliseconds. */
  readonly paused: ReadonlyMap<string, number>;
}

export interface AddedProviders {
  /** Returns the same object until something in it changes. */
  current(): Added;
  /** Reads the rows once; for commands. */
  load(database: Queryable, secrets: Secrets): Promise<void>;
  /** Reads the rows now and whenever they change. */
  follow(database: Database, secrets: Secrets): Promise<void>;
  close(): void;
}

interface AddedOptions {
  readonly log: Log;
  readonly clock: Clock;
  readonly allowPrivate: boolean;
  /** Called after each read: something may have changed. */
  readonly onChange?: (() => void) | undefined;
}

/** A provider built from its row. A change of the row or of the list of models rebuilds it. */
interface Known {
  readonly version: string;
  readonly list: string | undefined;
  readonly built: readonly BuiltProvider[];
}

const timerMsMax = 2 ** 31 - 1;

const stays = "the added providers could not be read; the old ones stay in force until they can be";

/** Opens the added providers. Nothing is read before `load` or `follow`. */
export function openAddedProviders(options: AddedOptions): AddedProviders {
  const { log, clock } = options;
  let known = new Map<string, Known>();
  let until: ReadonlyMap<string, number> = new Map();
  let current: Added = { providers: [], paused: new Map() };
  let timer: NodeJS.Timeout | undefined;
  const ends: (() => void)[] = [];

  /** Publishes the providers and the current pauses, and again when the next pause ends. */
  const publish = (providers: readonly BuiltProvider[]): void => {
    clearTimeout(timer);
    const nowMs = clock.now();
    const paused = new Map([...until].filter(([, ms]) => ms > nowMs));
    current = { providers, paused };
    if (paused.size === 0) return;
    const nextMs = Math.min(...paused.values()) - nowMs;
    timer = setTimeout(() => publish(providers), Math.min(nextMs + 1, timerMsMax)).unref();
  };

  const load = async (database: Queryable, secrets: Secrets): Promise<void> => {
    const rows = await storedProviders(database);
    const list = rows.length === 0 ? undefined : await catalogList(database);
    const pauses = await providerPauses(database, new Date(clock.now()));
    const next = new Map(
      rows.map((row) => {
        const before = known.get(row.id);
        const same = before?.version === versionOf(row) && before.list === list;
        return [row.id, same ? before : knownOf(row, { ...options, secrets, list })];
      }),
    );
    known = next;
    until = new Map([...pauses].map(([id, date]) => [id, date.getTime()]));
    publish([...next.values()].flatMap(({ built }) => built));
    options.onChange?.();
  };

  return {
    current: () => current,
    load,
    async follow(database, secrets) {
      const { first, again, close } = queuedReads(() => load(database, secrets), log, stays);
      ends.push(
        subscribeChanges(database, "providers", again),
        // Also after signals that may have been missed.
        onCatalogList(database, again),
        close,
      );
      await purgeProviders(database);
      await first();
    },
    close() {
      clearTimeout(timer);
      for (const end of ends) end();
    },
  };
}

const versionOf = ({ version, createdAt, removed }: StoredProvider): string =>
  `${createdAt.getTime()} ${version} ${removed}`;

interface Building extends AddedOptions {
  readonly secrets: Secrets;
  readonly list: string | undefined;
}

/** Builds one row. A row that cannot be used is left out; the other rows are not affected. */
function knownOf(row: StoredProvider, building: Building): Known {
  const { log, list } = building;
  const version = versionOf(row);
  try {
    return { version, list, built: builtOf(row, building) };
  } catch (error) {
    log.error({ err: error, provider: row.id }, "an added provider cannot be used and is left out");
    return { version, list, built: [] };
  }
}

function builtOf(row: StoredProvider, { secrets, list, allowPrivate }: Building): BuiltProvider[] {
  const added = openProvider(secrets, row);
  const build = { list: () => list ?? shippedList(), allowPrivate };
  const built = buildAdded(added, build);
  parseSafeUrl(built.provider.baseUrl, { https: false, allowPrivate, param: "base_url" });
  const all: BuiltProvider[] = [{ ...built, retired: row.removed }];
  if (!row.credentials.some(({ removed }) => removed)) return all;
  // Tasks that were submitted with a key removed since then are still polled with that key.
  const { credentials } = openProvider(secrets, row, { removed: true });
  const kept = row.removed ? [...built.provider.credentials, ...credentials] : credentials;
  const retired = { provider: { ...built.provider, credentials: kept }, models: [], listed: false };
  return [...all, { ...retired, retired: true }];
}
