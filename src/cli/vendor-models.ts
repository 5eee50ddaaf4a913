/**
 * The environment's part of the catalogue: the vendors whose variables are set, with the list of models in force, and the local
 * servers. Both can change while the gateway runs. docs/models.md.
 */
import type { Log } from "../base/log.ts";
import {
  environmentCatalog,
  hasVendors,
  localCatalog,
  localProviders,
  mergeCatalogs,
  presetMistakes,
  shippedList,
  type Catalog,
} from "../catalog/index.ts";
import { catalogList, onCatalogList, type Database, type Queryable } from "../storage/index.ts";
import type { Environment } from "./environment.ts";
import { UsageError } from "./usage-error.ts";
import { watchLocalServers, type LocalServers } from "./local-servers.ts";
import { queuedReads } from "./queued-reads.ts";

export interface VendorModels {
  /** Returns the same object until something in it changes. */
  current(): Catalog;
  /** Reads the list of models from the database, once. */
  load(database: Queryable): Promise<void>;
  /** Reads the list now and whenever it changes. */
  follow(database: Database): Promise<void>;
  /** Replaces the variables: keys in files may have changed. Resolves when new local servers were asked. */
  take(variables: Environment["variables"]): Promise<void>;
  close(): void;
}

interface VendorOptions {
  readonly variables: Environment["variables"];
  readonly log: Log;
}

/** True if the environment configures a vendor or a local server. */
export const namesVendors = (variables: Environment["variables"]): boolean =>
  hasVendors(variables) || localServers(variables).length > 0;

function localServers(variables: Environment["variables"]) {
  try {
    return localProviders(variables);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/**
 * Returns the vendors of the environment with the models of the shipped list, and the local servers without models, because they are
 * not asked.
 * @throws UsageError for an invalid address
 */
export function environmentProviders(variables: Environment["variables"]): Catalog {
  const [mistake] = presetMistakes(variables);
  if (mistake !== undefined) throw new UsageError(mistake);
  const local = localServers(variables).map((provider) => ({ provider, models: [] }));
  return mergeCatalogs(environmentCatalog(variables), localCatalog(local));
}

const stays = "the list of models could not be read; the old one stays in force until it can be";

/** @throws UsageError for an invalid address */
export function checkVendorVariables(variables: Environment["variables"]): void {
  const [mistake] = presetMistakes(variables);
  if (mistake !== undefined) throw new UsageError(mistake);
  localServers(variables);
}

const noModels: Catalog = { providers: new Map(), models: new Map() };

/** Polls the local servers that the variables name. */
function localModelsOf(log: Log, changed: () => void) {
  let asked = "[]";
  let catalog = noModels;
  let servers: LocalServers | undefined;
  return {
    current: () => catalog,
    /** Polls the servers named now. The models of the previous ones stay until these have answered. */
    async ask(variables: Environment["variables"]): Promise<void> {
      const providers = localServers(variables);
      if (JSON.stringify(providers) === asked) return;
      asked = JSON.stringify(providers);
      servers?.close();
      servers = watchLocalServers({
        providers,
        log,
        onChange(found) {
          catalog = found;
          changed();
        },
      });
      await servers.asked;
    },
    close: () => servers?.close(),
  };
}

/** Reads the environment's vendors, and asks the local servers once. @throws UsageError for an invalid address */
export async function openVendorModels(options: VendorOptions): Promise<VendorModels> {
  const { log } = options;
  let { variables } = options;
  checkVendorVariables(variables);
  let list: string | undefined;
  let vendors = environmentCatalog(variables);
  let current = vendors;
  const join = (): void => {
    const own = local.current();
    current = own.providers.size === 0 ? vendors : mergeCatalogs(vendors, own);
  };
  const local = localModelsOf(log, () => join());
  await local.ask(variables);
  let loadAgain: (() => Promise<void>) | undefined;
  const ends: (() => void)[] = [];
  const load = async (database: Queryable): Promise<void> => {
    if (!hasVendors(variables)) return;
    const now = await catalogList(database);
    if (now === list) return;
    vendors = environmentCatalog(variables, () => now ?? shippedList());
    list = now;
    join();
    log.info({ models: vendors.models.size }, "the list of models was taken from the database");
  };
  return {
    current: () => current,
    load,
    async follow(database) {
      const { again, close } = queuedReads(() => load(database), log, stays);
      ends.push(onCatalogList(database, again), close);
      loadAgain = again;
      await again();
    },
    async take(next) {
      variables = next;
      vendors = environmentCatalog(variables, () => list ?? shippedList());
      join();
      await local.ask(variables);
      await loadAgain?.();
    },
    close() {
      local.close();
      for (const end of ends) end();
    },
  };
}
