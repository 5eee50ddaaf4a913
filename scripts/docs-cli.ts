/** docs/cli.md, from the commander program that reads the command line. */
import type { Command } from "commander";
import { createProgram } from "../src/cli/program.ts";

const introduction = `# Command line

<!-- Generated from the command line program by \`npm run docs\`. -->

\`npx tollgate <command>\`; \`npm start -- <options>\` is \`npx tollgate serve <options>\`.

Run \`npx\` in the checkout, or in the folder where the package is installed. Elsewhere it offers to download whatever package has this
name in the registry: say no.

A command exits with 0 when it is done. It exits with 1 when it failed, found a difference, or what it was to work on is not there. It exits
with 2 for wrong usage or a mistake in the configuration.

`;

const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("\n", " ");

/** One command with its own options, then the commands below it. */
function section(command: Command, parents: readonly string[]): string[] {
  const path = [...parents, command.name()];
  const lines: string[] = [];
  if (parents.length > 0) {
    lines.push(`## ${path.slice(1).join(" ")}`, "", command.description(), "");
    const usage = [...path, command.usage()].join(" ").trim();
    lines.push("```", usage, "```", "");
  }
  if (command.options.length > 0) {
    lines.push("| option | meaning | default |", "|---|---|---|");
    for (const option of command.options) {
      const preset = option.defaultValueDescription ?? option.defaultValue;
      const shown = preset === undefined ? "" : `\`${cell(String(preset))}\``;
      lines.push(`| \`${cell(option.flags)}\` | ${cell(option.description)} | ${shown} |`);
    }
    lines.push("");
  }
  return [...lines, ...command.commands.flatMap((child) => section(child, path))];
}

/** The page as Markdown. */
export function commandLinePage(): string {
  return introduction + section(createProgram(), []).join("\n");
}
