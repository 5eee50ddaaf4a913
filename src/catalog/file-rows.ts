/** A provider with its models as a configuration file has them, to be added over the management API. */
import { isObject, type WireObject } from "../base/json.ts";
import type { Environment } from "./environment.ts";
import type { Mistake } from "./mistakes.ts";
import { rowsAt } from "./rows.ts";
import { numericKeys } from "./schema.ts";
import { parseYaml } from "./yaml-text.ts";

interface FileOptions {
  /** Where `${NAME}` is looked up. */
  readonly environment: Environment;
  readonly file: string;
}

/**
 * The provider of an id in a file's text, and of each model the offers that are the provider's. Undefined where there is no
 * such provider; mistakes only of the text itself: the rest is checked where it is added.
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
