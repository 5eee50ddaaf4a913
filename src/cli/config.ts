/** `tollgate config`: check a file, print its JSON Schema for editors, print what is in force. contract.md "Command line". */
import type { Command } from "commander";
import { parse } from "yaml";
import {
  configSchema,
  defaultSettings,
  environmentCatalog,
  loadConfig,
  printConfig,
  sandboxCatalog,
  type Config,
} from "../catalog/index.ts";
import { configFile, mistakesText } from "./catalog.ts";
import { readEnvironment, UsageError } from "./environment.ts";
import { printJson } from "./print.ts";

interface FileOption {
  readonly config?: string;
  readonly json?: boolean;
}

/** Adds the sub-commands to `config`. */
export function addConfigCommands(config: Command): void {
  const file = [
    "--config <file>",
    "the file (TOLLGATE_CONFIG; tollgate.yaml where it exists)",
  ] as const;
  config
    .command("check")
    .description("report every mistake of the file with its line; exit 2 when there is any")
    .option(...file)
    .option("--json", "print the mistakes as JSON")
    .action(check);
  config
    .command("schema")
    .description("print the file's JSON Schema, for editors")
    .action(() => printJson(configSchema()));
  config
    .command("print")
    .description("print the configuration in force, with defaults filled in and secrets masked")
    .option(...file)
    .option("--json", "print it as JSON instead of YAML")
    .action(print);
}

async function load(
  options: FileOption,
): Promise<{ path: string | undefined; result: Awaited<ReturnType<typeof loadConfig>> }> {
  const environment = readEnvironment(process.env);
  const path = configFile({ configPath: options.config ?? environment.configPath });
  const { variables } = environment;
  if (path === undefined) {
    const config = {
      catalog: environmentCatalog(variables),
      settings: defaultSettings,
      digest: "",
    };
    return { path, result: { config } };
  }
  const knownProviders = [...sandboxCatalog("http://sandbox").providers.keys()];
  return { path, result: await loadConfig(path, { environment: variables, knownProviders }) };
}

async function check(options: FileOption): Promise<void> {
  const { path, result } = await load(options);
  if ("mistakes" in result) {
    process.exitCode = 2;
    if (options.json) printJson({ mistakes: result.mistakes });
    else console.error(mistakesText(result.mistakes));
    return;
  }
  if (options.json) printJson({ mistakes: [] });
  else
    console.log(
      `${path ?? "no configuration file: the environment's vendors"}: ${summary(result.config)}, no mistake`,
    );
}

const summary = ({ catalog }: Config): string =>
  `${catalog.providers.size} providers, ${catalog.models.size} models`;

async function print(options: FileOption): Promise<void> {
  const { result } = await load(options);
  if ("mistakes" in result) throw new UsageError(mistakesText(result.mistakes));
  const text = printConfig(result.config);
  if (options.json) printJson(parse(text));
  else console.log(text.trimEnd());
}
