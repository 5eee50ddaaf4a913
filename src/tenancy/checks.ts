/** Checks shared by the settings of keys, workspaces and organizations. `param` is the wire name of the field. */
import { GatewayError, invalidValue } from "../base/errors.ts";

const nameLengthMax = 200;
const allowlistLengthMax = 10_000;
const modelIdLengthMax = 300;
/** The limit of all entries together: a page of a hundred keys has all their lists twice, and is made in memory. */
const allowlistCharactersMax = 200_000;

/** Matches text with at least one visible character. */
const visible = /[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u;

/**
 * A required name, trimmed; a name without visible characters counts as missing. @throws GatewayError `missing_required_parameter`,
 * `invalid_value` (KEY-06)
 */
export function checkName(name: string | null | undefined): string {
  const trimmed = typeof name === "string" ? name.trim() : "";
  const param = "name";
  if (!visible.test(trimmed)) {
    throw new GatewayError("missing_required_parameter", `\`${param}\` is required.`, { param });
  }
  // A character outside the Basic Multilingual Plane, such as an emoji, has two UTF-16 units.
  if (trimmed.length > 2 * nameLengthMax || Array.from(trimmed).length > nameLengthMax) {
    throw invalidValue(param, `must have at most ${nameLengthMax} characters`);
  }
  return trimmed;
}

/** A list of non-empty strings without repetitions, in the order given. @throws GatewayError `invalid_value` */
export function checkNames(list: readonly string[], param: string): string[] {
  const isListOfNames =
    Array.isArray(list) && list.every((item) => typeof item === "string" && item !== "");
  if (!isListOfNames) throw invalidValue(param, "must be a list of non-empty strings");
  if (list.length > allowlistLengthMax)
    throw invalidValue(param, `must have at most ${allowlistLengthMax} entries`);
  if (list.some((item) => item.length > modelIdLengthMax))
    throw invalidValue(param, `has an entry of more than ${modelIdLengthMax} characters`);
  const names = [...new Set(list)];
  const characters = names.reduce((sum, { length }) => sum + length, 0);
  if (characters > allowlistCharactersMax)
    throw invalidValue(param, `must have at most ${allowlistCharactersMax} characters in all`);
  return names;
}

/**
 * Returns a model allowlist after a change. undefined keeps it; null empties it, which restricts nothing. Models that are unknown or
 * out of scope stay on it (ALLOW-04: marked, not removed), so this does not ask the catalog. @throws GatewayError `invalid_value`
 */
export function mergeAllowlist(
  current: readonly string[],
  change: readonly string[] | null | undefined,
): readonly string[] {
  if (change === undefined) return current;
  return change === null ? [] : checkNames(change, "model_allowlist");
}
