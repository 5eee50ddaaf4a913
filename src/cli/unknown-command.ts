/** A word that is no command: reported as such, because anything else would be an argument of `serve`, the default. */
import type { Command } from "commander";
import { suggest } from "../base/suggest.ts";
import { UsageError } from "./environment.ts";

/** Refuses words that name no command. `words`: the command line. @throws UsageError with the nearest known ones */
export function refuseUnknownCommand(program: Command, words: readonly string[]): void {
  // `help keys create` and `keys help create` name what `keys create` does.
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
  // Such as `create`, which several commands have.
  const below = command.commands.flatMap((child) =>
    child.commands.some((grandchild) => grandchild.name() === word)
      ? `${child.name()} ${word}`
      : [],
  );
  return below.length === 0
    ? suggest(word, names)
    : `did you mean ${below.map((each) => `"${each}"`).join(" or ")}?`;
}
