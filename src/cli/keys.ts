/** `tollgate keys`: create, list, disable, enable, revoke, reveal, rotate. KEY rows; docs/cli.md. */
import type { Command } from "commander";
import { GatewayError } from "../base/errors.ts";
import { graceSecondsMax } from "../base/management.ts";
import { addApiOptions, listAll, withApi, type ApiOptions } from "./api.ts";
import { UsageError } from "./environment.ts";
import {
  addCapOptions,
  capsOf,
  defined,
  listOf,
  timeOf,
  workspaceOf,
  wordOf,
  type CapOptions,
} from "./fields.ts";
import { memberOf } from "./members.ts";
import { printJson, printTable } from "./print.ts";
import { RefusedError, type Api, type Json } from "./remote-api.ts";

interface CreateOptions extends ApiOptions, CapOptions {
  readonly name: string;
  readonly workspace?: string;
  readonly user?: string;
  readonly models?: string;
  readonly expires?: string;
  readonly cacheSeconds?: string;
  readonly cacheCharge?: string;
}

/** Adds the sub-commands to `keys`. */
export function addKeyCommands(keys: Command): void {
  const create = keys
    .command("create")
    .description("make a key and print it")
    .requiredOption("--name <name>", "what the key is for")
    .option(
      "--workspace <id or name>",
      "the workspace it spends from (the only one, where there is one)",
    );
  addApiOptions(
    addCapOptions(create, "create")
      .option("--user <email or id>", "the member whose key it is (nobody's in particular)")
      .option("--models <ids>", "the ids of the models it may call, separated by commas (all)")
      .option("--expires <time>", "when it stops working, such as 2027-01-31T00:00:00Z")
      .option("--cache-seconds <seconds>", "answer the same request again for so long (never)")
      .option("--cache-charge <percent>", "what a repeat costs, of the first answer's charge (0)"),
  ).action(createKey);
  addApiOptions(
    keys
      .command("list")
      .description("list keys, newest first")
      .option("--workspace <id or name>", "keys of one workspace only")
      .option("--status <status>", "active, disabled or revoked only"),
  ).action(list);
  for (const [name, description] of moves) {
    addApiOptions(keys.command(`${name} <id>`).description(description)).action(
      (id: string, options: ApiOptions) => move(name, id, options),
    );
  }
  addApiOptions(keys.command("reveal <id>").description("print a key in full again")).action(
    reveal,
  );
  addApiOptions(
    keys
      .command("rotate <id>")
      .description("give a key a new value and print it; id, caps and spend stay")
      .option("--grace-seconds <seconds>", "how long the old value goes on working", "0"),
  ).action(rotate);
}

const moves = [
  ["disable", "make every call with the key fail, until it is enabled again"],
  ["enable", "make a disabled key work again"],
  ["revoke", "make every call with the key fail, for good"],
] as const;

/** Does something with one key. @throws RefusedError where there is no such key */
async function onKey(api: Api, id: string, what: string, body?: object): Promise<Json> {
  try {
    const path = `/keys/${encodeURIComponent(id)}/${what}`;
    return await api.call({ method: "POST", path, ...(body !== undefined && { body }) });
  } catch (error) {
    const isMissing =
      (error instanceof RefusedError || error instanceof GatewayError) && error.status === 404;
    if (!isMissing) throw error;
    throw new RefusedError(404, `there is no key "${id}"; npx tollgate keys list shows their ids`);
  }
}

/** A key that has expired when it is made is a slip of the pen. */
function futureOf(text: string | undefined): string | undefined {
  const time = timeOf(text, "--expires");
  if (time === undefined || Date.parse(time) > Date.now()) return time;
  throw new UsageError(`--expires is "${text}", which is in the past`);
}

/** A key's status as its callers meet it. */
export const statusOf = (record: Json): string =>
  record.status === "active" &&
  record.expires_at !== null &&
  Date.parse(record.expires_at) <= Date.now()
    ? "expired"
    : record.status;

const move = (name: string, id: string, options: ApiOptions): Promise<void> =>
  withApi(options, async (api) => {
    const record = await onKey(api, id, name);
    if (options.json) printJson(record);
    else console.log(`${record.id} is ${record.status}`);
  });

const reveal = (id: string, options: ApiOptions): Promise<void> =>
  withApi(
    options,
    async (api) => {
      const record = await onKey(api, id, "reveal");
      if (options.json) printJson(record);
      else console.log(record.key);
    },
    { secrets: true },
  );

/** The field `response_cache`; undefined where no option names one. @throws UsageError */
function cacheOf({ cacheSeconds, cacheCharge }: CreateOptions): object | undefined {
  if (cacheSeconds === undefined && cacheCharge === undefined) return undefined;
  if (cacheSeconds === undefined) throw new UsageError("--cache-charge needs --cache-seconds");
  return defined({
    ttl_seconds: countOf(cacheSeconds, "--cache-seconds"),
    charge_percent: cacheCharge && countOf(cacheCharge, "--cache-charge"),
  });
}

/** A whole number; the API says how far it may go. @throws UsageError */
function countOf(text: string, option: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`${option} is "${text}"; it takes a whole number`);
}

async function createKey(options: CreateOptions): Promise<void> {
  const fields = {
    name: options.name,
    spend_caps: capsOf(options),
    model_allowlist: listOf(options.models, "--models"),
    expires_at: futureOf(options.expires),
    response_cache: cacheOf(options),
  };
  await withApi(
    options,
    async (api) => {
      const workspace_id = await workspaceOf(api, options.workspace);
      const user_id = options.user && (await memberOf(api, workspace_id, options.user)).user_id;
      const body = { workspace_id, user_id, ...fields };
      const record = await api.call({ method: "POST", path: "/keys", body: defined(body) });
      if (options.json) printJson(record);
      else console.log(`${record.key}\n\n${record.id} "${record.name}" in ${record.workspace_id}`);
    },
    { secrets: true },
  );
}

async function rotate(
  id: string,
  options: ApiOptions & { readonly graceSeconds: string },
): Promise<void> {
  const { graceSeconds } = options;
  if (!/^\d{1,9}$/.test(graceSeconds) || Number(graceSeconds) > graceSecondsMax)
    throw new UsageError(
      `--grace-seconds is "${graceSeconds}"; it takes a number of seconds up to ${graceSecondsMax}`,
    );
  const seconds = Number(graceSeconds);
  await withApi(
    options,
    async (api) => {
      const body = { grace_seconds: seconds };
      const record = await onKey(api, id, "rotate", body);
      if (options.json) printJson(record);
      else console.log(`${record.key}\n\n${record.id} "${record.name}": ${oldValue(seconds)}`);
    },
    { secrets: true },
  );
}

const oldValue = (graceSeconds: number): string =>
  graceSeconds === 0
    ? "the old value has stopped working"
    : `the old value works for ${graceSeconds} seconds more`;

interface ListOptions extends ApiOptions {
  readonly workspace?: string;
  readonly status?: string;
}

const statuses = ["active", "disabled", "revoked"] as const;

async function list(options: ListOptions): Promise<void> {
  const status =
    options.status === undefined ? undefined : wordOf(options.status, "--status", statuses);
  await withApi(options, async (api) => {
    const { workspace } = options;
    const records = await listAll(api, "/keys", {
      ...(workspace !== undefined && { workspace_id: await workspaceOf(api, workspace) }),
      ...(status !== undefined && { status }),
    });
    if (options.json) return printJson(records);
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
    );
  });
}
