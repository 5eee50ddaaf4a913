/** `tollgate convert litellm`: converts a LiteLLM proxy's configuration into ours, and reports every field. docs/litellm.md. */
import { readFile, writeFile } from "node:fs/promises";
import { counted } from "../../base/counted.ts";
import { reasonOf } from "../../base/errors.ts";
import { fileText } from "../../base/text.ts";
import { formatMistakes } from "../../catalog/index.ts";
import { UsageError } from "../usage-error.ts";
import { printJson } from "../print.ts";
import { convertLitellm, type Converted } from "./convert.ts";

export interface ConvertOptions {
  readonly out?: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

/** Converts a file. The exit code is 1 if no model could be converted. @throws UsageError for a file that cannot be read or written */
export async function convert(file: string, options: ConvertOptions): Promise<void> {
  const converted = convertLitellm(await read(file), file);
  if (converted.mistakes.length > 0)
    throw new Error(
      `the converted file does not pass the check; report this: ${formatMistakes(converted.mistakes)}`,
    );
  const isWritten = options.out !== undefined && converted.models > 0;
  if (isWritten) await write(options.out, converted.config, options.force === true);
  if (converted.models === 0) process.exitCode = 1;
  const { config, variables, rows } = converted;
  if (options.json) return printJson({ config, variables, report: rows });
  // If the file goes to standard output, the report goes to standard error.
  const say = options.out === undefined ? console.error : console.log;
  if (options.out === undefined && converted.models > 0) console.log(config.trimEnd());
  for (const line of summary(converted, isWritten ? options.out : undefined)) say(line);
}

function summary({ models, variables, report }: Converted, out: string | undefined): string[] {
  const written = out === undefined ? "" : ` Written to ${out}.`;
  const found =
    models === 0
      ? "No model could be converted; nothing is written."
      : `${counted(models, "model")}.${written}`;
  const needed = variables.map(
    ({ name, fields, literal }) =>
      `  ${name}${literal ? `: the value that stands at ${fields.join(", ")}; it was not copied` : ""}`,
  );
  return [
    found,
    ...report.lines(),
    ...(needed.length === 0 ? [] : ["", "Set before the gateway starts:", ...needed]),
    ...(out === undefined ? [] : ["", `Then: tollgate config check --config ${out}`]),
  ];
}

async function read(file: string): Promise<string> {
  try {
    return fileText(await readFile(file));
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${reasonOf(error)}`);
  }
}

async function write(out: string, config: string, force: boolean): Promise<void> {
  try {
    await writeFile(out, config, { flag: force ? "w" : "wx" });
  } catch (error) {
    const isThere = error instanceof Error && "code" in error && error.code === "EEXIST";
    throw new UsageError(
      isThere
        ? `${out} is already there; add --force to replace it, or name another file with --out`
        : `${out} cannot be written: ${reasonOf(error)}`,
    );
  }
}
