/** The ledger's answers, as tables (see support.ts). docs/ledger.md. */
import { expect, it } from "vitest";
import { readEntries, readSpend } from "../../src/admin/index.ts";
import { describeDatabase } from "../support/postgres.ts";
import { OpenCalls } from "./open-calls.ts";
import { addKey, addWorkspace, runTable, setLedgerClock } from "./support.ts";
import { createLedger } from "../support/ledger.ts";

describeDatabase("ledger tables", (open) => {
  it("BILL-04: a post charges the actual cost and releases the rest of the hold; a repeated post returns the first result", async () => {
    await runTable(
      await open(),
      `
      account W
      key     K W
      deposit W 10.00 d1       -> credited, available 10.00
      reserve R1 K 4.00        -> reserved, available 6.00
      reserve R2 K 7.00        -> insufficient_balance, available 6.00
      reserve R1 K 4.00        -> reserved, available 6.00
      post    R1 1.25          -> posted 1.25, available 8.75
      post    R1 1.25          -> already_posted 1.25, available 8.75
      post    R1 3.00          -> already_posted 1.25, available 8.75
      void    R1               -> already_posted, available 8.75
      reserve R1 K 1.00        -> reserved, available 8.75      # an id is used once, for ever
      reserve R3 K 8.75        -> reserved, available 0                 # to the last nano
      reserve R4 K 0.000000001 -> insufficient_balance, available 0
      reserve R5 K 0           -> reserved, available 0
      void    R3               -> voided, available 8.75
      void    R3               -> already_voided, available 8.75
      post    R3 1.00          -> already_voided 0, available 8.75
      post    R9 1.00          -> unknown 0
      void    R9               -> unknown
      post    R5 9.00          -> posted 9, available -0.25              # the actual, even where it is higher
      reserve R6 K 0           -> insufficient_balance, available -0.25
      deposit W 1.00 d1        -> already_credited, available -0.25
      deposit W 1.00 d2        -> credited, available 0.75
      reserve R6 K 0.75        -> reserved, available 0
    `,
    );
  });

  it("BILL-02: a charge counts for the key's workspace and no other", async () => {
    await runTable(
      await open(),
      `
      account W1
      account W2
      key     K1 W1
      key     K2 W2
      deposit W1 1.00 d        -> credited, available 1.00
      deposit W2 1.00 d        -> credited, available 1.00
      reserve R1 K1 0.60       -> reserved, available 0.40
      reserve R2 K2 1.00       -> reserved, available 0
      post    R1 0.50          -> posted 0.5, available 0.50
      void    R2               -> voided, available 1.00
    `,
    );
  });

  it("KEY-13: key and workspace are checked at the reservation, in a fixed order; earlier reservations still settle", async () => {
    await runTable(
      await open(),
      `
      account W
      key     K W
      deposit W 5.00 d         -> credited
      reserve R0 K 1.00        -> reserved, available 4.00
      reserve R1 X 1.00        -> key_unknown
      status  K disabled
      reserve R2 K 1.00        -> key_disabled, available 4.00
      status  K active
      reserve R3 K 1.00        -> reserved, available 3.00
      expires K 2026-11-04T12:00:00Z
      reserve R4 K 1.00        -> key_expired, available 3.00
      status  W disabled
      reserve R5 K 1.00        -> key_expired, available 3.00
      expires K 2026-11-04T12:00:01Z
      reserve R6 K 1.00        -> workspace_disabled, available 3.00
      cap     key K total 0
      reserve R6 K 9.00        -> workspace_disabled, available 3.00
      status  W active
      reserve R6 K 9.00        -> key total 0, available 3.00
      status  K revoked
      reserve R7 K 1.00        -> key_revoked, available 3.00
      post    R0 0.40          -> posted 0.4, available 3.60
    `,
    );
  });

  it("CAP-01 CAP-05 CAP-07: each window refuses calls when charges reach it, and holds do not count", async () => {
    for (const [window, until] of [
      ["total", ""],
      ["monthly", " until 2026-12-01T00:00"],
      ["weekly", " until 2026-11-09T00:00"],
      ["daily", " until 2026-11-05T00:00"],
    ]) {
      await runTable(
        await open(),
        `
        account W
        key     K W
        deposit W 100 d        -> credited
        cap     key K ${window} 3.00
        reserve R1 K 50.00     -> reserved, available 50        # far above the cap, but nothing is charged yet
        reserve R2 K 2.00      -> reserved
        post    R2 2.00        -> posted 2
        reserve R3 K 9.00      -> reserved                      # 2.00 of 3.00
        post    R3 1.00        -> posted 1
        reserve R4 K 0.01      -> key ${window} 3${until}
        cap     key K ${window} 3.000000001
        reserve R4 K 0.01      -> reserved
        cap     key K ${window} 0
        reserve R5 K 0         -> key ${window} 0${until}
        cap     key K ${window} none
        reserve R5 K 0         -> reserved
      `,
      );
    }
  });

  it("CAP-02 CAP-03 CAP-06: daily, weekly and monthly caps reset at their UTC boundary, the total never", async () => {
    await runTable(
      await open(),
      `
      account W
      key     KD W
      key     KW W
      key     KM W
      key     KT W
      deposit W 100 d          -> credited
      cap     key KD daily 1.00
      cap     key KW weekly 1.00
      cap     key KM monthly 1.00
      cap     key KT total 1.00
      at      2026-11-28T23:59:59.999Z                          # a Saturday
      reserve D1 KD 1          -> reserved
      post    D1 1             -> posted 1
      reserve W1 KW 1          -> reserved
      post    W1 1             -> posted 1
      reserve M1 KM 1          -> reserved
      post    M1 1             -> posted 1
      reserve T1 KT 1          -> reserved
      post    T1 1             -> posted 1
      reserve D2 KD 1          -> key daily 1 until 2026-11-29T00:00
      at      2026-11-29T00:00:00Z
      reserve D2 KD 1          -> reserved
      reserve W2 KW 1          -> key weekly 1 until 2026-11-30T00:00
      at      2026-11-29T23:59:59.999Z
      reserve W2 KW 1          -> key weekly 1 until 2026-11-30T00:00
      at      2026-11-30T00:00:00Z                              # Monday
      reserve W2 KW 1          -> reserved
      reserve M2 KM 1          -> key monthly 1 until 2026-12-01T00:00
      at      2026-12-01T00:00:00Z
      reserve M2 KM 1          -> reserved
      at      2027-12-01T00:00:00Z
      reserve T2 KT 1          -> key total 1
    `,
    );
  });

  it("a charge counts in the period in which it is posted, whenever it was reserved", async () => {
    await runTable(
      await open(),
      `
      account W
      key     K W
      deposit W 100 d          -> credited
      cap     key K daily 1.00
      at      2026-11-04T23:59:59Z
      reserve R1 K 1           -> reserved
      at      2026-11-05T00:00:01Z
      post    R1 1             -> posted 1
      reserve R2 K 1           -> key daily 1 until 2026-11-06T00:00
      at      2026-11-04T23:59:59Z                              # a node whose clock is behind
      reserve R2 K 1           -> key daily 1 until 2026-11-05T00:00
      cap     key K daily none
      reserve R2 K 1           -> reserved
      post    R2 1             -> posted 1
    `,
    );
  });

  it("CAP-09: all three layers apply: workspace before member before key, and the longest window first", async () => {
    await runTable(
      await open(),
      `
      account W
      key     K1 W by M
      key     K2 W by M
      key     K3 W by N
      deposit W 100 d          -> credited
      cap     key K1 daily 2
      cap     member M daily 3
      cap     workspace W daily 4
      reserve A K1 2           -> reserved
      post    A 2              -> posted 2
      reserve B K1 1           -> key daily 2 until 2026-11-05T00:00
      reserve B K2 1           -> reserved
      post    B 1              -> posted 1
      reserve C K2 1           -> member daily 3 until 2026-11-05T00:00
      reserve C K1 1           -> member daily 3 until 2026-11-05T00:00
      reserve C K3 1           -> reserved
      post    C 1              -> posted 1
      reserve D K3 1           -> workspace daily 4 until 2026-11-05T00:00
      reserve D K1 1           -> workspace daily 4 until 2026-11-05T00:00
      cap     workspace W weekly 4
      reserve D K3 1           -> workspace weekly 4 until 2026-11-09T00:00
      cap     workspace W total 4
      reserve D K3 1           -> workspace total 4
    `,
    );
  });

  it("CAP-08: a void does not count", async () => {
    await runTable(
      await open(),
      `
      account W
      key     K W by M
      deposit W 100 d          -> credited
      cap     key K total 1
      reserve A K 1            -> reserved
      void    A                -> voided
      reserve B K 1            -> reserved
      void    B                -> voided
      reserve C K 1            -> reserved, available 99
    `,
    );
  });

  it("a hard cap counts open holds too, and cannot be exceeded", async () => {
    await runTable(
      await open(),
      `
      account W
      key     K1 W by M
      key     K2 W by M
      deposit W 100 d          -> credited
      cap     member M daily 3 hard
      reserve A K1 2           -> reserved
      reserve B K2 1.01        -> member daily 3 until 2026-11-05T00:00
      reserve B K2 1           -> reserved
      reserve C K1 0.01        -> member daily 3 until 2026-11-05T00:00
      post    A 0.50           -> posted 0.5
      reserve C K1 1.50        -> reserved
      void    B                -> voided
      reserve D K2 1           -> reserved
      reserve E K2 0           -> reserved
    `,
    );
  });

  it("T65: a hold that is not extended is released once when its lease ends; an extended one stays", async () => {
    await runTable(
      await open(),
      `
      account W
      key     K W by M
      deposit W 10 d           -> credited
      reserve A K 1 lease 60   -> reserved
      reserve B K 2 lease 60   -> reserved, available 7
      expire                   -> 0
      at      2026-11-04T12:00:59.999Z
      expire                   -> 0
      extend  B 60
      at      2026-11-04T12:01:00Z
      expire                   -> 1
      expire                   -> 0
      post    A 1              -> late posted 1, available 7    # what was made is paid, once
      post    A 1              -> late already_posted 1, available 7
      void    A                -> already_voided
      post    B 1.5            -> posted 1.5, available 7.5
    `,
    );
  });

  it("entries are listed newest first, page by page, with the balance after each", async () => {
    const database = await open();
    await setLedgerClock(database, "2026-11-04T12:00:00Z");
    const ledger = createLedger(database);
    await addWorkspace(database, "W");
    await addKey(database, { workspaceId: "W", id: "K", createdBy: "M" });
    await ledger.credit({ workspaceId: "W", amountNano: 100n, reference: "d", note: "hello" });
    const names = ["r1", "r2", "r3", "r4"];
    const call = { workspaceId: "W", keyId: "K", keyRotation: 0, amountNano: 20n };
    const calls = new OpenCalls(ledger);
    for (const id of names) await calls.begin({ ...call, id });
    // One batch writes all three; each entry still has the balance after itself.
    await Promise.all(names.slice(0, 3).map((id) => calls.end(id, 10n)));
    await calls.end("r4", null);

    const first = await readEntries(database, "W", { limit: 3 });
    const second = await readEntries(database, "W", { limit: 3, cursor: first.nextCursor! });
    const all = [...first.entries, ...second.entries];
    expect(second.nextCursor).toBeNull();
    expect(
      all.map((entry) => [entry.kind, entry.reference, entry.amountNano, entry.balanceAfterNano]),
    ).toEqual([
      ["void", "r4", 0n, 70n],
      ["charge", "r3", 10n, 70n],
      ["charge", "r2", 10n, 80n],
      ["charge", "r1", 10n, 90n],
      ["credit", "d", 100n, 100n],
    ]);
    expect(all[1]).toMatchObject({ keyId: "K", memberId: "M", heldNano: 20n, note: null });
    expect(all[4]).toMatchObject({
      keyId: null,
      note: "hello",
      createdAt: new Date("2026-11-04T12:00:00Z"),
    });
    // The unused reservation is returned.
    await expect.poll(async () => (await ledger.balance("W")).heldNano).toBe(0n);
    expect(await readSpend(database, "W", { layer: "key", id: "K" })).toMatchObject({
      total: 30n,
      daily: 30n,
    });
    await setLedgerClock(database, "2026-11-05T12:00:00Z");
    expect(await readSpend(database, "W", { layer: "workspace", id: "W" })).toMatchObject({
      total: 30n,
      monthly: 30n,
      daily: 0n,
      resetsAt: { daily: new Date("2026-11-06T00:00:00Z") },
    });
  });

  it("constraints refuse a negative held amount and any change of entries", async () => {
    const database = await open();
    await addWorkspace(database, "w");
    await createLedger(database).credit({ workspaceId: "w", amountNano: 5n, reference: "r" });
    await expect(database.query("update ledger_accounts set held_nano = -1")).rejects.toThrow(
      /held_nano/,
    );
    await expect(database.query("update ledger_entries set amount_nano = 6")).rejects.toThrow(
      /never changed/,
    );
    await expect(database.query("delete from ledger_entries")).rejects.toThrow(/never changed/);
    for (const sql of [
      "truncate ledger_entries",
      "truncate only ledger_entries restart identity cascade",
      "truncate usage_days, ledger_entries",
    ])
      await expect(database.query(sql)).rejects.toThrow(/never changed/);
    expect(await database.query("select amount_nano from ledger_entries")).toEqual([
      { amount_nano: 5n },
    ]);
  });
});
