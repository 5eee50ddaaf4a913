/** Alerts that were sent: their rows are kept while they can prevent another alert. docs/callbacks.md "Spend caps". */
import { expect, it } from "vitest";
import { forgetOldAlerts } from "../../src/tasks/webhooks/spend-alerts.ts";
import { addKey, addWorkspace, setCap } from "../ledger/support.ts";
import { describeDatabase } from "../support/postgres.ts";

const alerts = `
  insert into spend_alerts (workspace_id, scope, scope_id, cap_window, period_start, cap_nano, threshold, spent_nano, created_at)
  select 'w', scope, id, cap_window, case cap_window when 'total' then '0001-01-01' else at::date end, cap, threshold, 9, at
  from (values ('workspace', 'w'), ('member', 'm'), ('key', 'k'), ('key', 'revoked'), ('key', 'gone')) o (scope, id),
    (values ('total'), ('daily')) x (cap_window), (values (10), (20)) c (cap),
    (values (80, now() - interval '70 days'), (90, now())) t (threshold, at)`;

describeDatabase("a spend alert", (open) => {
  it("is forgotten after two months if its period or its total cap is over", async () => {
    const database = await open();
    await addWorkspace(database, "w");
    for (const id of ["k", "revoked"])
      await addKey(database, { workspaceId: "w", id, createdBy: "m" });
    for (const [layer, id] of [
      ["workspace", "w"],
      ["member", "m"],
      ["key", "k"],
      ["key", "revoked"],
    ] as const)
      await setCap(database, { layer, workspaceId: "w", id, window: "total", amountNano: 10n });
    await database.query("update api_keys set status = 'revoked' where id = 'revoked'");
    await database.query(alerts);
    await forgetOldAlerts(database, Date.now());
    const left = await database.query<{ name: string }>(
      "select scope_id || ' ' || cap_window || ' ' || cap_nano as name from spend_alerts order by created_at, name",
    );
    const names = left.map(({ name }) => name);
    const recent = ["gone", "k", "m", "revoked", "w"].flatMap((id) =>
      ["daily 10", "daily 20", "total 10", "total 20"].map((rest) => `${id} ${rest}`),
    );
    expect(names).toEqual(["k total 10", "m total 10", "w total 10", ...recent]);
  });
});
