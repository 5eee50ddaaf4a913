/**
 * Refuses unknown words of a command line. Commander would take an unknown command as an argument of `serve`, the default. For an
 * unknown option, commander first reports missing required options: a misspelt `--name` would be reported as missing. If an
 * option is there twice, commander uses the last value only: `usage --tag customer:acme --tag project:x` would show the sums of all customers.
 */
import type { Command } from "commander";
import { suggest } from "../base/suggest.ts";
import { UsageError } from "./usage-error.ts";

/** Refuses words that name no command. `words`: the command line. @throws UsageError with the nearest known ones */
export function refuseUnknownCommand(program: Command, words: readonly string[]): void {
  // `help keys create` and `keys help create` both show the help of `keys create`.
  const named = words.filter((word) => word !== "help");
  let command = program;
  for (const [depth, word] of named.entries()) {
    if (word.startsWith("-") || command.commands.length === 0) return;
    const next = command.commands.find((child) => child.name() === word);
    if (next === undefined)
      throw new UsageError(
        `there is no command "${named.slice(0, depth + 1).join(" ")}"; ${likely(command, word)}`,
      );
    command = next;
  }
}

function likely(command: Command, word: string): string {
  const names = command.commands.map((child) => child.name());
  // For example `create`, which several commands have.
  const below = command.commands.flatMap((child) =>
    child.commands.some((grandchild) => grandchild.name() === word)
      ? `${child.name()} ${word}`
      : [],
  );
  return below.length === 0
    ? suggest(word, names)
    : `did you mean ${below.map((each) => `"${each}"`).join(" or ")}?`;
}

/**
 * Refuses an option that the command of `words` does not have, or that is there with two values.
 * @throws UsageError with the nearest option that it has
 */
export function refuseWrongOptions(program: Command, words: readonly string[]): void {
  const { command, rest } = commandOf(program, words);
  if (command === undefined) return;
  const known = [...command.options, ...program.options];
  const seen = new Set<string>();
  for (let at = 0; at < rest.length && rest[at] !== "--"; at += 1) {
    const [name, value] = rest[at]!.split(/=(.*)/s) as [string, string | undefined];
    if (!name.startsWith("--") || name === "--help") continue;
    const option = known.find(({ long }) => long === name);
    if (option === undefined) throw new UsageError(refusal(program, command, name));
    if (!option.required) continue;
    if (seen.has(name)) throw new UsageError(`${name} is there twice; ${onceOf(option)}`);
    seen.add(name);
    // The next word is the option's value, even if it looks like an option.
    if (value === undefined) at += 1;
  }
}

const onceOf = ({ description }: Command["options"][number]): string =>
  description.includes("separated by commas")
    ? "name all values at once, separated by commas"
    : "name one value";

const longOf = ({ long }: Command["options"][number]): string[] => (long ? [long] : []);

/** Returns the command to run, and the words after its name; no command if a group of commands or help is named. */
function commandOf(program: Command, words: readonly string[]) {
  let command = program;
  let depth = 0;
  for (; depth < words.length && command.commands.length > 0; depth += 1) {
    const next = command.commands.find((child) => child.name() === words[depth]);
    if (next === undefined) break;
    command = next;
  }
  const rest = words.slice(depth);
  if (command === program)
    return { command: program.commands.find((child) => child.name() === "serve"), rest };
  return { command: command.commands.length === 0 ? command : undefined, rest };
}

function refusal(program: Command, command: Command, name: string): string {
  const words = namesOf(command).join(" ");
  // Without a command's name, `--verison` is a typing mistake of a program option.
  const ofAll = command.name() === "serve" ? program.options : [];
  const argument = command.registeredArguments.find((one) => `--${one.name()}` === name);
  const meant = argument
    ? `write the value alone: tollgate ${words} <${argument.name()}>`
    : suggest(name, [...command.options, ...ofAll].flatMap(longOf).concat("--help"));
  return `"${words}" has no option "${name}"; ${meant}`;
}

const namesOf = (command: Command): string[] =>
  command.parent === null ? [] : [...namesOf(command.parent), command.name()];
