/** Runs one command line. Exit codes: 0 done, 1 failed or a difference found, 2 wrong usage or configuration. */
import { CommanderError, type Command } from "commander";
import { printableLines } from "../base/printable.ts";
import { explain } from "./explain.ts";
import { withOption } from "./flag-names.ts";
import { createProgram } from "./program.ts";
import { watchOutput } from "./standard-output.ts";
import { refuseUnknownCommand, refuseWrongOptions } from "./unknown-words.ts";

/** Commands that continue when the reader of their output has gone. */
const longRunning: ReadonlySet<string> = new Set(["serve", "sandbox"]);

/** Runs the command that `given` names. Prints its errors, and sets the process's exit code. */
export async function runCommand(given: readonly string[]): Promise<void> {
  const words = withHelp(given);
  const program = createProgram();
  let running: Command | undefined;
  program.hook("preAction", (_program, command) => {
    running = command;
    if (!longRunning.has(command.name())) watchOutput();
  });
  try {
    refuseUnknownCommand(program, words);
    refuseWrongOptions(program, words);
    await program.parseAsync(words, { from: "user" });
  } catch (error) {
    process.exitCode = await endOf(error, running);
  }
}

/** Rewrites `help keys create`: commander would use only the first name. */
const withHelp = (words: readonly string[]): readonly string[] =>
  words[0] === "help" && words.length > 2 ? [...words.slice(1), "--help"] : words;

/** Prints the `error` that ended `command`, and returns the exit code. */
async function endOf(error: unknown, command: Command | undefined): Promise<number> {
  // Commander has printed it: wrong usage, or help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const { text, exitCode } = await explain(error);
  console.error(
    text === undefined ? error : `tollgate: ${printableLines(withOption(text, command))}`,
  );
  return exitCode;
}
