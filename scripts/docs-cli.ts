/** Generates docs/cli.md from the commander program that reads the command line. */
import type { Command, Option } from "commander";
import { createProgram } from "../src/cli/program.ts";

const introduction = `# Command line

<!-- Generated from the command line program by \`npm run docs\`. -->

\`npx tollgate <command>\`; \`npm start -- <options>\` is \`npx tollgate serve <options>\`.

Run \`npx\` in the checkout, or in the folder where the package is installed. Elsewhere \`npx\` offers to download some
package of this name from the registry: answer no.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | failed, found a difference, or the gateway has no such workspace, member, key or call |
| 2 | wrong usage, a file that cannot be read, or a mistake in the configuration |

`;

/** An option that at least this many commands have, with the same meaning, is described once. */
const commandsMin = 10;

const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("\n", " ");

const rowOf = (option: Option): string => {
  const preset = option.defaultValueDescription ?? option.defaultValue;
  const shown = preset === undefined ? "" : `\`${cell(String(preset))}\``;
  return `| \`${cell(option.flags)}\` | ${cell(option.description)} | ${shown} |`;
};

const table = (rows: readonly string[]): string[] =>
  rows.length === 0 ? [] : ["| option | meaning | default |", "|---|---|---|", ...rows, ""];

const everyOption = (command: Command): readonly Option[] => [
  ...command.options,
  ...command.commands.flatMap(everyOption),
];

/** The options that many commands have, by their table rows. */
function sharedOptions(program: Command): ReadonlyMap<string, string> {
  const byRow = Map.groupBy(everyOption(program), rowOf);
  return new Map(
    [...byRow].flatMap(([row, all]) => (all.length < commandsMin ? [] : [[row, all[0]!.long!]])),
  );
}

/** The section of a command with its own options, then its subcommands. */
function section(
  command: Command,
  parents: readonly string[],
  shared: ReadonlyMap<string, string>,
): string[] {
  const path = [...parents, command.name()];
  const lines: string[] = [];
  if (parents.length > 0) {
    lines.push(`## ${path.slice(1).join(" ")}`, "", command.description(), "");
    const usage = [...path, command.usage()].join(" ").trim();
    if (command.commands.length === 0) lines.push("```", usage, "```", "");
  }
  const rows = command.options.map(rowOf);
  lines.push(...table(rows.filter((row) => !shared.has(row))));
  const also = rows.flatMap((row) => (shared.has(row) ? [`\`${shared.get(row)}\``] : []));
  if (also.length > 0) lines.push(`Also [${also.join(" and ")}](#command-line).`, "");
  return [...lines, ...command.commands.flatMap((child) => section(child, path, shared))];
}

/** The page as Markdown. */
export function commandLinePage(): string {
  const program = createProgram();
  const shared = sharedOptions(program);
  const lines = ["Options of many commands:", "", ...table([...shared.keys()])];
  return introduction + [...lines, ...section(program, [], shared)].join("\n");
}
