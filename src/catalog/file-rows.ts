/** Reads a provider with its models from a configuration file, to add it over the management API. */
import { isObject, type WireObject } from "../base/json.ts";
import type { Environment } from "./environment.ts";
import type { Mistake } from "./mistakes.ts";
import { rowsAt } from "./rows.ts";
import { numericKeys } from "./schema.ts";
import { parseYaml } from "./yaml-text.ts";

interface FileOptions {
  /** The variables that `${NAME}` may use. */
  readonly environment: Environment;
  readonly file: string;
}

/**
 * The provider with this id in a file's text, and its models with only this provider's offers. Undefined if there is no
 * such provider. Reports only mistakes of parsing; the management API checks the rest.
 */
export function providerRows(
  text: string,
  id: string,
  { environment, file }: FileOptions,
): { readonly row: WireObject | undefined } | { readonly mistakes: readonly Mistake[] } {
  const isNumeric = (key: string): boolean => numericKeys.has(key);
  const { value, mistakes } = parseYaml(text, { file, environment, isNumeric });
  if (mistakes.length > 0) return { mistakes };
  if (!isObject(value)) return { row: undefined };
  const found = rowsAt(value, "providers", []).find(({ row }) => row["id"] === id);
  if (found === undefined) return { row: undefined };
  const models = rowsAt(value, "models", []).flatMap(({ row, path }) => {
    const offers = rowsAt(row, "offers", path).flatMap((offer) =>
      offer.row["provider"] === id ? [offer.row] : [],
    );
    return offers.length === 0 ? [] : [{ ...row, offers }];
  });
  return { row: { ...found.row, ...(models.length > 0 && { models }) } };
}
