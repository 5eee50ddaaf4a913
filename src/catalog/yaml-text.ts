/** Parses a YAML text into values with known positions. Expands placeholders, in values only. */
import type * as Yaml from "yaml";
import type { Document, Node, Scalar, YAMLError } from "yaml";
import { lazyRequire } from "../base/lazy-require.ts";
import { maskUrlSecrets } from "../base/userinfo.ts";
import {
  disguise,
  expand,
  isDisguised,
  undisguise,
  withoutSecrets,
  type Environment,
} from "./environment.ts";
import { formatPath, type Finding, type Mistake, type Path } from "./mistakes.ts";

const yaml = lazyRequire<typeof Yaml>("yaml");

export interface YamlText {
  readonly value: unknown;
  /** The values before placeholders were expanded, with disguised placeholders. */
  readonly source: unknown;
  /** Syntax, duplicate keys and unset variables. */
  readonly mistakes: readonly Mistake[];
  /** Adds the position to a finding. */
  readonly locate: (finding: Finding) => Mistake;
  /** The source text of a value; undefined if there is none. */
  readonly written: (path: Path) => string | undefined;
}

/** Converts the value of a variable, `body_mb: ${BODY_MB}`, to a number or boolean if it looks like one. */
function plainValue(text: string): string | number | boolean {
  if (/^-?\d+(\.\d+)?$/.test(text) && text.length < 16) return Number(text);
  if (text === "true" || text === "false") return text === "true";
  return text;
}

/**
 * Expands every disguised scalar that is a value. It becomes a number if the key takes numbers, quoted or not: in JSON
 * it is always quoted. `isNumeric` decides, because a key or a price of digits must stay text.
 */
function expandScalars(
  document: Document,
  environment: Environment,
  isNumeric: (key: string) => boolean,
): { node: Scalar; unset: readonly string[] }[] {
  const { isScalar, visit } = yaml();
  const faults: { node: Scalar; unset: readonly string[] }[] = [];
  visit(document, {
    Pair(_key, pair) {
      const { key, value: node } = pair;
      if (!isScalar(key) || !isScalar(node) || typeof node.value !== "string") return;
      if (!isDisguised(node.value)) return;
      const { text, unset } = expand(node.value, environment);
      node.value = isNumeric(String(key.value)) ? plainValue(text) : text;
      if (unset.length > 0) faults.push({ node, unset });
    },
    Scalar(key, node) {
      // Pairs are visited before their values, so the remaining scalars are list entries or keys.
      if (key === "key" || typeof node.value !== "string" || !isDisguised(node.value)) return;
      const { text, unset } = expand(node.value, environment);
      node.value = text;
      if (unset.length > 0) faults.push({ node, unset });
    },
  });
  return faults;
}

/** The node at a path, or its nearest existing ancestor; for a map entry also its key. */
function nodeAt(document: Document, path: Path): { node: Node | null; key: Node | undefined } {
  const { isAlias, isMap, isScalar, isSeq } = yaml();
  let node: Node | null = document.contents;
  let key: Node | undefined;
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document) ?? null;
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === step);
      if (pair === undefined) return { node, key };
      key = pair.key as Node;
      node = (pair.value as Node | null) ?? key;
    } else if (isSeq(node) && typeof step === "number") {
      const item = node.items[step] as Node | undefined;
      if (item === undefined) return { node, key };
      key = undefined;
      node = item;
    } else return { node, key };
  }
  return { node, key };
}

const aliasesMax = 1000;

export interface YamlOptions {
  readonly file: string;
  readonly environment: Environment;
  /** True if the values of a key are numbers or booleans. */
  readonly isNumeric: (key: string) => boolean;
}

/** The parser's message without the quote of the file at its end: it may contain a key. */
export const withoutQuote = (message: string): string =>
  message.replace(
    /(in YAML stream|extra characters|before the alias\)|Unresolved tag): .*$/s,
    "$1",
  );

/** The parser's errors. After an unexpected token it reports all following tokens as unexpected; keep only the first. */
function errorsOf(document: Document): YAMLError[] {
  const first = document.errors.find(({ code }) => code === "UNEXPECTED_TOKEN");
  return document.errors.filter((error) => error === first || error.code !== "UNEXPECTED_TOKEN");
}

/** Parses a YAML text. Never throws: problems are in `mistakes`. */
export function parseYaml(text: string, options: YamlOptions): YamlText {
  const { isScalar, LineCounter, parseDocument } = yaml();
  const lines = new LineCounter();
  const document = parseDocument(disguise(text), {
    lineCounter: lines,
    prettyErrors: false,
    merge: true,
  });
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { file: options.file, line, column: col };
  };
  const mistakes: Mistake[] = errorsOf(document).map((error) => ({
    ...place(error.pos[0]),
    path: "",
    message:
      error.code === "MULTIPLE_DOCS"
        ? "a second document begins here; a configuration is one: take the line --- out"
        : `not valid YAML: ${undisguise(withoutQuote(error.message))}`,
    fix:
      error.code === "UNEXPECTED_TOKEN"
        ? "mend this place, or put the value in quotes; what follows was not read"
        : "",
  }));
  const isValid = document.errors.length === 0;
  const hide = withoutSecrets(text, options.environment);
  const source = isValid ? toValue(document) : undefined;
  const faults = expandScalars(document, options.environment, options.isNumeric);
  for (const { node, unset } of faults) {
    const [name] = unset;
    mistakes.push({
      ...place(node.range?.[0] ?? 0),
      path: "",
      message: `the environment variable ${unset.join(", ")} is not set`,
      fix: `set it, or give a default: \${${name}:-value}`,
    });
  }
  return {
    value: isValid ? toValue(document) : undefined,
    source,
    mistakes,
    // Mistakes are printed and logged, and a secret's variable may be in a field that is not for secrets.
    locate(finding) {
      const shown = (said: string): string => maskUrlSecrets(undisguise(hide(said)));
      const { node, key } = nodeAt(document, finding.path);
      const target = finding.atKey === true && key !== undefined ? key : node;
      return {
        ...place(target?.range?.[0] ?? 0),
        path: undisguise(formatPath(finding.path)),
        message: shown(finding.message),
        fix: shown(finding.fix ?? ""),
      };
    },
    written(path) {
      const { node } = nodeAt(document, path);
      return isScalar(node) ? (node.source ?? undefined) : undefined;
    },
  };
}

/** An empty file counts as an empty object: all its fields are optional. */
function toValue(document: Document): unknown {
  return document.toJS({ maxAliasCount: aliasesMax }) ?? {};
}
