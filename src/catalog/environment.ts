/**
 * `${NAME}` and `${NAME:-default}` in the configuration file. docs/configuration.md. An empty variable counts as absent.
 *
 * A placeholder may be unquoted, `{ api_key: ${OPENAI_API_KEY} }`, where YAML would stop at its brace.
 * So before parsing, each of its characters is replaced by a private-use character, which YAML takes as text ("disguised").
 * This keeps the positions of everything else, and YAML syntax in a value has no effect.
 */

import { isSecretVariable } from "../base/secret-variables.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

const disguiseStart = 0xe000;
const placeholder = /\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[\x20-\x7c\x7e]*)?\}/g;
const disguised = /[\ue000-\ue07f]+/g;

/** Returns the text with its placeholders disguised; the length stays the same. */
export function disguise(text: string): string {
  return text.replace(placeholder, (match) =>
    Array.from(match, (letter) => String.fromCharCode(disguiseStart + letter.charCodeAt(0))).join(
      "",
    ),
  );
}

/** Restores the placeholders as they were written; for texts that are not values, such as keys and messages. */
export function undisguise(text: string): string {
  return text.replace(disguised, (match) =>
    Array.from(match, (letter) => String.fromCharCode(letter.charCodeAt(0) - disguiseStart)).join(
      "",
    ),
  );
}

export const isDisguised = (text: string): boolean => /[\ue000-\ue07f]/.test(text);

interface Placeholders {
  /** The text around the placeholders. */
  readonly rest: string;
  /** The placeholders without their defaults (except `none`), disguised. */
  readonly bare: string;
}

/** Splits a disguised text into placeholders and the rest, for values whose defaults must not be shown. */
export function placeholdersOf(text: string): Placeholders {
  return {
    rest: text.replace(disguised, ""),
    bare: disguise(
      undisguise(text).replace(placeholder, (match) =>
        match.endsWith(":-none}") ? match : match.replace(/:-.*\}$/, "}"),
      ),
    ),
  };
}

/** Expands the placeholders of a value; also returns the names of unset variables. */
export function expand(
  text: string,
  environment: Environment,
): { readonly text: string; readonly unset: readonly string[] } {
  const unset: string[] = [];
  const expanded = undisguise(text).replace(placeholder, (match) => {
    const body = match.slice(2, -1);
    const split = body.indexOf(":-");
    const name = split === -1 ? body : body.slice(0, split);
    const value = environment[name];
    if (value !== undefined && value !== "") return value;
    if (split !== -1) return body.slice(split + 2);
    unset.push(name);
    return "";
  });
  return { text: expanded, unset };
}

/** Shorter values may be parts of other words. */
const secretMin = 8;

/** Returns a function that replaces secret values in a message by `${NAME}`, for the secret variables that the file's text names. */
export function withoutSecrets(text: string, environment: Environment): (said: string) => string {
  const names = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name!));
  const secrets = [...names].flatMap((name) => {
    const value = environment[name] ?? "";
    if (value.length < secretMin || !isSecretVariable(name)) return [];
    return [value, JSON.stringify(value).slice(1, -1)].map((spelt) => [spelt, name] as const);
  });
  // Longest first, since one value may contain another.
  secrets.sort(([left], [right]) => right.length - left.length);
  return (said) =>
    secrets.reduce((shown, [value, name]) => shown.replaceAll(value, () => `\${${name}}`), said);
}
