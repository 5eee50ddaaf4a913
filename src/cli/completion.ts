/**
 * `tollgate completion`: prints a script that completes commands and options in bash and zsh, generated from the program itself.
 * docs/cli.md.
 */
import type { Command } from "commander";
import { wordOf } from "./fields.ts";

/** The possible continuations of a command line. */
interface Place {
  /** The words so far, such as `keys create`; empty for the first word. */
  readonly words: string;
  readonly offered: readonly string[];
}

/** Every command with its options and subcommands. */
function placesOf(command: Command, words = ""): Place[] {
  const { commands } = command;
  const flags = [...command.options.flatMap(({ long }) => long ?? []), "--help"];
  return [
    { words, offered: [...commands.map((child) => child.name()), ...flags] },
    ...commands.flatMap((child) => placesOf(child, `${words} ${child.name()}`.trim())),
  ];
}

/** Returns the bash script. Names of commands and options have letters and dashes only, so nothing needs escaping. */
function bashScript(program: Command): string {
  const places = placesOf(program);
  const known = places.filter(({ words }) => words !== "").map(({ words }) => `"${words}"`);
  return [
    "_tollgate() {",
    '  local at="" next offered i',
    "  for ((i = 1; i < COMP_CWORD; i++)); do",
    '    next="${at:+$at }${COMP_WORDS[i]}"',
    '    case "$next" in',
    `      ${known.join("|")}) at="$next" ;;`,
    "    esac",
    "  done",
    '  case "$at" in',
    ...places.map(({ words, offered }) => `    "${words}") offered="${offered.join(" ")}" ;;`),
    "  esac",
    '  COMPREPLY=($(compgen -W "$offered" -- "${COMP_WORDS[COMP_CWORD]}"))',
    "}",
    "complete -o default -F _tollgate tollgate",
  ].join("\n");
}

const shells = {
  bash: bashScript,
  zsh: (program: Command) => `autoload -U +X bashcompinit && bashcompinit\n${bashScript(program)}`,
};

export function addCompletionCommand(program: Command): void {
  program
    .command("completion <shell>")
    .description("print a script that completes commands and options in a shell: bash or zsh")
    .addHelpText(
      "after",
      '\nIn ~/.bashrc: eval "$(tollgate completion bash)"; in ~/.zshrc, behind compinit, the same with zsh.',
    )
    .action((shell: string) => {
      const known = Object.keys(shells) as (keyof typeof shells)[];
      console.log(shells[wordOf(shell, "<shell>", known)](program));
    });
}
