/** `tollgate verify`: proves the ledger. Exit 0 and "no difference", or 1 and each difference. docs/cli.md. */
import { verifyLedger } from "../verification/index.ts";
import { withDatabase } from "./open.ts";
import { printJson } from "./print.ts";

const progressMs = 2_000;

/** Recomputes everything in one snapshot, also while traffic runs. */
export async function verifyCommand(options: { readonly json?: boolean }): Promise<void> {
  let shownMs = performance.now();
  const differences = await withDatabase(({ database }) =>
    verifyLedger(database, (done, estimated) => {
      // Progress is shown only if the run takes longer than a moment, and not if standard error is piped.
      if (!process.stderr.isTTY || performance.now() - shownMs < progressMs) return;
      shownMs = performance.now();
      process.stderr.write(`${done} of about ${Math.round(estimated)} entries\n`);
    }),
  );
  if (options.json) printJson({ differences });
  else if (differences.length === 0) console.log("no difference");
  else for (const difference of differences) console.log(JSON.stringify(difference, bigintAsText));
  if (differences.length > 0) process.exitCode = 1;
}

const bigintAsText = (_key: string, value: unknown): unknown =>
  typeof value === "bigint" ? value.toString() : value;
