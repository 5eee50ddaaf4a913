/** The `tollgate` command. Exit codes: 0 done, 1 failed or a difference found, 2 wrong usage or configuration. */
import type { Command } from "commander";
import { explain } from "./explain.ts";
import { createProgram } from "./program.ts";
import { refuseUnknownCommand } from "./unknown-command.ts";

async function main(program: Command): Promise<void> {
  try {
    refuseUnknownCommand(program, process.argv.slice(2));
    await program.parseAsync();
  } catch (error) {
    const { text, exitCode } = explain(error);
    console.error(text === undefined ? error : `tollgate: ${text}`);
    process.exitCode = exitCode;
  }
}

await main(createProgram());
