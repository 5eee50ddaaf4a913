/** Converts a LiteLLM proxy's configuration into ours, with a report of each field. docs/litellm.md. */
import type { Mistake } from "../../catalog/index.ts";
import { yamlText, mistakesOf } from "./check.ts";
import { credentialsOf, deploymentsOf } from "./deployments.ts";
import { addFallbacks } from "./fallbacks.ts";
import { parseLitellm, type Section } from "./file.ts";
import { modelsOf, type ModelRow } from "./models.ts";
import { Providers } from "./providers.ts";
import { Report, type ReportRow } from "./report.ts";
import { readSettings, type Settings } from "./settings.ts";
import { Variables, type Variable } from "./variables.ts";

/** The result of a conversion. */
export interface Converted {
  /** The configuration file's text. */
  readonly config: string;
  /** Number of models in it. */
  readonly models: number;
  /** The variables to set before the gateway starts. */
  readonly variables: readonly Variable[];
  readonly report: Report;
  readonly rows: readonly ReportRow[];
  /** Mistakes that our own check finds in the text; if there are any, the converter has a bug. */
  readonly mistakes: readonly Mistake[];
}

/** Converts a text. `file`: its name in messages. @throws UsageError for what is no configuration of LiteLLM */
export function convertLitellm(text: string, file: string): Converted {
  const source = parseLitellm(text, file);
  const report = new Report();
  const variables = new Variables();
  const providers = new Providers();
  const credentials = credentialsOf(source);
  const entries = source.sections("model_list");
  const deployments = entries.flatMap((entry) =>
    deploymentsOf(entry, { report, variables, credentials }),
  );
  const models = new Map(modelsOf(deployments, { providers, report }));
  const settings = settingsOf(source, models, report);
  const document = {
    providers: withTimeouts(providers.rows, settings),
    ...(settings.defaultModel !== undefined && { default_model: settings.defaultModel }),
    models: [...models.values()],
    ...settings.rows,
  };
  const config = comment(variables) + yamlText(document);
  const all = used(variables, config);
  return {
    config,
    models: models.size,
    variables: all,
    report,
    rows: report.rows,
    mistakes: mistakesOf(config),
  };
}

/** Converts the settings. Runs after the models: aliases, fallbacks and the default model need their ids. */
function settingsOf(source: Section, models: Map<string, ModelRow>, report: Report): Settings {
  const settings = readSettings(source, report);
  const aliases = new Map(settings.aliases);
  const idOf = (name: string): string | undefined =>
    (models.get(name) ?? models.get(aliases.get(name) ?? ""))?.id;
  for (const [alias, group] of settings.aliases) addAlias(models, { alias, group }, report);
  addFallbacks(source, models, idOf, report);
  const { defaultModel: name } = settings;
  const defaultModel = name === undefined ? undefined : idOf(name);
  if (name !== undefined && defaultModel === undefined)
    report.unsupported("general_settings.completion_model", "is a model that is not there");
  return { ...settings, defaultModel };
}

function addAlias(
  models: Map<string, ModelRow>,
  { alias, group }: { readonly alias: string; readonly group: string },
  report: Report,
): void {
  const field = `router_settings.model_group_alias.${alias}`;
  const row = models.get(group);
  if (row === undefined) return report.unsupported(field, unknownModelNote(group));
  const isTaken = [...models.values()].some(
    ({ id, aliases }) => id === alias || (aliases as string[] | undefined)?.includes(alias),
  );
  if (isTaken || !/^[^\s*]+\*?$/.test(alias) || alias.includes("${"))
    return report.unsupported(field, "the name is another model's, or no name");
  const { kind, offers, ...rest } = row;
  const aliases = [...((row["aliases"] as string[] | undefined) ?? []), alias];
  models.set(group, { ...rest, kind, aliases, offers });
  report.takenOver(field, `models[${row.id}].aliases`);
}

/**
 * The note on an unknown model. A wildcard is expanded into its models. Models served by `*` alone come from their vendor's variable,
 * and are not in the file.
 */
const unknownModelNote = (group: string): string =>
  group.includes("*")
    ? "is for a wildcard, which is many models here: name one of them"
    : "is for a model that is not there: models of * alone are not in the file";

const withTimeouts = (rows: readonly Record<string, unknown>[], { timeouts }: Settings) =>
  Object.keys(timeouts).length === 0
    ? rows
    : rows.map((row) => ({
        ...row,
        timeouts: { ...timeouts, ...(row["timeouts"] as object | undefined) },
      }));

function comment(variables: Variables): string {
  const names = variables.all().map(({ name }) => name);
  const needs = names.length === 0 ? "" : `# It reads: ${names.join(", ")}.\n`;
  return `# Converted from LiteLLM's configuration by \`tollgate convert litellm\`. Check prices and limits.\n${needs}`;
}

/** Returns the variables that the text still refers to. Models that were left out need none. */
const used = (variables: Variables, config: string): Variable[] =>
  variables.all().filter(({ name }) => config.includes(`\${${name}}`));
