/**
 * Other names of models: what programs with a name of their own written into them call. docs/routing.md "Names".
 * An alias is a whole name, or a beginning with a star after it; `default_model` answers to whatever nobody else does.
 */
import { perObject } from "../base/made-once.ts";
import type { Catalog } from "./types.ts";

/** Looks up which model a name means; the answers are model ids. */
export interface ModelNames {
  /** By id or whole alias. */
  whole(name: string): string | undefined;
  /** Also by the longest beginning that fits, and at last the default model. */
  any(name: string): string | undefined;
}

/** An alias that stands for all names with its beginning: `gpt-*`. */
export const isPattern = (alias: string): boolean => alias.endsWith("*");

export const modelNames = perObject(readNames);

function readNames({ models, defaultModel }: Catalog): ModelNames {
  const aliases = new Map<string, string>();
  for (const { id, aliases: own = [] } of models.values())
    for (const alias of own) aliases.set(alias, id);
  const beginnings = [...aliases]
    .filter(([alias]) => isPattern(alias))
    .map(([alias, id]) => ({ beginning: alias.slice(0, -1), id }))
    .sort((left, right) => right.beginning.length - left.beginning.length);
  // A name with a star in it is nobody's: patterns are not names.
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
