/**
 * The catalogue a gateway runs on: the configuration file where there is one, else the vendors whose keys are in the
 * environment; and the sandbox where it runs. Reloaded when the file changes; a wrong file leaves the old one in force.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { systemClock, type Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import {
  defaultSettings,
  environmentCatalog,
  formatMistakes,
  loadConfig,
  mergeCatalogs,
  pricesInForce,
  sandboxCatalog,
  watchConfig,
  type Catalog,
  type ConfigWatch,
  type Mistake,
  type Settings,
} from "../catalog/index.ts";
import type { Database, Queryable } from "../storage/index.ts";
import { UsageError, type Environment } from "./environment.ts";
import { namesVendors, openVendorModels } from "./vendor-models.ts";

/** The catalogue in force, and the settings of the start: those take effect at the next one. */
export interface OpenCatalog {
  current(): Catalog;
  /** Goes by the list of models that the database has in force now; for commands. */
  load(database: Queryable): Promise<void>;
  /** Goes by it now and whenever it changes. */
  follow(database: Database): Promise<void>;
  readonly settings: Settings;
  close(): void;
}

interface CatalogOptions {
  readonly environment: Environment;
  /** Where the sandbox listens; undefined where it does not run. */
  readonly sandboxUrl: string | undefined;
  readonly log: Log;
  /** Tells which prices hold. */
  readonly clock?: Clock | undefined;
}

const defaultFile = "tollgate.yaml";

/** The configuration file that counts: the one named, else `tollgate.yaml` where it exists. @throws UsageError when the named one is missing */
export function configFile({ configPath }: Pick<Environment, "configPath">): string | undefined {
  if (configPath === undefined) return existsSync(defaultFile) ? resolve(defaultFile) : undefined;
  if (!existsSync(configPath)) throw new UsageError(`there is no configuration file ${configPath}`);
  return resolve(configPath);
}

/** Whether the simulated vendors run: as configured, else where nothing else is configured. */
export function sandboxWanted(environment: Environment): boolean {
  if (environment.sandbox !== undefined) return environment.sandbox === "on";
  return configFile(environment) === undefined && !namesVendors(environment.variables);
}

/** Loads the catalogue and keeps it up to date. @throws UsageError with every mistake of the file */
export async function openCatalog(options: CatalogOptions): Promise<OpenCatalog> {
  const { environment, sandboxUrl, log } = options;
  const sandbox = sandboxUrl === undefined ? nothing : sandboxCatalog(sandboxUrl);
  const path = configFile(environment);
  const { variables } = environment;
  const file =
    path === undefined
      ? undefined
      : await openFile(path, { environment: variables, ...knownBesides(sandbox), log });
  const vendors = await openVendorModels({ variables, log });
  // A file that names what is served says all of it; one that only sets limits leaves it to the environment.
  const parts = (): Catalog[] => {
    const config = file?.current();
    if (config === undefined) return [sandbox, vendors.current()];
    const { catalog } = config;
    return isEmpty(catalog) ? [sandbox, vendors.current(), catalog] : [sandbox, catalog];
  };
  return {
    current: pricesInForce(remembered(parts), options.clock ?? systemClock),
    settings: file?.current().settings ?? defaultSettings,
    load: (database) => vendors.load(database),
    follow: (database) => vendors.follow(database),
    close() {
      file?.close();
      vendors.close();
    },
  };
}

const nothing: Catalog = { providers: new Map(), models: new Map() };
const isEmpty = ({ providers, models }: Catalog): boolean =>
  providers.size === 0 && models.size === 0;

/** The parts as one catalogue, the same object as long as they are the same. */
function remembered(parts: () => readonly Catalog[]): () => Catalog {
  let seen: readonly Catalog[] = [];
  let merged = nothing;
  return () => {
    const now = parts();
    if (now.length === seen.length && now.every((part, at) => part === seen[at])) return merged;
    seen = now;
    merged = mergeCatalogs(...now);
    return merged;
  };
}

/** What a configuration file may name that is not in it. */
export const knownBesides = (sandbox: Catalog | undefined) => ({
  knownProviders: [...(sandbox?.providers.values() ?? [])],
  knownModels: [...(sandbox?.models.keys() ?? [])],
});

/** An address nobody listens on: for catalogues that are read and not called. */
export const nowhere = "http://127.0.0.1:0";

/** The catalogue for a command that runs beside no gateway. Keys can be revoked whatever is wrong with the file. */
export async function catalogForCommands(
  environment: Environment,
  { database, log }: { readonly database: Queryable; readonly log: Log },
): Promise<Catalog> {
  try {
    const sandboxUrl = sandboxWanted(environment) ? nowhere : undefined;
    const open = await openCatalog({ environment, sandboxUrl, log });
    await open.load(database);
    open.close();
    return open.current();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`tollgate: ${error.message}\nThe command goes on without the configuration.`);
    return environmentCatalog(environment.variables);
  }
}

interface FileOptions extends ReturnType<typeof knownBesides> {
  readonly environment: Environment["variables"];
  readonly log: Log;
}

/** The file, read and watched. @throws UsageError with every mistake */
async function openFile(path: string, options: FileOptions): Promise<ConfigWatch> {
  const result = await loadConfig(path, options);
  if ("mistakes" in result) throw new UsageError(mistakesText(result.mistakes));
  const { log } = options;
  return watchConfig(path, {
    ...options,
    initial: result.config,
    onChange({ catalog }) {
      log.info({ path, models: catalog.models.size }, "the configuration was reloaded");
    },
    onMistakes(mistakes) {
      log.error(
        { path, mistakes: formatMistakes(mistakes) },
        "the changed configuration is wrong; the old one stays in force",
      );
    },
  });
}

/** All mistakes under one heading. */
export function mistakesText(mistakes: readonly Mistake[]): string {
  const count = mistakes.length === 1 ? "one mistake" : `${mistakes.length} mistakes`;
  return `the configuration has ${count}:\n${formatMistakes(mistakes)}`;
}
