/** `tollgate verify`: the ledger's proof. Exit 0 and "no difference", or 1 and each difference. contract.md. */
import { verifyLedger } from "../ledger/index.ts";
import { withDatabase } from "./open.ts";
import { printJson } from "./print.ts";

/** Recomputes everything in one snapshot, also while traffic runs. */
export async function verifyCommand(options: { readonly json?: boolean }): Promise<void> {
  const differences = await withDatabase(({ database }) => verifyLedger(database));
  if (options.json) printJson({ differences });
  else if (differences.length === 0) console.log("no difference");
  else for (const difference of differences) console.log(JSON.stringify(difference, bigintAsText));
  if (differences.length > 0) process.exitCode = 1;
}

const bigintAsText = (_key: string, value: unknown): unknown =>
  typeof value === "bigint" ? value.toString() : value;
