/** Implements `tollgate config`: check a file, print its JSON Schema for editors, an example, or the configuration in force. */
import { counted } from "../base/counted.ts";
import {
  checkSecrets,
  configJson,
  configSchema,
  defaultSettings,
  environmentCatalog,
  environmentSource,
  formatPath,
  withoutFileVendors,
  loadConfig,
  mergeCatalogs,
  printConfig,
  sandboxCatalog,
  type Catalog,
  type Config,
  type ConfigResult,
} from "../catalog/index.ts";
import { externalNames, mistakesText, placeholderUrl, sandboxWanted } from "./catalog.ts";
import { configFile, unreadFiles } from "./config-file.ts";
import { exampleConfig } from "./config-example.ts";
import { readEnvironment } from "./environment.ts";
import { UsageError } from "./usage-error.ts";
import { offerRemarksOf } from "./offer-remarks.ts";
import { priceRemarksOf } from "./price-remarks.ts";
import { printJson } from "./print.ts";
import { environmentProviders } from "./vendor-models.ts";

export interface FileOption {
  readonly config?: string;
  readonly json?: boolean;
}

export const schema = (): void => printJson(configSchema());

/** Prints a commented file to start from. */
export const example = (): void => console.log(exampleConfig.trimEnd());

interface Loaded {
  readonly path: string | undefined;
  /** True if a gateway started here would run the sandbox. */
  readonly hasSandbox: boolean;
  readonly result: ConfigResult;
}

/** Returns the configuration that `serve` would start with. */
export async function loadConfiguration(options: FileOption): Promise<Loaded> {
  const environment = readEnvironment(process.env);
  const configPath = options.config ?? environment.configPath;
  const path = configFile({ configPath });
  const { variables } = environment;
  const hasSandbox = sandboxWanted({ ...environment, configPath });
  if (path === undefined) {
    const config = {
      catalog: environmentCatalog(variables),
      settings: defaultSettings,
      source: environmentSource(variables),
      digest: "",
    };
    return { path, hasSandbox, result: { config } };
  }
  const known = externalNames(hasSandbox ? sandboxCatalog(placeholderUrl) : undefined);
  const result = await loadConfig(path, { environment: variables, ...known });
  return { path, hasSandbox, result };
}

/**
 * Returns the providers and models that the gateway would call: the environment's vendors and local servers, overridden by the file's
 * own. Not those that were added over the management API.
 * @throws UsageError for an invalid address in the environment
 */
export function catalogOf(result: ConfigResult): Catalog {
  const { variables } = readEnvironment(process.env);
  const brought = environmentProviders(variables);
  if ("mistakes" in result) return brought;
  const { catalog, variables: used } = result.config;
  return mergeCatalogs(used ? withoutFileVendors(brought, variables, used) : brought, catalog);
}

/** Reports every mistake of the file. */
export async function check(options: FileOption): Promise<void> {
  const { path, result } = await loadConfiguration(options);
  if (path === undefined)
    for (const line of unreadFiles({ configPath: undefined })) console.error(`tollgate: ${line}`);
  if ("mistakes" in result) {
    process.exitCode = 2;
    if (options.json) printJson({ mistakes: result.mistakes });
    else console.error(mistakesText(result.mistakes));
    return;
  }
  const warnings = [...priceRemarksOf(result.config), ...offerRemarksOf(result.config)];
  if (options.json) return printJson({ mistakes: [], warnings });
  for (const { message, models } of warnings)
    console.error(`tollgate: warning: ${message}: ${models.join(", ")}`);
  console.log(
    `${path ?? "no configuration file: the environment's vendors"}: ${summary(result.config)}, no mistake`,
  );
}

const summary = ({ catalog }: Config): string =>
  `${counted(catalog.providers.size, "provider")}, ${counted(catalog.models.size, "model")}`;

/** Prints the configuration in force as a file to start from. */
export async function print(options: FileOption): Promise<void> {
  const { result, hasSandbox, path } = await loadConfiguration(options);
  if ("mistakes" in result) throw new UsageError(mistakesText(result.mistakes));
  const document = configJson(result.config);
  if (options.json) printJson(document);
  else console.log((hasSandbox ? sandboxRemark(path) : "") + printConfig(result.config).trimEnd());
  const masked = checkSecrets(document).map((finding) => formatPath(finding.path));
  if (masked.length > 0)
    console.error(
      `tollgate: masked, because the file itself holds them: ${masked.join(", ")}. Put them back, best as \${VARIABLE}, to start from this.`,
    );
}

/** A file cannot include the sandbox, because its address changes at each start. */
const sandboxRemark = (path: string | undefined): string =>
  path === undefined
    ? "# Beside this the sandbox's models are served. With a file that takes TOLLGATE_SANDBOX=on.\n"
    : "# Beside this the sandbox's models are served (TOLLGATE_SANDBOX=on).\n";
