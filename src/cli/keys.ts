/** `tollgate keys`: create, list, disable, enable, revoke, reveal, rotate. KEY rows; docs/cli.md. */
import type { Command } from "commander";
import { counted } from "../base/counted.ts";
import { defined } from "../base/defined.ts";
import { graceSecondsMax } from "../base/management.ts";
import { listAll, apiCommand, type ApiOptions } from "./api.ts";
import { noteModels } from "./allowlist-notes.ts";
import { UsageError } from "./usage-error.ts";
import {
  addCapOptions,
  capsOf,
  modelsOf,
  noSuchKey,
  timeOf,
  workspaceOf,
  wordOf,
  type CapOptions,
} from "./fields.ts";
import { memberOf } from "./members.ts";
import { printTable } from "./print.ts";
import { isMissing, type Api, type Json } from "./remote-api.ts";

interface CreateOptions extends ApiOptions, CapOptions {
  readonly name: string;
  readonly workspace?: string;
  readonly user?: string;
  readonly models?: string;
  readonly expires?: string;
  readonly cacheSeconds?: string;
  readonly cacheCharge?: string;
}

const needs = { secrets: true };

export function addKeyCommands(keys: Command): void {
  addCreate(keys.command("create"));
  addList(keys.command("list"));
  for (const [name, description] of statusActions)
    apiCommand(keys.command(`${name} <id>`).description(description), {
      ask: (id: string) => (api) => postKeyAction(api, id, name),
      show: (record) => console.log(`${record.id} is ${record.status}`),
    });
  apiCommand(keys.command("reveal <id>").description("print a key in full again"), {
    needs,
    ask: (id: string) => (api) => postKeyAction(api, id, "reveal"),
    show: (record) => console.log(record.key),
  });
  addRotate(keys.command("rotate <id>"));
}

const statusActions = [
  ["disable", "disable a key: its calls fail until it is enabled again"],
  ["enable", "enable a disabled key"],
  ["revoke", "revoke a key: its calls fail for ever"],
] as const;

/** Posts an action on one key. @throws RefusedError where there is no such key */
async function postKeyAction(api: Api, id: string, what: string, body?: object): Promise<Json> {
  try {
    const path = `/keys/${encodeURIComponent(id)}/${what}`;
    return await api.call({ method: "POST", path, ...(body !== undefined && { body }) });
  } catch (error) {
    throw isMissing(error) ? noSuchKey(id) : error;
  }
}

/** A key that has already expired when it is created is a typing mistake. */
function futureOf(text: string | undefined): string | undefined {
  const time = timeOf(text, "--expires");
  if (time === undefined || Date.parse(time) > Date.now()) return time;
  throw new UsageError(`--expires is "${text}", which is in the past`);
}

/** Returns a key's status as its callers experience it. */
export const statusOf = (record: Json): string =>
  record.status === "active" &&
  record.expires_at !== null &&
  Date.parse(record.expires_at) <= Date.now()
    ? "expired"
    : record.status;

/** Returns the field `response_cache`; undefined if no option names one. @throws UsageError */
function cacheOf({ cacheSeconds, cacheCharge }: CreateOptions): object | undefined {
  if (cacheSeconds === undefined && cacheCharge === undefined) return undefined;
  if (cacheSeconds === undefined) throw new UsageError("--cache-charge needs --cache-seconds");
  return defined({
    ttl_seconds: countOf(cacheSeconds, "--cache-seconds"),
    charge_percent: cacheCharge && countOf(cacheCharge, "--cache-charge"),
  });
}

/** Parses a whole number; the API checks its range. @throws UsageError */
function countOf(text: string, option: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`${option} is "${text}"; it takes a whole number`);
}

function addCreate(create: Command): void {
  create
    .description("create a key and print it")
    .requiredOption("--name <name>", "the purpose of the key")
    .option(
      "--workspace <id or name>",
      "the workspace that pays for its calls (the only one, if there is just one)",
    );
  addCapOptions(create, "create")
    .option("--user <email or id>", "the member that the key belongs to (none)")
    .option("--models <ids>", "the ids of the models it may call, separated by commas (all)")
    .option("--expires <time>", "when it stops working, such as 2027-01-31T00:00:00Z")
    .option(
      "--cache-seconds <seconds>",
      "how long the response cache answers a repeated request (never)",
    )
    .option(
      "--cache-charge <percent>",
      "the charge of a repeated answer, in percent of the first charge (0)",
    );
  apiCommand(create, {
    needs,
    ask(options: CreateOptions) {
      const fields = {
        name: options.name,
        spend_caps: capsOf(options),
        model_allowlist: modelsOf(options.models),
        expires_at: futureOf(options.expires),
        response_cache: cacheOf(options),
      };
      return async (api) => {
        const workspace_id = await workspaceOf(api, options.workspace);
        const user_id = options.user && (await memberOf(api, workspace_id, options.user)).user_id;
        const body = defined({ workspace_id, user_id, ...fields });
        return api.call({ method: "POST", path: "/keys", body });
      };
    },
    show(record) {
      console.log(`${record.key}\n\n${record.id} "${record.name}" in ${record.workspace_id}`);
      noteModels(record);
    },
  });
}

const oldValue = (graceSeconds: number): string =>
  graceSeconds === 0
    ? "the old value has stopped working"
    : `the old value works for ${counted(graceSeconds, "second")} more`;

interface RotateOptions extends ApiOptions {
  readonly graceSeconds: string;
}

function addRotate(rotate: Command): void {
  rotate
    .description("give a key a new value and print it; id, caps and spend stay")
    .option("--grace-seconds <seconds>", "how long the old value continues to work", "0");
  apiCommand(rotate, {
    needs,
    ask(id: string, { graceSeconds }: RotateOptions) {
      if (!/^\d{1,9}$/.test(graceSeconds) || Number(graceSeconds) > graceSecondsMax)
        throw new UsageError(
          `--grace-seconds is "${graceSeconds}"; it takes a number of seconds up to ${graceSecondsMax}`,
        );
      return (api) => postKeyAction(api, id, "rotate", { grace_seconds: Number(graceSeconds) });
    },
    show: (record, _id: string, options: RotateOptions) =>
      console.log(
        `${record.key}\n\n${record.id} "${record.name}": ${oldValue(Number(options.graceSeconds))}`,
      ),
  });
}

interface ListOptions extends ApiOptions {
  readonly workspace?: string;
  readonly status?: string;
}

const statuses = ["active", "disabled", "revoked"] as const;

function addList(list: Command): void {
  list
    .description("list keys, newest first")
    .option("--workspace <id or name>", "keys of one workspace only")
    .option("--status <status>", "active, disabled or revoked only");
  apiCommand(list, {
    ask({ workspace, status: named }: ListOptions) {
      const status = named === undefined ? undefined : wordOf(named, "--status", statuses);
      return async (api) =>
        listAll(api, "/keys", {
          ...(workspace !== undefined && { workspace_id: await workspaceOf(api, workspace) }),
          ...(status !== undefined && { status }),
        });
    },
    show: (records) =>
      printTable(
        ["id", "name", "status", "key", "workspace", "created"],
        records.map((record: Json) => [
          record.id,
          record.name,
          statusOf(record),
          `${record.key_prefix}...${record.key_last4}`,
          record.workspace_id,
          record.created_at.slice(0, 10),
        ]),
      ),
  });
}
