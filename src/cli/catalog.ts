/**
 * The catalogue a gateway runs on: the configuration file where there is one, else the sandbox and the vendors whose
 * keys are in the environment. Reloaded when the file changes; a wrong file leaves the old catalogue in force.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Log } from "../base/log.ts";
import {
  defaultSettings,
  environmentCatalog,
  formatMistakes,
  loadConfig,
  mergeCatalogs,
  sandboxCatalog,
  watchConfig,
  type Catalog,
  type Config,
  type Settings,
} from "../catalog/index.ts";
import { UsageError, type Environment } from "./environment.ts";

export interface OpenCatalog {
  current(): Catalog;
  settings(): Settings;
  close(): void;
}

const defaultFile = "tollgate.yaml";

/** The configuration file that counts: the one named, else `tollgate.yaml` where it exists. @throws UsageError when the named one is missing */
export function configFile({ configPath }: Environment): string | undefined {
  if (configPath === undefined) return existsSync(defaultFile) ? resolve(defaultFile) : undefined;
  if (!existsSync(configPath)) throw new UsageError(`there is no configuration file ${configPath}`);
  return resolve(configPath);
}
