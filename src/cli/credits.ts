/** `tollgate credits`: add credit to a workspace, take it back, show one balance or all balances. docs/cli.md. */
import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { defined } from "../base/defined.ts";
import { errorCatalogue } from "../base/errors.ts";
import { parseUsd } from "../base/money.ts";
import { listAll, apiCommand, type ApiOptions } from "./api.ts";
import { UsageError } from "./usage-error.ts";
import { inWorkspace, workspaceOf } from "./fields.ts";
import { printTable } from "./print.ts";
import { RefusedError, type Api, type Json } from "./remote-api.ts";

interface CreditOptions extends ApiOptions {
  readonly workspace?: string;
  readonly note?: string;
  readonly reference?: string;
}

export function addCreditCommands(credits: Command): void {
  addChange(credits.command("add <usd>").description("add credit, such as 25.00"), "");
  addChange(credits.command("take <usd>").description("take credit back, such as 5.00"), "-");
  apiCommand(inWorkspace(credits.command("show").description("print the balance")), {
    ask: (options: CreditOptions) => async (api) =>
      balanceOf(api, await workspaceOf(api, options.workspace)),
    show: (balance) => printBalance(balance),
  });
  apiCommand(credits.command("list").description("print the balances of all workspaces"), {
    ask: () => (api) => listAll(api, "/balances"),
    show: (balances) =>
      printTable(
        ["id", "workspace", ...columns],
        balances.map((one: Json) => [
          one.workspace_id,
          one.workspace_name,
          ...columns.map((name) => one[name]),
        ]),
      ),
  });
}

const reusedStatus = errorCatalogue.idempotency_key_reuse.status;

const addChange = (command: Command, sign: "" | "-"): Command =>
  apiCommand(
    inWorkspace(command)
      .option("--note <text>", "the purpose of the credit")
      .option(
        "--reference <text>",
        "your own reference; repeating the command with the same reference has no further effect",
      ),
    {
      ask(usd: string, { workspace, note, reference = randomUUID() }: CreditOptions) {
        checkAmount(usd);
        return async (api) => {
          const workspaceId = await workspaceOf(api, workspace);
          const path = `/workspaces/${workspaceId}/credits`;
          const body = defined({ amount: sign + usd, note });
          const { body: entry, isReplay } = await withRetryHint(
            api.once({ method: "POST", path, body, idempotencyKey: reference }),
            reference,
          );
          if (isReplay) console.error(`tollgate: ${countedBefore(entry, reference, note)}`);
          return withRetryHint(balanceOf(api, workspaceId), reference);
        };
      },
      show: (balance) => printBalance(balance),
    },
  );

/** The message for a reference that was sent again: what it counted before, and that a new note is not kept. */
function countedBefore(entry: Json, reference: string, note: string | undefined): string {
  const noted = entry.note === null ? "without a note" : `with the note ${quoted(entry.note)}`;
  const other = note === undefined || note === entry.note ? "" : `, ${noted}, which stays`;
  return `the reference ${quoted(reference)} counted ${entry.amount} USD before, at ${entry.created_at}${other}; nothing was counted now`;
}

const quoted = (text: string): string => JSON.stringify(text);

/**
 * Awaits a request about credit that may already be counted.
 * @throws RefusedError which says how to ask again if the gateway or the database became unreachable: with another reference the credit
 *   would count twice
 */
async function withRetryHint<T>(asked: Promise<T>, reference: string): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    const { status = 0, message } = error as { readonly status?: number; readonly message: string };
    // The amount differs. Nothing was changed, and a retry is refused as well.
    if (status === reusedStatus)
      throw new RefusedError(status, `${message} The Idempotency-Key is your --reference.`);
    if (status >= 400 && status < 500) throw error;
    const again = `It may have been counted: repeat it with --reference ${reference}, and it counts once.`;
    throw new RefusedError(status, `${message} ${again}`);
  }
}

/** @throws UsageError */
function checkAmount(usd: string): void {
  let amountNano: bigint;
  try {
    amountNano = parseUsd(usd);
  } catch {
    throw new UsageError(`"${usd}" is not an amount in USD such as 25.00`);
  }
  if (amountNano <= 0n) throw new UsageError("the amount must be above 0");
}

/** In display order. */
const columns = ["credits", "credit_line", "charged", "held", "available"] as const;

const balanceOf = (api: Api, workspaceId: string): Promise<Json> =>
  api.call({ method: "GET", path: `/workspaces/${workspaceId}/balance` });

const printBalance = (balance: Json): void =>
  printTable(columns, [columns.map((name) => balance[name])]);
