/** `tollgate workspaces`: list, create, set. docs/cli.md. */
import type { Command } from "commander";
import { defined } from "../base/defined.ts";
import { listAll, apiCommand, type ApiOptions } from "./api.ts";
import { noteModels } from "./allowlist-notes.ts";
import {
  addCapOptions,
  amountOf,
  capsOf,
  modelsOf,
  wordOf,
  workspaceOf,
  changesOf,
  type CapOptions,
} from "./fields.ts";
import { printTable } from "./print.ts";
import type { Json } from "./remote-api.ts";

interface SettingOptions extends ApiOptions, CapOptions {
  readonly name?: string;
  readonly organization?: string;
  readonly status?: string;
  readonly models?: string;
  readonly creditLine?: string;
  readonly lowBalanceAlert?: string;
}

export function addWorkspaceCommands(workspaces: Command): void {
  apiCommand(workspaces.command("list").description("list workspaces, newest first"), {
    ask: () => (api) => listAll(api, "/workspaces"),
    show: (records) =>
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
      ),
  });
  addCreate(workspaces.command("create"));
  addSet(workspaces.command("set <workspace>"));
}

/** Formats caps for a table cell: `daily 5, total 25 (hard)`. */
export function capsText(caps: Json): string {
  const windows = ["total", "monthly", "weekly", "daily"].filter((name) => caps[name] !== null);
  const text = windows.map((name) => `${name} ${caps[name]}`).join(", ");
  return caps.hard && text !== "" ? `${text} (hard)` : text;
}

const creditLineHelp =
  "how far it may spend beyond its credits, such as 500.00; unlimited: only caps stop it (0)";

const creditLineOf = (text: string | undefined): string | undefined =>
  text === undefined || text === "unlimited" ? text : amountOf(text, "--credit-line");

const lowBalanceHelp =
  "warn when at most this amount is left of credits and credit line, such as 20.00; none: no warning";

/** null: no warning. */
const lowBalanceOf = (text: string | undefined): string | null | undefined =>
  text === "none" ? null : text && amountOf(text, "--low-balance-alert");

const statuses = ["active", "disabled"] as const;

const settingsOf = (options: SettingOptions): object =>
  defined({
    name: options.name,
    organization_id: options.organization,
    status: options.status === undefined ? undefined : wordOf(options.status, "--status", statuses),
    spend_caps: capsOf(options),
    credit_line: creditLineOf(options.creditLine),
    low_balance_alert: lowBalanceOf(options.lowBalanceAlert),
    model_allowlist: modelsOf(options.models),
  });

function addCreate(create: Command): void {
  create
    .description("create a workspace and print its id")
    .requiredOption("--name <name>", "its name")
    .option(
      "--organization <id>",
      "the organization it belongs to (none: a personal workspace, which has no caps)",
    );
  addCapOptions(create, "create")
    .option("--credit-line <usd>", creditLineHelp)
    .option("--low-balance-alert <usd>", lowBalanceHelp)
    .option("--models <ids>", "the models its keys may call, separated by commas (all)");
  apiCommand(create, {
    ask(options: SettingOptions) {
      const body = settingsOf(options);
      return (api) => api.call({ method: "POST", path: "/workspaces", body });
    },
    show: (record) => print(record),
  });
}

function addSet(set: Command): void {
  set
    .description("change a workspace, by its id or name; other settings stay")
    .option("--name <name>", "its name")
    .option("--status <status>", "active, or disabled: every call of its keys fails");
  addCapOptions(set, "change")
    .option("--credit-line <usd>", creditLineHelp)
    .option("--low-balance-alert <usd>", lowBalanceHelp)
    .option("--models <ids>", "the models its keys may call, separated by commas, or all");
  apiCommand(set, {
    ask(named: string, options: SettingOptions) {
      const body = changesOf(settingsOf(options), "--daily-cap 5");
      return async (api) =>
        api.call({ method: "PATCH", path: `/workspaces/${await workspaceOf(api, named)}`, body });
    },
    show: (record) => print(record),
  });
}

function print(record: Json): void {
  const caps = capsText(record.spend_caps);
  console.log(`${record.id} "${record.name}" is ${record.status}${caps && `; caps: ${caps}`}`);
  noteModels(record);
}
