/**
 * The commands of `tollgate` and their options. docs/cli.md is generated from this.
 * A command's implementation is loaded when it runs: the gateway's modules take most of a second, and help needs none of them.
 */
import { Command } from "commander";
import type { FileOption } from "./config-commands.ts";
import type { ExportOptions } from "./export.ts";
import type { RestoreCommandOptions } from "./backup.ts";
import { addCatalogCommands } from "./catalog-commands.ts";
import { addCompletionCommand } from "./completion.ts";
import { addConfigCommands } from "./config.ts";
import { addConvertCommands } from "./convert.ts";
import { addCreditCommands } from "./credits.ts";
import { addKeyCommands } from "./keys.ts";
import { addMemberCommands } from "./members.ts";
import { addModelsCommand } from "./models.ts";
import { addProviderCommands } from "./providers.ts";
import { addRequestCommands } from "./requests.ts";
import { addEraseCommands } from "./erase.ts";
import type { ServeOptions } from "./serve.ts";
import { watchOutput } from "./standard-output.ts";
import { addUsageCommand } from "./usage.ts";
import { addVendorsCommand } from "./vendors.ts";
import { version } from "../base/own-files.ts";
import { addWorkspaceCommands } from "./workspaces.ts";

interface JsonOption {
  readonly json?: boolean;
}

/** Creates the whole command line, ready to parse. If no command is to run, parsing prints the reason and throws CommanderError. */
export function createProgram(): Command {
  const program = new Command("tollgate")
    .description("A self-hosted gateway in front of generative models.")
    .version(version)
    .showHelpAfterError("(add --help for the options)")
    .configureHelp({ sortSubcommands: false })
    .configureOutput({
      // Commander prints help and the version before any action begins.
      writeOut(text) {
        watchOutput();
        process.stdout.write(text);
      },
      outputError: (text, write) => write(text.replace(/^error: /, "tollgate: ")),
    });
  program.exitOverride();

  addServeCommands(program);
  addKeyCommands(
    program
      .command("keys")
      .description("API keys: create, list, disable, enable, revoke, reveal, rotate"),
  );
  addWorkspaceCommands(program.command("workspaces").description("workspaces: list, create, set"));
  addMemberCommands(
    program.command("members").description("members of a workspace: list, add, set, remove"),
  );
  addCreditCommands(
    program.command("credits").description("a workspace's credit: add, take, show, list"),
  );
  addEraseCommands(program.command("erase").description("erase personal data: end-user, person"));
  addUsageCommand(program);
  addRequestCommands(program);
  addVendorsCommand(program);
  addModelsCommand(program);
  addProviderCommands(
    program
      .command("providers")
      .description("providers: list, add, change, remove, test, pause, resume, credentials"),
  );
  addCatalogCommands(
    program.command("catalog").description("the list of vendors' models: update, list, rollback"),
  );
  addConfigCommands(
    program.command("config").description("the configuration file: check, schema, example, print"),
  );
  addConvertCommands(program);
  addDoctorCommand(program);
  addDatabaseCommands(program);
  addCompletionCommand(program);
  for (const command of allCommands(program)) command.exitOverride();
  return program;
}

/** Commands that run until they are stopped. */
function addServeCommands(program: Command): void {
  program
    .command("serve", { isDefault: true })
    .description("run the gateway")
    .option("--port <port>", "port to listen on (PORT; 8080)")
    .option("--host <address>", "address to listen on (HOST; 127.0.0.1)")
    .option("--config <file>", "configuration file (TOLLGATE_CONFIG; tollgate.yaml if it exists)")
    .option(
      "--workers <count>",
      "processes that share the port (TOLLGATE_WORKERS; 1 with the embedded database, else one for each core and GB of memory)",
    )
    .action(async (options: ServeOptions) => (await import("./serve.ts")).serve(options));
  program
    .command("sandbox")
    .description("run the simulated vendors alone, with their journal at /__journal")
    .option("--port <port>", "port to listen on", "8081")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .action(async (options: { port: string; host: string }) =>
      (await import("./sandbox.ts")).sandboxCommand(options),
    );
}

function addDoctorCommand(program: Command): void {
  program
    .command("doctor")
    .description(
      "check everything that a gateway needs (configuration, database, disk, providers) and say what to do; exit 1 if a check fails",
    )
    .option("--config <file>", "the file (TOLLGATE_CONFIG; tollgate.yaml if it exists)")
    .option("--json", "print the results as JSON")
    .action(async (options: FileOption) => (await import("./doctor/index.ts")).doctor(options));
}

/** Commands on the database as a whole. */
function addDatabaseCommands(program: Command): void {
  program
    .command("verify")
    .description(
      "recompute every balance and counter from the ledger's entries; exit 1 on any difference",
    )
    .option("--json", "print the differences as JSON")
    .action(async (options: JsonOption) => (await import("./verify.ts")).verifyCommand(options));
  program
    .command("migrate")
    .description("upgrade the database's schema (serve does this by itself)")
    .option("--json", "print the applied migrations as JSON")
    .action(async (options: JsonOption) => (await import("./migrate.ts")).migrateCommand(options));
  program
    .command("rotate-master-key")
    .description(
      "replace the master key TOLLGATE_MASTER_KEY_PREVIOUS by TOLLGATE_MASTER_KEY and seal everything again; gateways continue",
    )
    .option("--json", "print the sealed values' counts as JSON")
    .action(async (options: JsonOption) =>
      (await import("./rotate-master-key.ts")).rotateMasterKeyCommand(options),
    );
  program
    .command("export <what>")
    .description(
      "write days of `requests` or `ledger` as JSON lines (gzip) or Parquet, one file a day",
    )
    .requiredOption("--from <day>", "the first day in UTC, such as 2026-11-01")
    .option("--to <day>", "the last day, included (the first)")
    .option("--into <place>", "a folder, or s3://bucket/prefix (exports.to of the configuration)")
    .option("--format <format>", "jsonl or parquet (exports.format of the configuration, or jsonl)")
    .option("--json", "print one line of JSON for each file, when it is written")
    .action(async (what: string, options: ExportOptions) =>
      (await import("./export.ts")).exportCommand(what, options),
    );
  program
    .command("backup <file>")
    .description(
      "write everything except the master key to a file (-: standard output); a running gateway continues",
    )
    .option("--json", "print the backup's contents as JSON")
    .action(async (file: string, options: JsonOption) =>
      (await import("./backup.ts")).backupCommand(file, options),
    );
  program
    .command("restore <file>")
    .description(
      "restore a backup (-: standard input) into the embedded database or DATABASE_URL, in one transaction",
    )
    .option(
      "--replace",
      "delete the contents of the database; without this option the database must be unused",
    )
    .option("--json", "print the restored contents as JSON")
    .action(async (file: string, options: RestoreCommandOptions) =>
      (await import("./backup.ts")).restoreCommand(file, options),
    );
}

function allCommands(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...allCommands(child)]);
}
