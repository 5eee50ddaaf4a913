/** `tollgate credits`: add credit to a workspace, show its balance. */
import type { Command } from "commander";
import { newId } from "../base/ids.ts";
import { formatUsd, parseUsd } from "../base/money.ts";
import { UsageError } from "./environment.ts";
import { chooseWorkspace, withDatabase } from "./open.ts";
import { printJson, printTable } from "./print.ts";

interface CreditOptions {
  readonly workspace?: string;
  readonly note?: string;
  readonly reference?: string;
  readonly json?: boolean;
}

/** Adds the sub-commands to `credits`. */
export function addCreditCommands(credits: Command): void {
  credits
    .command("add <usd>")
    .description("add credit, such as 25.00")
    .option("--workspace <id or name>", "the workspace (the only one, where there is one)")
    .option("--note <text>", "what it is for")
    .option(
      "--reference <text>",
      "a name of your own; the same one credits once, however often it is sent",
    )
    .option("--json", "print the balance as JSON")
    .action(add);
  credits
    .command("show")
    .description("print the balance")
    .option("--workspace <id or name>", "the workspace (the only one, where there is one)")
    .option("--json", "print it as JSON")
    .action((options: CreditOptions) =>
      withDatabase(async ({ database, ledger }) => {
        printBalance(
          await ledger.balance(await chooseWorkspace(database, options.workspace)),
          options,
        );
      }),
    );
}

async function add(usd: string, options: CreditOptions): Promise<void> {
  let amountNano: bigint;
  try {
    amountNano = parseUsd(usd);
  } catch {
    throw new UsageError(`"${usd}" is not an amount in USD such as 25.00`);
  }
  if (amountNano <= 0n) throw new UsageError("credit must be above 0");
  await withDatabase(async ({ database, ledger }) => {
    const workspaceId = await chooseWorkspace(database, options.workspace);
    const reference = options.reference ?? newId("credit");
    const { outcome } = await ledger.credit({
      workspaceId,
      amountNano,
      reference,
      note: options.note,
    });
    if (outcome === "already_credited" && !options.json)
      console.log(`"${reference}" was credited before; nothing was added`);
    printBalance(await ledger.balance(workspaceId), options);
  });
}

interface Balance {
  readonly creditsNano: bigint;
  readonly chargedNano: bigint;
  readonly heldNano: bigint;
  readonly availableNano: bigint;
}

function printBalance(balance: Balance, { json }: CreditOptions): void {
  const row = {
    credits: formatUsd(balance.creditsNano),
    charged: formatUsd(balance.chargedNano),
    held: formatUsd(balance.heldNano),
    available: formatUsd(balance.availableNano),
  };
  if (json) printJson(row);
  else printTable(Object.keys(row), [Object.values(row)]);
}
