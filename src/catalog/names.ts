/**
 * Aliases of models, for programs with fixed model names. docs/routing.md "Names".
 * An alias is a full name, or a prefix followed by `*`. `default_model` serves all other names.
 */
import { memoizeByObject } from "../base/memoize.ts";
import type { Catalog } from "./types.ts";

/** Resolves names to model ids. */
export interface ModelNames {
  /** Resolves an id or a full alias. */
  whole(name: string): string | undefined;
  /** Resolves an id or alias, else the longest matching prefix, else the default model. */
  any(name: string): string | undefined;
}

/** True for an alias that matches every name with its prefix: `gpt-*`. */
export const isPattern = (alias: string): boolean => alias.endsWith("*");

export const modelNames = memoizeByObject(readNames);

function readNames({ models, defaultModel }: Catalog): ModelNames {
  const aliases = new Map<string, string>();
  for (const { id, aliases: own = [] } of models.values())
    for (const alias of own) aliases.set(alias, id);
  const beginnings = [...aliases]
    .filter(([alias]) => isPattern(alias))
    .map(([alias, id]) => ({ beginning: alias.slice(0, -1), id }))
    .sort((left, right) => right.beginning.length - left.beginning.length);
  // Callers cannot name a pattern itself.
  const whole = (name: string): string | undefined =>
    models.has(name) ? name : isPattern(name) ? undefined : aliases.get(name);
  return {
    whole,
    any: (name) =>
      whole(name) ??
      beginnings.find(({ beginning }) => name.startsWith(beginning))?.id ??
      defaultModel,
  };
}
