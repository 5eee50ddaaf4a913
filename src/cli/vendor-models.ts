/**
 * What the environment adds to the catalogue: the vendors whose variables are set, with the list of models in force, and
 * the local servers. Both change under a running gateway. docs/models.md.
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
import { UsageError, type Environment } from "./environment.ts";
import { watchLocalServers } from "./local-servers.ts";

export interface VendorModels {
  /** The same object until something of it changes. */
  current(): Catalog;
  /** Takes the list of models from the database, once. */
  load(database: Queryable): Promise<void>;
  /** Takes it now and whenever it changes. */
  follow(database: Database): Promise<void>;
  close(): void;
}

interface VendorOptions {
  readonly variables: Environment["variables"];
  readonly log: Log;
}

/** Whether the environment names anybody to call. */
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
 * Whom the environment names, with the models of the shipped list; local servers without theirs, for they are not asked.
 * @throws UsageError for an address that is none
 */
export function environmentProviders(variables: Environment["variables"]): Catalog {
  const [mistake] = presetMistakes(variables);
  if (mistake !== undefined) throw new UsageError(mistake);
  const local = localServers(variables).map((provider) => ({ provider, models: [] }));
  return mergeCatalogs(environmentCatalog(variables), localCatalog(local));
}

const stays = "the list of models could not be read; the old one stays in force";

/** Reads the environment's vendors, and asks the local servers once. @throws UsageError for an address that is none */
export async function openVendorModels(options: VendorOptions): Promise<VendorModels> {
  const { variables, log } = options;
  const [mistake] = presetMistakes(variables);
  if (mistake !== undefined) throw new UsageError(mistake);
  let list: string | undefined;
  let vendors = environmentCatalog(variables);
  let local: Catalog = { providers: new Map(), models: new Map() };
  let current = vendors;
  const join = (): void => {
    current = local.providers.size === 0 ? vendors : mergeCatalogs(vendors, local);
  };
  const providers = localServers(variables);
  const servers =
    providers.length === 0
      ? undefined
      : watchLocalServers({
          providers,
          log,
          onChange(catalog) {
            local = catalog;
            join();
          },
        });
  await servers?.asked;
  let closed = false;
  const ends: (() => void)[] = [];
  const load = async (database: Queryable): Promise<void> => {
    if (!hasVendors(variables)) return;
    const now = await catalogList(database);
    if (now === list) return;
    list = now;
    vendors = environmentCatalog(variables, () => now ?? shippedList());
    join();
    log.info({ models: vendors.models.size }, "the list of models was taken from the database");
  };
  return {
    current: () => current,
    load,
    async follow(database) {
      if (!hasVendors(variables)) return;
      // One behind the other: the last to be read is the one in force.
      let turn = Promise.resolve();
      const again = (): void => {
        turn = turn
          .then(() => load(database))
          .catch((error: unknown) => {
            if (!closed) log.warn({ err: error }, stays);
          });
      };
      ends.push(onCatalogList(database, again));
      again();
      await turn;
    },
    close() {
      closed = true;
      servers?.close();
      for (const end of ends) end();
    },
  };
}
