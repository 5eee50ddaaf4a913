/** Copies of the ledger with one broken rule, in the database's functions or in the gateway's code. */
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Client } from "pg";
import { temporaryDirectory } from "../../support/postgres.ts";
import type * as GatewaySide from "../../../src/ledger/text-calls.ts";

export interface Mutant {
  /** The rule that it breaks. */
  readonly rule: string;
  /** A function of the database, or a file of src/ledger. */
  readonly where: string;
  readonly from: string | RegExp;
  readonly to: string;
}

function mutate(text: string, { where, from, to }: Mutant): string {
  const mutated = text.replace(from, to);
  if (mutated === text)
    throw new Error(`${where} has no ${String(from)}: the mutant is out of date`);
  return mutated;
}

/** Replaces a database function with its mutant. */
export async function mutateDatabase(url: string, mutant: Mutant): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ text: string }>(
    "select pg_get_functiondef($1::regproc) as text",
    [mutant.where],
  );
  await client.query(mutate(rows[0]!.text, mutant));
  await client.end();
}

const source = fileURLToPath(new URL("../../../src", import.meta.url));

/** Loads a mutated copy of src/ledger; its neighbour folders are links to the real ones. */
export async function mutantOfGateway(mutant: Mutant): Promise<typeof GatewaySide> {
  const folder = join(temporaryDirectory(), "src");
  mkdirSync(join(folder, "ledger"), { recursive: true });
  for (const name of readdirSync(source))
    if (name !== "ledger") symlinkSync(join(source, name), join(folder, name));
  const from = join(source, "ledger");
  for (const name of readdirSync(from))
    copyFileSync(join(from, name), join(folder, "ledger", name));
  const file = join(folder, "ledger", mutant.where);
  writeFileSync(file, mutate(readFileSync(file, "utf8"), mutant));
  const entry = pathToFileURL(join(folder, "ledger/text-calls.ts")).href;
  return (await import(entry)) as typeof GatewaySide;
}
