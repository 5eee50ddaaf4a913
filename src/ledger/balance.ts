/** What a workspace has left. docs/management.md. */
import { GatewayError } from "../base/errors.ts";
import type { Queryable } from "../storage/index.ts";
import type { Balance } from "./types.ts";

/** The account of a workspace. @throws GatewayError not_found */
export async function readBalance(database: Queryable, workspaceId: string): Promise<Balance> {
  const [row] = await database.query<{
    credits: bigint;
    charged: bigint;
    held: bigint;
    line: bigint | null;
  }>(
    `select credits_nano as credits, charged_nano as charged, held_nano as held, credit_line_nano as line
     from ledger_accounts a join workspaces w on w.id = a.workspace_id where a.workspace_id = $1`,
    [workspaceId],
  );
  if (row === undefined) throw new GatewayError("not_found", `No such workspace: ${workspaceId}.`);
  const { credits, charged, held, line } = row;
  return {
    creditsNano: credits,
    chargedNano: charged,
    heldNano: held,
    creditLineNano: line,
    availableNano: credits + (line ?? 0n) - charged - held,
  };
}

/** The public id of an entry. */
export const entryId = (entry: bigint): string => `entry_${entry}`;
