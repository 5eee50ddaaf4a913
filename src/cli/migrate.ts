/** `tollgate migrate`: brings the schema up to date without starting a gateway. */
import { createLog } from "../base/log.ts";
import { migrate } from "../storage/index.ts";
import { openDatabaseOf } from "./database.ts";
import { readEnvironment } from "./environment.ts";
import { printJson } from "./print.ts";

/** Applies missing migrations, once, even if several processes run this at the same time. */
export async function migrateCommand(options: { readonly json?: boolean }): Promise<void> {
  const environment = readEnvironment(process.env);
  const log = createLog("warn");
  const database = await openDatabaseOf(environment, { join: true, log });
  try {
    const { applied } = await migrate(database, log);
    if (options.json) printJson({ applied });
    else
      console.log(
        applied.length === 0 ? "the schema is up to date" : `applied ${applied.join(", ")}`,
      );
  } finally {
    await database.close();
  }
}
