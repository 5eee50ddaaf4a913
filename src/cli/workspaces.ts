/** `tollgate workspaces`: list, create, set. docs/cli.md. */
import type { Command } from "commander";
import { addApiOptions, listAll, withApi, type ApiOptions } from "./api.ts";
import { UsageError } from "./environment.ts";
import {
  addCapOptions,
  amountOf,
  capsOf,
  defined,
  listOf,
  wordOf,
  workspaceOf,
  type CapOptions,
} from "./fields.ts";
import { printJson, printTable } from "./print.ts";
import type { Json } from "./remote-api.ts";

interface SettingOptions extends ApiOptions, CapOptions {
  readonly name?: string;
  readonly organization?: string;
  readonly status?: string;
  readonly models?: string;
  readonly creditLine?: string;
}

/** Adds the sub-commands to `workspaces`. */
export function addWorkspaceCommands(workspaces: Command): void {
  addApiOptions(workspaces.command("list").description("list workspaces, newest first")).action(
    list,
  );
  addApiOptions(
    addCapOptions(
      workspaces
        .command("create")
        .description("make a workspace and print its id")
        .requiredOption("--name <name>", "what it is called")
        .option(
          "--organization <id>",
          "the organization it belongs to (none: a personal workspace, which has no caps)",
        ),
      "create",
    )
      .option("--credit-line <usd>", creditLineHelp)
      .option("--models <ids>", "the models its keys may call, separated by commas (all)"),
  ).action(create);
  addApiOptions(
    addCapOptions(
      workspaces
        .command("set <workspace>")
        .description("change a workspace, by its id or name; what is not named stays")
        .option("--name <name>", "what it is called")
        .option("--status <status>", "active, or disabled: every call of its keys fails"),
      "change",
    )
      .option("--credit-line <usd>", creditLineHelp)
      .option("--models <ids>", "the models its keys may call, separated by commas, or all"),
  ).action(set);
}

const list = (options: ApiOptions): Promise<void> =>
  withApi(options, async (api) => {
    const records = await listAll(api, "/workspaces");
    if (options.json) return printJson(records);
    printTable(
      ["id", "name", "organization", "status", "spent", "caps"],
      records.map((record: Json) => [
        record.id,
        record.name,
        record.organization_id ?? "",
        record.status,
        record.spend.total,
        capsText(record.spend_caps),
      ]),
    );
  });

/** Caps in a cell: `daily 5, total 25 (hard)`. */
export function capsText(caps: Json): string {
  const windows = ["total", "monthly", "weekly", "daily"].filter((name) => caps[name] !== null);
  const text = windows.map((name) => `${name} ${caps[name]}`).join(", ");
  return caps.hard && text !== "" ? `${text} (hard)` : text;
}

const create = (options: SettingOptions): Promise<void> => {
  const body = defined({
    name: options.name,
    organization_id: options.organization,
    spend_caps: capsOf(options),
    credit_line: creditLineOf(options.creditLine),
    model_allowlist: listOf(options.models, "--models"),
  });
  return withApi(options, async (api) => {
    print(await api.call({ method: "POST", path: "/workspaces", body }), options);
  });
};

const creditLineHelp =
  "how far it may spend beyond its credits, such as 500.00, or unlimited: only caps stop it (0)";

const creditLineOf = (text: string | undefined): string | undefined =>
  text === undefined || text === "unlimited" ? text : amountOf(text, "--credit-line");

const statuses = ["active", "disabled"] as const;

async function set(named: string, options: SettingOptions): Promise<void> {
  const { name, status } = options;
  const body = defined({
    name,
    status: status === undefined ? undefined : wordOf(status, "--status", statuses),
    spend_caps: capsOf(options),
    credit_line: creditLineOf(options.creditLine),
    model_allowlist: listOf(options.models, "--models"),
  });
  if (Object.keys(body).length === 0)
    throw new UsageError("nothing to change: name an option, such as --daily-cap 5");
  await withApi(options, async (api) => {
    const path = `/workspaces/${await workspaceOf(api, named)}`;
    print(await api.call({ method: "PATCH", path, body }), options);
  });
}

function print(record: Json, { json }: ApiOptions): void {
  if (json) return printJson(record);
  const caps = capsText(record.spend_caps);
  console.log(`${record.id} "${record.name}" is ${record.status}${caps && `; caps: ${caps}`}`);
}
