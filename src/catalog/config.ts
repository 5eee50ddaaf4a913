/** Reads, checks and builds the configuration file. docs/configuration.md. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { fileText } from "../base/text.ts";
import { buildCatalog } from "./build.ts";
import type { Environment } from "./environment.ts";
import type { Finding, Mistake, Path } from "./mistakes.ts";
import type { OwnPrices } from "./own-prices.ts";
import { checkReferences } from "./references.ts";
import { numericKeys, type ConfigFile } from "./schema.ts";
import { checkSecrets } from "./secrets.ts";
import { settingsOf, type Settings } from "./settings.ts";
import { TlsFiles } from "./tls-files.ts";
import type { Catalog, KnownProvider } from "./types.ts";
import { validateFile } from "./validate.ts";
import { parseYaml, withoutQuote } from "./yaml-text.ts";

/** The contents of a configuration file. */
export interface Config {
  /** Only the file's own providers and models; `mergeCatalogs` adds the sandbox. */
  readonly catalog: Catalog;
  readonly settings: Settings;
  /** The operator's prices for models of vendors that an environment variable activates. */
  readonly prices?: OwnPrices | undefined;
  /** The names of the environment variables that the file uses. */
  readonly variables?: ReadonlySet<string>;
  /** The line of each provider, by its id. */
  readonly lines?: ReadonlyMap<string, number>;
  /** The file's values with every `${NAME}` left in, disguised; for `printConfig`. */
  readonly source: unknown;
  /** SHA-256 of the text, of the files that it names and of the variables that it uses. It changes when any of them changes. */
  readonly digest: string;
  /** The files that it names, as they were read; absent if none was read. */
  readonly files?: Pick<TlsFiles, "isCurrent"> | undefined;
}

/** A configuration, or all mistakes in it. */
export type ConfigResult =
  | { readonly config: Config }
  | { readonly mistakes: readonly Mistake[]; readonly files?: Config["files"] };

export interface ConfigOptions {
  /** The variables that `${NAME}` may use: `process.env`. */
  readonly environment: Environment;
  /** The file name in mistakes; `tollgate.yaml` if absent. */
  readonly file?: string | undefined;
  /** Providers that exist without the file (the sandbox's); offers may name them. */
  readonly knownProviders?: readonly KnownProvider[] | undefined;
  /** The ids of models that exist without the file. */
  readonly knownModels?: readonly string[] | undefined;
  /** The folder of relative file names; the working directory if absent. */
  readonly folder?: string | undefined;
}

const byPlace = (left: Mistake, right: Mistake): number =>
  left.line - right.line || left.column - right.column;

/** Reads a configuration text. Returns all mistakes at once, in the order of the text; never throws. */
export function checkConfig(text: string, options: ConfigOptions): ConfigResult {
  try {
    return checked(text, options);
  } catch (error) {
    return unreadable(options.file ?? "tollgate.yaml", error);
  }
}

const unreadable = (file: string, error: unknown): ConfigResult => ({
  mistakes: [
    {
      file,
      line: 1,
      column: 1,
      path: "",
      message: `cannot be read: ${withoutQuote(reasonOf(error))}`,
      fix: "",
    },
  ],
});

function checked(text: string, options: ConfigOptions): ConfigResult {
  const yaml = parseYaml(text, {
    file: options.file ?? "tollgate.yaml",
    environment: options.environment,
    isNumeric: (key) => numericKeys.has(key),
  });
  if (yaml.value === undefined) return { mistakes: [...yaml.mistakes].sort(byPlace) };
  const known = options.knownProviders ?? [];
  const files = new TlsFiles(options.folder);
  const findings = [
    ...validateFile(yaml.value, yaml.written),
    ...checkReferences(yaml.value, { known, knownModels: options.knownModels, files }),
    ...checkSecrets(yaml.value),
    ...undecoded(yaml.source),
  ];
  const mistakes = [...yaml.mistakes, ...withoutEchoes(findings.map(yaml.locate), yaml.mistakes)];
  if (mistakes.length > 0) return { mistakes: mistakes.sort(byPlace), files };
  const file = yaml.value as ConfigFile;
  const variables = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name!));
  const values = [...variables].map((name) => options.environment[name] ?? null);
  return {
    config: {
      catalog: buildCatalog(file, known, files),
      settings: settingsOf(file, files),
      prices: file.prices,
      variables,
      lines: new Map(
        (file.providers ?? []).map(({ id }, index) => [
          id,
          yaml.locate({ path: ["providers", index], message: "" }).line,
        ]),
      ),
      source: yaml.source,
      digest: digestOf(JSON.stringify([text, files.contents, values])),
      files,
    },
  };
}

/** Texts with bytes that are not UTF-8, as in a file saved as Latin-1: they would be read as another name, key or header. */
function undecoded(value: unknown, path: Path = []): Finding[] {
  if (typeof value === "string" && value.includes("\ufffd"))
    return [{ path, message: "has characters that are not UTF-8", fix: "save the file as UTF-8" }];
  if (typeof value !== "object" || value === null) return [];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([key, inner]) =>
    undecoded(inner, [...path, isList ? Number(key) : key]),
  );
}

/** Drops the second mistake of an unset variable: its value is empty, which the schema refuses as well. */
function withoutEchoes(mistakes: readonly Mistake[], unset: readonly Mistake[]): Mistake[] {
  const places = new Set(unset.map((mistake) => `${mistake.line}:${mistake.column}`));
  return mistakes.filter((mistake) => !places.has(`${mistake.line}:${mistake.column}`));
}

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Loads a file from disk. If it cannot be read, returns that as a mistake. */
export async function loadConfig(path: string, options: ConfigOptions): Promise<ConfigResult> {
  const file = options.file ?? basename(path);
  try {
    const text = fileText(await readFile(path));
    return checkConfig(text, { folder: dirname(path), ...options, file });
  } catch (error) {
    return unreadable(file, error);
  }
}

function reasonOf(error: unknown): string {
  // The YAML parser only reports a stack overflow.
  if (error instanceof RangeError)
    return "it has no end: an alias such as *name stands within what &name marks, or lists stand thousands deep in each other";
  return error instanceof Error ? error.message : "unknown";
}

/** Merges catalogues. For equal ids the later catalogue wins. */
export function mergeCatalogs(...catalogs: readonly Catalog[]): Catalog {
  const last = <Setting>(of: (catalog: Catalog) => Setting | undefined): Setting | undefined =>
    catalogs.map(of).findLast((setting) => setting !== undefined);
  return {
    defaultModel: last(({ defaultModel }) => defaultModel),
    promptCaching: last(({ promptCaching }) => promptCaching),
    providers: new Map(catalogs.flatMap(({ providers }) => [...providers])),
    models: new Map(catalogs.flatMap(({ models }) => [...models])),
    unpriced: new Map(catalogs.flatMap(({ unpriced = [] }) => [...unpriced])),
  };
}
