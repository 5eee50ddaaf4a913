/**
 * `${NAME}` and `${NAME:-default}` in the configuration file. docs/configuration.md. An empty variable counts as absent.
 *
 * A placeholder may stand unquoted, `{ api_key: ${OPENAI_API_KEY} }`, where YAML itself would stop at its brace.
 * So before parsing each one is disguised, character by character, as private-use characters that YAML takes as text:
 * the positions of everything else stay true, and a value can never be read as YAML.
 */

import { isSecretVariable } from "../base/secret-variables.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

const disguiseStart = 0xe000;
const placeholder = /\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[\x20-\x7c\x7e]*)?\}/g;
const disguised = /[\ue000-\ue07f]+/g;

/** The text with its placeholders disguised; of the same length. */
export function disguise(text: string): string {
  return text.replace(placeholder, (match) =>
    Array.from(match, (letter) => String.fromCharCode(disguiseStart + letter.charCodeAt(0))).join(
      "",
    ),
  );
}

/** The placeholders as they were written. For whatever is not a value: keys, messages. */
export function undisguise(text: string): string {
  return text.replace(disguised, (match) =>
    Array.from(match, (letter) => String.fromCharCode(letter.charCodeAt(0) - disguiseStart)).join(
      "",
    ),
  );
}

export const isDisguised = (text: string): boolean => /[\ue000-\ue07f]/.test(text);

interface Placeholders {
  /** What stands around them. */
  readonly rest: string;
  /** The text with their defaults left out, but for `none`, in disguise. */
  readonly bare: string;
}

/** What a disguised text is made of, for a value whose defaults must not be shown. */
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

/** A value with its placeholders expanded, and the names of the variables that are not set. */
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

/** Shorter values are parts of other words. */
const secretMin = 8;

/** Puts `${NAME}` in the place of the value of each secret's variable that a file's text names. */
export function withoutSecrets(text: string, environment: Environment): (said: string) => string {
  const names = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name!));
  const secrets = [...names].flatMap((name) => {
    const value = environment[name] ?? "";
    if (value.length < secretMin || !isSecretVariable(name)) return [];
    return [value, JSON.stringify(value).slice(1, -1)].map((spelt) => [spelt, name] as const);
  });
  // One may be a part of another.
  secrets.sort(([left], [right]) => right.length - left.length);
  return (said) =>
    secrets.reduce((shown, [value, name]) => shown.replaceAll(value, () => `\${${name}}`), said);
}
