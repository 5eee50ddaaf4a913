/** `tollgate credits`: add credit to a workspace, take it back, show its balance. docs/cli.md. */
import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { parseUsd } from "../base/money.ts";
import { addApiOptions, withApi, type ApiOptions } from "./api.ts";
import { UsageError } from "./environment.ts";
import { workspaceOf } from "./fields.ts";
import { printJson, printTable } from "./print.ts";
import type { Api, Json } from "./remote-api.ts";

interface CreditOptions extends ApiOptions {
  readonly workspace?: string;
  readonly note?: string;
  readonly reference?: string;
}

/** Adds the sub-commands to `credits`. */
export function addCreditCommands(credits: Command): void {
  const changing = (name: string, description: string): Command =>
    addApiOptions(
      credits
        .command(`${name} <usd>`)
        .description(description)
        .option("--workspace <id or name>", "the workspace (the only one, where there is one)")
        .option("--note <text>", "what it is for")
        .option(
          "--reference <text>",
          "a name of your own; the same one counts once, however often it is sent",
        ),
    );
  changing("add", "add credit, such as 25.00").action((usd: string, options: CreditOptions) =>
    change(usd, "", options),
  );
  changing("take", "take credit back, such as 5.00").action((usd: string, options: CreditOptions) =>
    change(usd, "-", options),
  );
  addApiOptions(
    credits
      .command("show")
      .description("print the balance")
      .option("--workspace <id or name>", "the workspace (the only one, where there is one)"),
  ).action((options: CreditOptions) =>
    withApi(options, async (api) => {
      printBalance(await balanceOf(api, await workspaceOf(api, options.workspace)), options);
    }),
  );
}

const balanceOf = (api: Api, workspaceId: string): Promise<Json> =>
  api.call({ method: "GET", path: `/workspaces/${workspaceId}/balance` });

async function change(usd: string, sign: "" | "-", options: CreditOptions): Promise<void> {
  let amountNano: bigint;
  try {
    amountNano = parseUsd(usd);
  } catch {
    throw new UsageError(`"${usd}" is not an amount in USD such as 25.00`);
  }
  if (amountNano <= 0n) throw new UsageError("the amount must be above 0");
  await withApi(options, async (api) => {
    const workspaceId = await workspaceOf(api, options.workspace);
    await api.call({
      method: "POST",
      path: `/workspaces/${workspaceId}/credits`,
      body: { amount: sign + usd, ...(options.note !== undefined && { note: options.note }) },
      idempotencyKey: options.reference ?? randomUUID(),
    });
    printBalance(await balanceOf(api, workspaceId), options);
  });
}

function printBalance(balance: Json, { json }: CreditOptions): void {
  const { credits, credit_line, charged, held, available } = balance as Record<string, string>;
  const row = {
    credits: credits!,
    credit_line: credit_line!,
    charged: charged!,
    held: held!,
    available: available!,
  };
  if (json) printJson(row);
  else printTable(Object.keys(row), [Object.values(row)]);
}
