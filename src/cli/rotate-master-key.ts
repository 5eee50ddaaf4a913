/** `tollgate rotate-master-key`: puts the new master key in force and re-encrypts everything with it. docs/data.md. */
import { randomUUID } from "node:crypto";
import { counted } from "../base/counted.ts";
import { systemClock } from "../base/clock.ts";
import type { RotationEnd } from "../tenancy/index.ts";
import { openDatabaseOf } from "./database.ts";
import { createLog } from "../base/log.ts";
import { readEnvironment } from "./environment.ts";
import { refuseEmpty, refuseUnused } from "./open.ts";
import { printJson } from "./print.ts";

const shownEveryMs = 1_000;

/** Replaces the master key, also while gateways run. Continues an interrupted run. */
export async function rotateMasterKeyCommand(options: { readonly json?: boolean }): Promise<void> {
  const environment = readEnvironment(process.env);
  refuseUnused(environment);
  const { rotateMasterKey } = await import("../tenancy/index.ts");
  const { adminTokenActor, writeAudit } = await import("../admin/index.ts");
  const { migrate } = await import("../storage/index.ts");
  const log = createLog("warn");
  const database = await openDatabaseOf(environment, { join: true, log });
  try {
    await refuseEmpty(environment, database);
    await migrate(database, log);
    let shownMs = performance.now();
    const end = await rotateMasterKey({
      ...environment,
      database,
      note: (tx, { from, to }) =>
        writeAudit(
          { database: tx, clock: systemClock },
          {
            actor: adminTokenActor,
            action: "master_key.replace",
            object: { type: "master_key", id: to },
            place: {},
            before: { id: from },
            after: { id: to },
            requestId: `cli_${randomUUID()}`,
          },
        ),
      progress({ table, done }) {
        if (performance.now() - shownMs < shownEveryMs) return;
        shownMs = performance.now();
        console.error(`tollgate: ${table}: ${done.toLocaleString("en-US")} values sealed again`);
      },
    });
    if (options.json) printJson(end);
    else console.log(saidOf(end));
  } finally {
    await database.close();
  }
}

/** Returns the result as text for people. */
export function saidOf({ from, to, resealed }: RotationEnd): string {
  if (from === null)
    return (
      `the database is under the master key ${to}, and under no other: nothing to do\n` +
      "(to replace it, give the new key as TOLLGATE_MASTER_KEY and the present one as TOLLGATE_MASTER_KEY_PREVIOUS)"
    );
  const sum = Object.values(resealed).reduce((all, count) => all + count, 0);
  return (
    `${counted(sum, "value")} sealed again; everything is under the master key ${to}\n` +
    `the key before (${from}) is needed only for temporary keys it signed: leave TOLLGATE_MASTER_KEY_PREVIOUS out after 15 minutes`
  );
}
