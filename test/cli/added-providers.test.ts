/** Providers added or paused over the management API apply on a gateway that could not read the database when it was notified. */
import { expect, it } from "vitest";
import { openAddedProviders } from "../../src/cli/added-providers.ts";
import { systemClock } from "../../src/base/clock.ts";
import { setPause, type Database } from "../../src/storage/index.ts";
import { changeRow } from "../../src/tenancy/index.ts";
import { deriveSecrets } from "../../src/tenancy/secrets.ts";
import { eventually } from "../support/patience.ts";
import { describeDatabase, silentLog } from "../support/postgres.ts";

describeDatabase("added providers", (open) => {
  it("are read again after a failed read, without a second notification", async () => {
    const database = await open();
    let isBusy = false;
    const busy: Database = {
      ...database,
      query: (...statement) =>
        isBusy
          ? Promise.reject(new Error("timeout exceeded when trying to connect"))
          : database.query(...statement),
    };
    const added = openAddedProviders({ log: silentLog, clock: systemClock, allowPrivate: false });
    await added.follow(busy, deriveSecrets(Buffer.alloc(32, 1)));
    try {
      // A listener that connects also triggers a read.
      await eventually(() => database.signals.healthy(), "the listener is there");
      isBusy = true;
      const now = new Date();
      const until = new Date(now.getTime() + 3_600_000);
      await changeRow(busy, "providers", async (tx) => {
        await setPause(tx, { id: "acme", until, now });
        return { id: "acme" };
      });
      expect(added.current().paused.size).toBe(0);
      isBusy = false;
      const { paused } = await eventually(
        () => added.current().paused.size > 0 && added.current(),
        "the pause is in force",
      );
      expect([...paused]).toEqual([["acme", until.getTime()]]);
    } finally {
      added.close();
    }
  });
});
