/**
 * `tollgate doctor`: checks everything that a gateway needs, in parallel, and prints fixes for failures. Each check is a row of one
 * table with a deadline. docs/operate.md "Doctor".
 */
import { counted } from "../../base/counted.ts";
import type { Proxies } from "../../base/proxy.ts";
import { printableLines } from "../../base/printable.ts";
import { catalogOf, loadConfiguration, type FileOption } from "../config-commands.ts";
import { createPools, type Pools } from "../../upstream/index.ts";
import {
  formatMistakes,
  type Catalog,
  type ConfigResult,
  type Settings,
} from "../../catalog/index.ts";
import { unreadFiles } from "../config-file.ts";
import { readEnvironment, type Environment } from "../environment.ts";
import { UsageError } from "../usage-error.ts";
import { misspeltVariables } from "../misspelt-variables.ts";
import { printJson } from "../print.ts";
import { environmentProxies } from "../proxies.ts";
import { offerRemarksOf } from "../offer-remarks.ts";
import { priceRemarksOf } from "../price-remarks.ts";
import { bounded } from "./bounded.ts";
import { checkBucket } from "./bucket.ts";
import { checkDatabase } from "./database.ts";
import { failed, ok, warning, type Finding } from "./findings.ts";
import { checkHook } from "./hooks.ts";
import { checkAddresses, checkDirectory } from "./machine.ts";
import { checkMemory } from "./memory.ts";
import { checkProvider } from "./providers.ts";
import { checkTelemetry } from "./telemetry.ts";

interface Context {
  readonly environment: Environment;
  readonly pools: Pools;
}

interface Check {
  readonly name: string;
  readonly run: (context: Context) => Finding | Finding[] | Promise<Finding[]>;
}

/** The checks beside the configuration. Each provider has its own row. */
const checks: readonly Check[] = [
  { name: "database", run: ({ environment }) => checkDatabase(environment) },
  { name: "data directory", run: ({ environment }) => checkDirectory(environment) },
  { name: "addresses", run: ({ environment }) => checkAddresses(environment) },
];

const settingChecks = (settings: Settings, proxies: Proxies): Check[] => [
  { name: "storage", run: () => checkBucket(settings.storage, proxies) },
  { name: "telemetry", run: ({ environment }) => checkTelemetry(environment, settings) },
  { name: "memory", run: ({ environment }) => checkMemory(environment, settings.limits) },
  ...settings.hooks.map((hook) => ({
    name: `hook ${hook.name}`,
    run: ({ pools }: Context) => checkHook(pools, hook),
  })),
];

const providerChecks = ({ providers }: Catalog): Check[] =>
  [...providers.values()].map((provider) => ({
    name: `provider ${provider.id}`,
    run: ({ pools }) => checkProvider(pools, provider),
  }));

/** Prints the findings, and sets exit code 1 if anything fails. */
export async function doctor(options: FileOption): Promise<void> {
  const environment = readEnvironment(process.env);
  const configuration = await checkConfiguration(options);
  const proxies = environmentProxies(environment);
  const pools = createPools({ proxies });
  const { catalog, settings } = configuration;
  const context = { environment, pools };
  const rows = [
    ...checks,
    ...(settings === undefined ? [] : settingChecks(settings, proxies)),
    ...providerChecks(catalog),
  ];
  const found = await Promise.all(rows.map(({ name, run }) => bounded(name, () => run(context))));
  await pools.close();
  const misspelt = misspeltVariables(process.env).map((line) =>
    warning("environment", line, "correct the name, or take the variable away"),
  );
  const unread = unreadFiles({ configPath: options.config ?? environment.configPath }).map((line) =>
    warning("configuration", line, "rename the file, or set TOLLGATE_CONFIG"),
  );
  const keysScope = catalog.providers.size === 0 ? [] : [ok("keys", keysScopeNote)];
  const findings = [
    ...configuration.findings,
    ...unread,
    ...misspelt,
    ...found.flat(),
    ...keysScope,
  ];
  if (options.json) printJson({ findings });
  else for (const line of findings.flatMap(linesOf)) console.log(printableLines(line));
  if (findings.some(({ status }) => status === "failed")) process.exitCode = 1;
}

interface Configured {
  /** The providers and models; none if they cannot be determined. */
  readonly catalog: Catalog;
  /** Absent if the file has mistakes. */
  readonly settings: Settings | undefined;
  readonly findings: readonly Finding[];
}

async function checkConfiguration(options: FileOption): Promise<Configured> {
  const check = "configuration";
  const { path, hasSandbox, result } = await loadConfiguration(options);
  const { catalog, settings, findings } = checkEnvironment(result);
  if ("mistakes" in result) {
    const fix = "mend these, and see tollgate config check";
    const wrong = failed(check, formatMistakes(result.mistakes), fix);
    return { catalog, settings, findings: [wrong, ...findings] };
  }
  const { providers, models } = catalog;
  const vendors = "the environment's vendors";
  const where = path === undefined ? vendors : `${path} and ${vendors}`;
  const simulated = hasSandbox ? ", and the sandbox's" : "";
  const message = `${where}: ${counted(providers.size, "provider")}, ${counted(models.size, "model")}${simulated}`;
  const isEmpty = providers.size === 0 && !hasSandbox && findings.length === 0;
  const found = isEmpty ? warning(check, message, noProvidersFix) : ok(check, message);
  // A wrong address is reported already, and without it the models of the list are unknown.
  const remarks = findings.length === 0 ? priceRemarksOf(result.config) : [];
  const prices = remarks.map(({ message, models }) =>
    warning(
      "prices",
      `${models.join(", ")}: ${message}`,
      'see "Prices of one\'s own" in docs/models.md',
    ),
  );
  const offers = offerRemarksOf(result.config).map(({ message, models }) =>
    warning("offers", `${models.join(", ")}: ${message}`, "see offers of these models in the file"),
  );
  return { catalog, settings, findings: [found, ...prices, ...offers, ...findings] };
}

/** Most people run the doctor in a shell, but the gateway in a service unit or a container, which has another environment. */
const keysScopeNote =
  "those above are of this command's environment and the file it reads; a gateway that runs has those of its own start, " +
  "and with providers that were added: tollgate providers test <name> asks it";

const noProvidersFix =
  "set a vendor's key (tollgate vendors), write a file (tollgate config example), or add one (tollgate providers add); " +
  "a gateway that runs has those of its own start: tollgate providers list asks it";

/** Returns the catalogue of the environment and the file, and findings on wrong addresses in the environment. */
function checkEnvironment(result: ConfigResult): Configured {
  const settings = "mistakes" in result ? undefined : result.config.settings;
  try {
    return { catalog: catalogOf(result), settings, findings: [] };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const catalog = "mistakes" in result ? emptyCatalog : result.config.catalog;
    const wrong = failed("environment", error.message, "correct the variable, or leave it out");
    return { catalog, settings, findings: [wrong] };
  }
}

const emptyCatalog: Catalog = { providers: new Map(), models: new Map() };

const marks = { ok: "ok", warning: "warning", failed: "FAILED" } as const;

const linesOf = ({ check, status, message, fix }: Finding): string[] => [
  `${marks[status].padEnd(8)} ${check}: ${message}`,
  ...(fix === undefined ? [] : [`${"".padEnd(8)} -> ${fix}`]),
];
