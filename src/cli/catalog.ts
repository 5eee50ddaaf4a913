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
  type Config,
  type Mistake,
  type Settings,
} from "../catalog/index.ts";
import { UsageError, type Environment } from "./environment.ts";

/** The catalogue in force, and the settings of the start: those take effect at the next one. */
export interface OpenCatalog {
  current(): Catalog;
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
  return (
    configFile(environment) === undefined &&
    environmentCatalog(environment.variables).providers.size === 0
  );
}

/** Loads the catalogue and keeps it up to date. @throws UsageError with every mistake of the file */
export async function openCatalog(options: CatalogOptions): Promise<OpenCatalog> {
  const open = await openSource(options);
  return { ...open, current: pricesInForce(() => open.current(), options.clock ?? systemClock) };
}

/** The catalogue as its source has it, with the prices of the day it was written. */
async function openSource(options: CatalogOptions): Promise<OpenCatalog> {
  const { environment, sandboxUrl } = options;
  const sandbox = sandboxUrl === undefined ? undefined : sandboxCatalog(sandboxUrl);
  const withSandbox = (catalog: Catalog): Catalog =>
    sandbox ? mergeCatalogs(sandbox, catalog) : catalog;
  const path = configFile(environment);
  if (path === undefined) {
    const catalog = withSandbox(environmentCatalog(environment.variables));
    return { current: () => catalog, settings: defaultSettings, close() {} };
  }
  const loading = { environment: environment.variables, ...knownBesides(sandbox) };
  const result = await loadConfig(path, loading);
  if ("mistakes" in result) throw new UsageError(mistakesText(result.mistakes));
  return watched(path, {
    ...options,
    ...loading,
    environment: environment.variables,
    initial: result.config,
    withSandbox,
  });
}

/** What a configuration file may name that is not in it. */
export const knownBesides = (sandbox: Catalog | undefined) => ({
  knownProviders: [...(sandbox?.providers.values() ?? [])],
  knownModels: [...(sandbox?.models.keys() ?? [])],
});

/** An address nobody listens on: for catalogues that are read and not called. */
export const nowhere = "http://127.0.0.1:0";

/** The catalogue for a command that runs beside no gateway. Keys can be revoked whatever is wrong with the file. */
export async function catalogForCommands(environment: Environment, log: Log): Promise<Catalog> {
  try {
    const sandboxUrl = sandboxWanted(environment) ? nowhere : undefined;
    const open = await openCatalog({ environment, sandboxUrl, log });
    open.close();
    return open.current();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`tollgate: ${error.message}\nThe command goes on without the configuration.`);
    return environmentCatalog(environment.variables);
  }
}

interface WatchedOptions extends ReturnType<typeof knownBesides> {
  readonly environment: Environment["variables"];
  readonly initial: Config;
  readonly log: Log;
  readonly withSandbox: (catalog: Catalog) => Catalog;
}

function watched(path: string, options: WatchedOptions): OpenCatalog {
  const { initial, log, withSandbox } = options;
  let current = withSandbox(initial.catalog);
  const watch = watchConfig(path, {
    ...options,
    onChange(config) {
      current = withSandbox(config.catalog);
      log.info({ path, models: current.models.size }, "the configuration was reloaded");
    },
    onMistakes(mistakes) {
      log.error(
        { path, mistakes: formatMistakes(mistakes) },
        "the changed configuration is wrong; the old one stays in force",
      );
    },
  });
  return { current: () => current, settings: initial.settings, close: () => watch.close() };
}

/** All mistakes under one heading. */
export function mistakesText(mistakes: readonly Mistake[]): string {
  const count = mistakes.length === 1 ? "one mistake" : `${mistakes.length} mistakes`;
  return `the configuration has ${count}:\n${formatMistakes(mistakes)}`;
}
