/** `tollgate config` and its options; config-commands.ts implements them. docs/cli.md. */
import type { Command } from "commander";
import type { FileOption } from "./config-commands.ts";
import { UsageError } from "./usage-error.ts";

/** Imported late: the catalogue takes most of a command's time, and help does not need it. */
const commands = () => import("./config-commands.ts");

export function addConfigCommands(config: Command): void {
  const file = [
    "--config <file>",
    "the file (TOLLGATE_CONFIG; tollgate.yaml if it exists)",
  ] as const;
  config
    .command("check [file]")
    .description("report every mistake in the file with its line; exit 2 if there is any")
    .option(...file)
    .option("--json", "print the mistakes as JSON")
    .action(async (path: string | undefined, options: FileOption) =>
      (await commands()).check(withFile(path, options)),
    );
  config
    .command("schema")
    .description("print the file's JSON Schema, for editors")
    .option("--json", "no effect: the output is always JSON")
    .action(async () => (await commands()).schema());
  config
    .command("example")
    .description("print a file to start from, with an explanation of each setting")
    .action(async () => (await commands()).example());
  config
    .command("print [file]")
    .description(
      "print the configuration in force as a file: with defaults, variables as ${NAME}, other secrets masked",
    )
    .option(...file)
    .option("--json", "print it as JSON instead of YAML")
    .action(async (path: string | undefined, options: FileOption) =>
      (await commands()).print(withFile(path, options)),
    );
}

/** Takes the file with or without `--config`. @throws UsageError where it is named twice */
function withFile(path: string | undefined, options: FileOption): FileOption {
  if (path === undefined) return options;
  if (options.config !== undefined)
    throw new UsageError(`two files are named: ${path} and ${options.config}`);
  return { ...options, config: path };
}
