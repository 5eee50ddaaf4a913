/**
 * The catalogue of a running gateway: the configuration file, the vendors whose keys are in the environment, the added providers, and
 * the sandbox if it runs. It is reloaded when the file changes. A file with mistakes leaves the old catalogue in force.
 */
import { systemClock, type Clock } from "../base/clock.ts";
import { createLog, type Log } from "../base/log.ts";
import {
  defaultSettings,
  environmentCatalog,
  formatMistakes,
  layeredCatalog,
  withoutFileVendors,
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
import type { Environment } from "./environment.ts";
import { UsageError } from "./usage-error.ts";
import { checkVendorVariables, namesVendors, openVendorModels } from "./vendor-models.ts";
import { priceRemarks } from "./price-remarks.ts";
import { logRestartNeeded, partsNeedingRestart } from "./restart-needed.ts";

/** The catalogue in force, and the settings read at the start. Changed settings take effect at the next start. */
export interface OpenCatalog {
  current(): Catalog;
  /** Reads the list of models that is in force in the database; with `secrets` also the added providers. For commands. */
  load(database: Queryable, secrets?: Secrets): Promise<void>;
  /** Reads both now and whenever they change. From now on `sharedClock` decides which prices and pauses are in force. */
  follow(database: Database, secrets: Secrets, sharedClock: Clock): Promise<void>;
  /** Reads the file again. From then on these variables apply, to the vendors too. @throws UsageError, and nothing has changed */
  reload(environment: Environment): Promise<Reread>;
  /** The variables in force. */
  variables(): Environment["variables"];
  /** The variables at the start, to which `settings` belong. */
  readonly startVariables: Environment["variables"];
  readonly settings: Settings;
  close(): void;
}

export interface CatalogOptions {
  readonly environment: Environment;
  /** The sandbox's address; undefined if it does not run. */
  readonly sandboxUrl: string | undefined;
  readonly log: Log;
  /** Decides which prices are in force, until `follow` names the clock that all gateways share. */
  readonly clock?: Clock | undefined;
  /** Called with the new configuration whenever the file has changed. */
  readonly onReload?: ((config: Config) => void) | undefined;
  /** Called when providers outside of the file may have changed. */
  readonly onProviders?: (() => void) | undefined;
}

/** The contents of a file that was read again; undefined if there is no file. */
export type Reread =
  | (Pick<Config, "settings" | "variables"> & { readonly path: string })
  | undefined;

/** True if the simulated vendors run: as configured, else if nothing else is configured. */
export function sandboxWanted(environment: Environment): boolean {
  if (environment.sandbox !== undefined) return environment.sandbox === "on";
  return configFile(environment) === undefined && !namesVendors(environment.variables);
}

/** Loads the catalogue and keeps it up to date. @throws UsageError with every mistake of the file */
export async function openCatalog(options: CatalogOptions): Promise<OpenCatalog> {
  const { environment, sandboxUrl, log, onProviders } = options;
  let { clock: known = systemClock } = options;
  const clock: Clock = { now: () => known.now() };
  const sandbox = sandboxUrl === undefined ? emptyCatalog : sandboxCatalog(sandboxUrl);
  const path = configFile(environment);
  let { variables } = environment;
  const reading = { ...externalNames(sandbox), log, onReload: options.onReload };
  const file =
    path === undefined ? undefined : await openFile(path, { ...reading, environment: variables });
  const vendors = await openVendorModels({ variables, log });
  const { allowPrivateAddresses: allowPrivate } = environment;
  const added = openAddedProviders({ log, clock, allowPrivate, onChange: onProviders });
  const environmentOf = (vendors: Catalog, config: Config | undefined): Catalog => {
    const left = config?.variables
      ? withoutFileVendors(vendors, variables, config.variables)
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
    current: pricesInForce(memoizedCatalog(parts, environmentOf), clock),
    settings: file?.current().settings ?? defaultSettings,
    startVariables: environment.variables,
    variables: () => variables,
    async reload(next) {
      const reread = await rereadFile(path, file, next);
      ({ variables } = next);
      await vendors.take(variables);
      onProviders?.();
      return reread;
    },
    async load(database, secrets) {
      await vendors.load(database);
      if (secrets) await added.load(database, secrets);
    },
    async follow(database, secrets, sharedClock) {
      known = sharedClock;
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

const emptyCatalog: Catalog = { providers: new Map(), models: new Map() };
/** The sources of a catalogue. Each is the same object until it changes. */
interface Parts {
  readonly sandbox: Catalog;
  readonly vendors: Catalog;
  readonly config: Config | undefined;
  readonly added: Added;
}

/** Merges the parts into one catalogue; returns the same object while the parts are the same. */
function memoizedCatalog(
  parts: () => Parts,
  environmentOf: (vendors: Catalog, config: Config | undefined) => Catalog,
): () => Catalog {
  let seen: Parts | undefined;
  let environment = emptyCatalog;
  let merged = emptyCatalog;
  return () => {
    const now = parts();
    const { sandbox, vendors, config, added } = now;
    const isSame = seen?.vendors === vendors && seen.config === config;
    if (isSame && seen?.added === added) return merged;
    seen = now;
    // It may log remarks: only about what has changed.
    if (!isSame) environment = environmentOf(vendors, config);
    merged = layeredCatalog({
      sandbox,
      environment,
      ...(config && { file: config }),
      added: added.providers,
      paused: added.paused,
    });
    return merged;
  };
}

/** Providers and models that a configuration file may refer to although it does not define them. */
export const externalNames = (sandbox: Catalog | undefined) => ({
  knownProviders: [...(sandbox?.providers.values() ?? [])],
  knownModels: [...(sandbox?.models.keys() ?? [])],
});

/** An address without a listener: for catalogues that are read but not called. */
export const placeholderUrl = "http://127.0.0.1:0";

/**
 * Returns the catalogue and the settings for a command without a running gateway. Mistakes in the file do not stop it, so that keys can
 * always be revoked.
 */
export async function configurationForCommands(
  environment: Environment,
  {
    database,
    secrets,
    log,
  }: { readonly database: Queryable; readonly secrets?: Secrets | undefined; readonly log: Log },
): Promise<{ readonly catalog: Catalog; readonly settings: Settings }> {
  try {
    const sandboxUrl = sandboxWanted(environment) ? placeholderUrl : undefined;
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

/** Reads the configuration once, without following changes. @throws UsageError */
export async function readConfiguration(
  options: CatalogOptions,
): Promise<{ readonly catalog: Catalog; readonly settings: Settings }> {
  const open = await openCatalog(options);
  open.close();
  return { catalog: open.current(), settings: open.settings };
}

/** Returns the settings for a command. @throws UsageError */
export async function settingsForCommands(environment: Environment): Promise<Settings> {
  const sandboxUrl = sandboxWanted(environment) ? placeholderUrl : undefined;
  const log = createLog("warn");
  return (await readConfiguration({ environment, sandboxUrl, log })).settings;
}

interface FileOptions extends ReturnType<typeof externalNames> {
  readonly environment: Environment["variables"];
  readonly log: Log;
  readonly onReload: CatalogOptions["onReload"];
}

/** Reads and watches the file. @throws UsageError with every mistake */
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
      const restart = partsNeedingRestart(result.config.settings, settings);
      log.info({ path, models: catalog.models.size, restart }, "the configuration was reloaded");
      logRestartNeeded(restart, log);
    },
    onMistakes(mistakes) {
      log.error(
        { path, mistakes: formatMistakes(mistakes) },
        "the changed configuration is wrong; the old one stays in force",
      );
    },
  });
}

/** Checks everything before anything changes. @throws UsageError */
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

/** Lists all mistakes under one heading. */
export function mistakesText(mistakes: readonly Mistake[]): string {
  const count = mistakes.length === 1 ? "one mistake" : `${mistakes.length} mistakes`;
  return `the configuration has ${count}:\n${formatMistakes(mistakes)}`;
}
