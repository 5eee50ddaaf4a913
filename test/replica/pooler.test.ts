/** A replica behind a pooler in session mode, which refuses unknown parameters. docs/scale.md "Read replicas". */
import { expect, it, onTestFinished } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { migrate, openDatabase, openReplica } from "../../src/storage/index.ts";
import { startPair } from "../faults/whole/pair.ts";
import { eventually } from "../support/patience.ts";
import { startPooler } from "../support/pooler.ts";
import { temporaryDirectory } from "../support/postgres.ts";
import { keptLog } from "./support.ts";

it("a replica behind a session pooler is read over read-only sessions with a statement timeout", async () => {
  const pair = await startPair(temporaryDirectory(), false);
  onTestFinished(() => pair.close());
  const primary = await openDatabase({ url: pair.urlOf(pair.primary.port), log: silentLog });
  onTestFinished(() => primary.close());
  await migrate(primary);
  const pooler = await startPooler(pair.urlOf(pair.standby.port), "session");
  onTestFinished(() => pooler.close());
  const { log } = keptLog();
  const replica = openReplica({ url: pooler.url, primary, lagMsMax: 10_000, log });
  onTestFinished(() => replica.close());
  await eventually(() => replica.state.isUsed, "the replica to be used");
  const settings = await replica.read((database) =>
    database.query(
      `select pg_is_in_recovery() as standby, current_setting('default_transaction_read_only') as ro,
         current_setting('statement_timeout') as statement`,
    ),
  );
  expect(settings).toEqual([{ standby: true, ro: "on", statement: "10s" }]);
});
