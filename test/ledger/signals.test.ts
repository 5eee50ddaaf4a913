/** A signalled change invalidates a gateway's earlier checks. docs/ledger.md "Admission". */
import { expect, it } from "vitest";
import type { Database } from "../../src/storage/index.ts";
import { createLedger } from "../support/ledger.ts";
import { describeDatabase } from "../support/postgres.ts";
import { addKey, addWorkspace } from "./support.ts";

type Handler = (payload: string) => unknown;

/** The database, with signals that the test triggers. */
function withTestSignals(database: Database) {
  const handlers = new Map<string, Handler>();
  const signals = {
    ...database.signals,
    subscribe: (channel: string, handler: Handler) => {
      handlers.set(channel, handler);
      return () => undefined;
    },
    onReconnect: (handler: () => void) => {
      handlers.set("reconnect", handler);
      return () => undefined;
    },
  };
  const sendSignal = (channel: string, payload = "") => handlers.get(channel)!(payload);
  return { signalled: { ...database, signals }, sendSignal };
}

const rounds = 20;

describeDatabase("a signal", (open) => {
  it.each([
    ["keys", "k", "l"],
    ["workspaces", "w", "v"],
    ["reconnect", "", undefined],
  ])(
    "KEY-07: about %s makes the next call of the named key or workspace ask the database, and no other call",
    async (channel, own, other) => {
      const database = await open();
      await addWorkspace(database, "w");
      await addKey(database, { workspaceId: "w", id: "k", createdBy: "m" });
      const { signalled, sendSignal } = withTestSignals(database);
      const ledger = createLedger(signalled);
      await ledger.credit({ workspaceId: "w", amountNano: 1_000_000n, reference: "start" });
      const call = { workspaceId: "w", keyId: "k", keyRotation: 0, amountNano: 10n };
      let id = 0;
      /** True if a call begins synchronously, which means that the gateway did not ask the database. */
      const beginsAtOnce = async (): Promise<boolean> => {
        let isBegun = false;
        const spent = ledger.spend({ ...call, id: `c${(id += 1)}` }, () => {
          isBegun = true;
          return Promise.resolve({ amountNano: 1n });
        });
        const atOnce = isBegun;
        await spent;
        return atOnce;
      };
      let others = 0;
      for (let round = 0; round < rounds; round += 1) {
        if (other !== undefined) sendSignal(channel, other);
        // This may be false if the machine stalled for 50 ms.
        if (await beginsAtOnce()) others += 1;
        sendSignal(channel, own);
        expect(await beginsAtOnce()).toBe(false);
      }
      expect(others).toBeGreaterThan(0);
      await ledger.close();
    },
  );
});
