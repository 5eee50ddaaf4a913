/** `tollgate convert` and its options; litellm/ implements it. docs/litellm.md. */
import type { Command } from "commander";
import type { ConvertOptions } from "./litellm/index.ts";

export function addConvertCommands(program: Command): void {
  program
    .command("convert")
    .description("convert another gateway's configuration: litellm")
    .command("litellm <file>")
    .description(
      "convert a LiteLLM proxy's config.yaml to our configuration file, and report each field: taken over, changed, not supported",
    )
    .option("--out <file>", "the file to write (standard output)")
    .option("--force", "replace the file that --out names")
    .option("--json", "print the file, its variables and the report as JSON")
    .addHelpText(
      "after",
      "\nSecrets are never copied: each becomes a variable to set. The report goes to standard error where the file goes to\n" +
        "standard output. Exit code 1: no model could be converted.",
    )
    .action(async (file: string, options: ConvertOptions) =>
      (await import("./litellm/index.ts")).convert(file, options),
    );
}
