/** The `tollgate` command. Exit codes: 0 done, 1 failed or a difference found, 2 wrong usage or configuration. */
import type { Command } from "commander";
import { UsageError } from "./environment.ts";
import { createProgram } from "./program.ts";

async function main(program: Command): Promise<void> {
  try {
    await program.parseAsync();
  } catch (error) {
    const expected = error instanceof Error && expectedNames.has(error.name);
    console.error(expected ? `tollgate: ${error.message}` : error);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}

/** Errors whose message says all there is to say. */
const expectedNames = new Set([
  "UsageError",
  "GatewayError",
  "MasterKeyError",
  "DataDirectoryInUseError",
  "SchemaError",
]);

await main(createProgram());
