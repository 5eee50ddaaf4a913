/**
 * The catalogue a gateway runs on: the configuration file, the vendors whose keys are in the environment, the providers
 * that were added, and the sandbox where it runs. Reloaded when the file changes; a wrong file leaves the old one in force.
 */
import { systemClock, type Clock } from "../base/clock.ts";
import { createLog, type Log } from "../base/log.ts";
import {
  defaultSettings,
  environmentCatalog,
  formatMistakes,
  layeredCatalog,
  leftToEnvironment,
  withOwnPrices,
  loadConfig,
  pricesInForce,
  sandboxCatalog,
  watchConfig,
  type Catalog,
  type Config,
  type ConfigWatch,
  type Mistake,
  type Settings,
} from "../catalog/index.ts";
import type { Database, Queryable } from "../storage/index.ts";
import type { Secrets } from "../tenancy/index.ts";
import { openAddedProviders, type Added } from "./added-providers.ts";
import { configFile } from "./config-file.ts";
import { UsageError, type Environment } from "./environment.ts";
import { checkVendorVariables, namesVendors, openVendorModels } from "./vendor-models.ts";
import { priceRemarks } from "./price-remarks.ts";
import { tellWaiting, waitingParts } from "./waiting-parts.ts";

/** The catalogue in force, and the settings of the start: those take effect at the next one. */
export interface OpenCatalog {
  current(): Catalog;
  /** Goes by the list of models that the database has in force now; with secrets also by the providers that were added. For commands. */
  load(database: Queryable, secrets?: Secrets): Promise<void>;
  /** Goes by them now and whenever they change. */
  follow(database: Database, secrets: Secrets): Promise<void>;
  /**
   * Reads the file again, by these variables from here on, which are the vendors' too. @throws UsageError, and nothing has changed
   */
  reload(environment: Environment): Promise<Reread>;
  /** Those in force. */
  variables(): Environment["variables"];
  /** Those of the start, as `settings` are. */
  readonly startVariables: Environment["variables"];
  readonly settings: Settings;
  close(): void;
}

export interface CatalogOptions {
  readonly environment: Environment;
  /** Where the sandbox listens; undefined where it does not run. */
  readonly sandboxUrl: string | undefined;
  readonly log: Log;
  /** Tells which prices hold. */
  readonly clock?: Clock | undefined;
  /** Called with what the file says whenever it has changed. */
  readonly onReload?: ((config: Config) => void) | undefined;
}

/** What a file says that was read again; undefined where there is none. */
export type Reread =
  | (Pick<Config, "settings" | "variables"> & { readonly path: string })
  | undefined;

/** Whether the simulated vendors run: as configured, else where nothing else is configured. */
export function sandboxWanted(environment: Environment): boolean {
  if (environment.sandbox !== undefined) return environment.sandbox === "on";
  return configFile(environment) === undefined && !namesVendors(environment.variables);
}

/** Loads the catalogue and keeps it up to date. @throws UsageError with every mistake of the file */
export async function openCatalog(options: CatalogOptions): Promise<OpenCatalog> {
  const { environment, sandboxUrl, log, clock = systemClock } = options;
  const sandbox = sandboxUrl === undefined ? nothing : sandboxCatalog(sandboxUrl);
  const path = configFile(environment);
  let { variables } = environment;
  const file =
    path === undefined
      ? undefined
      : await openFile(path, {
          environment: variables,
          ...knownBesides(sandbox),
          log,
          onReload: options.onReload,
        });
  const vendors = await openVendorModels({ variables, log });
  const { allowPrivateAddresses: allowPrivate } = environment;
  const added = openAddedProviders({ log, clock, allowPrivate });
  const environmentOf = (vendors: Catalog, config: Config | undefined): Catalog => {
    const left = config?.variables
      ? leftToEnvironment(vendors, variables, config.variables)
      : vendors;
    if (config?.prices === undefined) return left;
    const { catalog, ...findings } = withOwnPrices(left, config.prices);
    for (const { models, message } of priceRemarks(findings)) log.warn({ models }, message);
    return catalog;
  };
  const parts = (): Parts => ({
    sandbox,
    vendors: vendors.current(),
    config: file?.current(),
    added: added.current(),
  });
  return {
    current: pricesInForce(remembered(parts, environmentOf), clock),
    settings: file?.current().settings ?? defaultSettings,
    startVariables: environment.variables,
    variables: () => variables,
    async reload(next) {
      const reread = await rereadFile(path, file, next);
      ({ variables } = next);
      await vendors.take(variables);
      return reread;
    },
    async load(database, secrets) {
      await vendors.load(database);
      if (secrets) await added.load(database, secrets);
    },
    async follow(database, secrets) {
      await vendors.follow(database);
      await added.follow(database, secrets);
    },
    close() {
      file?.close();
      vendors.close();
      added.close();
    },
  };
}

const nothing: Catalog = { providers: new Map(), models: new Map() };
/** Where a catalogue comes from, each the same object until it changes. */
interface Parts {
  readonly sandbox: Catalog;
  readonly vendors: Catalog;
  readonly config: Config | undefined;
  readonly added: Added;
}

/** The parts as one catalogue, the same object as long as they are the same. */
function remembered(
  parts: () => Parts,
  environmentOf: (vendors: Catalog, config: Config | undefined) => Catalog,
): () => Catalog {
  let seen: Parts | undefined;
  let merged = nothing;
  return () => {
    const now = parts();
    const { sandbox, vendors, config, added } = now;
    if (seen?.vendors === vendors && seen.config === config && seen.added === added) return merged;
    seen = now;
    merged = layeredCatalog({
      sandbox,
      environment: environmentOf(vendors, config),
      ...(config && { file: config }),
      added: added.providers,
      paused: added.paused,
    });
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

/** The catalogue and the settings for a command that runs beside no gateway. Keys can be revoked whatever is wrong with the file. */
export async function configurationForCommands(
  environment: Environment,
  {
    database,
    secrets,
    log,
  }: { readonly database: Queryable; readonly secrets?: Secrets | undefined; readonly log: Log },
): Promise<{ readonly catalog: Catalog; readonly settings: Settings }> {
  try {
    const sandboxUrl = sandboxWanted(environment) ? nowhere : undefined;
    const open = await openCatalog({ environment, sandboxUrl, log });
    await open.load(database, secrets);
    open.close();
    return { catalog: open.current(), settings: open.settings };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`tollgate: ${error.message}\nThe command goes on without the configuration.`);
    return { catalog: environmentCatalog(environment.variables), settings: defaultSettings };
  }
}

/** What the configuration says now: read once, and not followed. @throws UsageError */
export async function readConfiguration(
  options: CatalogOptions,
): Promise<{ readonly catalog: Catalog; readonly settings: Settings }> {
  const open = await openCatalog(options);
  open.close();
  return { catalog: open.current(), settings: open.settings };
}

/** The settings that a command goes by. @throws UsageError */
export async function settingsForCommands(environment: Environment): Promise<Settings> {
  const sandboxUrl = sandboxWanted(environment) ? nowhere : undefined;
  const log = createLog("warn");
  return (await readConfiguration({ environment, sandboxUrl, log })).settings;
}

interface FileOptions extends ReturnType<typeof knownBesides> {
  readonly environment: Environment["variables"];
  readonly log: Log;
  readonly onReload: CatalogOptions["onReload"];
}

/** The file, read and watched. @throws UsageError with every mistake */
async function openFile(path: string, options: FileOptions): Promise<ConfigWatch> {
  const result = await loadConfig(path, options);
  if ("mistakes" in result) throw new UsageError(mistakesText(result.mistakes));
  const { log } = options;
  return watchConfig(path, {
    ...options,
    initial: result.config,
    onChange(config) {
      const { catalog, settings } = config;
      options.onReload?.(config);
      const restart = waitingParts(result.config.settings, settings);
      log.info({ path, models: catalog.models.size, restart }, "the configuration was reloaded");
      tellWaiting(restart, log);
    },
    onMistakes(mistakes) {
      log.error(
        { path, mistakes: formatMistakes(mistakes) },
        "the changed configuration is wrong; the old one stays in force",
      );
    },
  });
}

/** Everything that can be wrong is found before anything changes. @throws UsageError */
async function rereadFile(
  path: string | undefined,
  file: ConfigWatch | undefined,
  environment: Environment,
): Promise<Reread> {
  checkVendorVariables(environment.variables);
  const now = configFile(environment);
  if (now !== path)
    throw new UsageError(
      path === undefined
        ? `the configuration file ${now} was not there at the start: a restart takes it`
        : `there is no configuration file ${path}`,
    );
  if (path === undefined || file === undefined) return undefined;
  const result = await file.reread(environment.variables).catch((error: unknown) => {
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`);
  });
  if ("mistakes" in result) throw new UsageError(mistakesText(result.mistakes));
  return { path, ...result.config };
}

/** All mistakes under one heading. */
export function mistakesText(mistakes: readonly Mistake[]): string {
  const count = mistakes.length === 1 ? "one mistake" : `${mistakes.length} mistakes`;
  return `the configuration has ${count}:\n${formatMistakes(mistakes)}`;
}
