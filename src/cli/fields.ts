/** Options that become fields of the management API: amounts, caps, lists, times; and the lookup of the workspace. */
import type { Command } from "commander";
import { existingTime } from "../base/days.ts";
import { defined } from "../base/defined.ts";
import { formatUsd, parseUsd } from "../base/money.ts";
import { clockOf } from "../base/time-zones.ts";
import { listAll } from "./api.ts";
import { UsageError } from "./usage-error.ts";
import { RefusedError, isMissing, type Api } from "./remote-api.ts";

export interface CapOptions {
  readonly totalCap?: string;
  readonly dailyCap?: string;
  readonly weeklyCap?: string;
  readonly monthlyCap?: string;
  readonly hard?: boolean;
}

/** Adds the options of spend caps; with `change`, a cap can also be removed. */
export function addCapOptions(command: Command, change: "change" | "create"): Command {
  const none = change === "change" ? "; none: no limit" : "";
  command
    .option("--total-cap <usd>", `the most it may ever spend, such as 25.00${none}`)
    .option("--daily-cap <usd>", `the most it may spend in a day (UTC)${none}`)
    .option("--weekly-cap <usd>", `the most it may spend in a week (from Monday, UTC)${none}`)
    .option("--monthly-cap <usd>", `the most it may spend in a month (UTC)${none}`)
    .option("--hard", "also count open reservations, so that the caps are never exceeded");
  return change === "create" ? command : command.option("--no-hard", "count only what was charged");
}

/** Returns the field `spend_caps`; undefined if no option names a cap. @throws UsageError */
export function capsOf(options: CapOptions): object | undefined {
  const caps = {
    total: capOf(options.totalCap, "--total-cap"),
    daily: capOf(options.dailyCap, "--daily-cap"),
    weekly: capOf(options.weeklyCap, "--weekly-cap"),
    monthly: capOf(options.monthlyCap, "--monthly-cap"),
    hard: options.hard,
  };
  const given = defined(caps);
  return Object.keys(given).length === 0 ? undefined : given;
}

function capOf(text: string | undefined, option: string): string | null | undefined {
  if (text === undefined) return undefined;
  return text === "none" ? null : amountOf(text, option);
}

/** Returns an amount of at least 0 in the API's format. @throws UsageError */
export function amountOf(text: string, option: string): string {
  let amount: bigint;
  try {
    amount = parseUsd(text);
  } catch {
    throw new UsageError(`${option} is "${text}"; it takes an amount in USD such as 25.00`);
  }
  if (amount >= 0n) return formatUsd(amount);
  throw new UsageError(`${option} is "${text}"; it takes an amount in USD from 0, such as 25.00`);
}

const timeShape =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:\d{2})?)?$/i;

/**
 * Returns a time in the API's format. Without a zone it is in the time zone `place`, else in UTC, whatever the machine's own zone is.
 * @throws UsageError
 */
export function timeOf(
  text: string | undefined,
  option: string,
  place?: string,
): string | undefined {
  if (text === undefined) return undefined;
  const [, day = "", time = "00:00", zone] = timeShape.exec(text.trim()) ?? [];
  const shown = existingTime(`${day}T${time}${zone ?? "Z"}`);
  if (shown === undefined) {
    throw new UsageError(
      `${option} is "${text}"; it takes a time such as 2027-01-31T00:00:00Z, or a day in UTC`,
    );
  }
  const isLocal = zone === undefined && place !== undefined;
  return (isLocal ? new Date(clockOf(place).momentOf(shown.getTime())) : shown).toISOString();
}

/** Parses `--models`: names separated by commas; `all`: no restriction; undefined if absent. @throws UsageError for no name */
export function modelsOf(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  if (text === "all") return [];
  const names = text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  if (names.length > 0) return names;
  throw new UsageError(`--models is "${text}"; it takes ids separated by commas, or all`);
}

/** Returns the fields that a command changes. @throws UsageError if there are none; `example`: an option to suggest */
export function changesOf(fields: object, example: string): object {
  if (Object.keys(fields).length > 0) return fields;
  throw new UsageError(`nothing to change: name an option, such as ${example}`);
}

/** Returns `text` if it is one of `words`. @throws UsageError */
export function wordOf<Word extends string>(
  text: string,
  option: string,
  words: readonly Word[],
): Word {
  const word = words.find((one) => one === text);
  if (word !== undefined) return word;
  throw new UsageError(`${option} is "${text}"; it takes ${words.join(", ")}`);
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Adds the option that names the workspace. */
export const inWorkspace = (command: Command): Command =>
  command.option("--workspace <id or name>", "the workspace (the only one, if there is just one)");

/** Returns the id of the named workspace, or of the only one. @throws UsageError, RefusedError */
export async function workspaceOf(api: Api, named: string | undefined): Promise<string> {
  const all = (await listAll(api, "/workspaces")) as Named[];
  if (named !== undefined) {
    const found = all.find(({ id }) => id === named) ?? onlyNamed(all, named);
    if (!found)
      throw new RefusedError(
        404,
        `there is no workspace "${named}"; npx tollgate workspaces list shows them`,
      );
    return found.id;
  }
  if (all.length === 1) return all[0]!.id;
  if (all.length === 0)
    throw new RefusedError(404, "there is no workspace yet; start the gateway once (npx tollgate)");
  throw new UsageError(`--workspace is needed; there are: ${places(all)}`);
}

/** @throws RefusedError if no key has the id: the API would return an empty list, as if the key had made no calls */
async function checkKey(api: Api, id: string): Promise<void> {
  try {
    await api.call({ method: "GET", path: `/keys/${encodeURIComponent(id)}` });
  } catch (error) {
    throw isMissing(error) ? noSuchKey(id) : error;
  }
}

/** The error for a key that does not exist. */
export const noSuchKey = (id: string): RefusedError =>
  new RefusedError(404, `there is no key "${id}"; npx tollgate keys list shows their ids`);

/** Returns the query of a list: `fields`, and the workspace if one was named. @throws UsageError, RefusedError */
export async function inWorkspaceOf(
  api: Api,
  named: string | undefined,
  fields: Readonly<Record<string, string | undefined>>,
): Promise<Record<string, string>> {
  const workspace_id = named === undefined ? undefined : await workspaceOf(api, named);
  if (fields["key_id"] !== undefined) await checkKey(api, fields["key_id"]);
  return defined({ ...fields, workspace_id }) as Record<string, string>;
}

function onlyNamed(all: readonly Named[], name: string): Named | undefined {
  const found = all.filter((one) => one.name === name);
  if (found.length > 1)
    throw new UsageError(`several workspaces are called "${name}": ${places(found)}`);
  return found[0];
}

const placesMax = 10;

const places = (all: readonly Named[]): string =>
  all
    .slice(0, placesMax)
    .map(({ id, name }) => `${id} (${name})`)
    .join(", ") + (all.length > placesMax ? `, and ${all.length - placesMax} more` : "");
