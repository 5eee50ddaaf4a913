/**
 * The costs of all kinds of calls except plain text, from the vendor's usage to the ledger, the price lines and the usage counts.
 * Amounts calculated by hand are in charge-table.ts, tool-charges.ts and task-charges.ts.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatUsd } from "../../src/base/money.ts";
import { countNames } from "../../src/usage/sums.ts";
import { foldUsage } from "../../src/usage/index.ts";
import { startAdminGateway, type AdminGateway } from "../admin/support.ts";
import { eventually } from "../support/patience.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import { picture } from "../images/support.ts";
import { config, usageCharges, type Charge } from "./charge-table.ts";
import { taskCharges } from "./task-charges.ts";
import { toolCharges, toolModels } from "./tool-charges.ts";

let up: Recorder;
let gateway: AdminGateway;
beforeAll(async () => {
  up = await startRecorder(json({}));
  gateway = await startAdminGateway({
    config: config(up.url) + toolModels,
    sandbox: "on",
    tasks: { timing: { firstPollMs: 30, sweepMs: 100 } },
  });
  await gateway.credit("100");
});
afterAll(async () => {
  await gateway.close();
  await up.close();
});

interface Line {
  readonly name: string;
  readonly quantity: string;
  readonly unit_price: string;
  readonly amount: string;
}

/** Makes a call. Returns its row of the request log. */
async function rowOf({ path, model, body, answer }: Charge) {
  if (answer !== undefined) up.answer(json(answer));
  const response = await gateway.post(path, { ...(!path.includes(model) && { model }), ...body });
  const text = await response.text();
  expect({ ok: response.ok, text }).toMatchObject({ ok: true });
  const id =
    path === "/v1/tasks"
      ? (JSON.parse(text) as { id: string }).id
      : response.headers.get("x-request-id")!;
  return eventually(async () => {
    const { status, json: row } = await gateway.admin("GET", `/requests/${id}`);
    return status === 200 && row;
  }, `the row of ${id}`);
}

const picturePng = (await picture()).toString("base64");
const table = [...usageCharges(picturePng), ...toolCharges, ...taskCharges];

describe("the charge of a call", () => {
  it.each(table)("BILL-01 T53 T55: $name ($source)", async (charge) => {
    const row = await rowOf(charge);
    expect(row).toMatchObject({ status: "succeeded", cost: formatUsd(charge.nano) });
    const lines = (row.price_lines as Line[]).map((line) => [
      line.name,
      line.quantity,
      line.unit_price,
      line.amount,
    ]);
    expect(lines).toEqual(charge.lines);
    const [entry] = await gateway.database.query<{ nano: bigint }>(
      "select amount_nano as nano from ledger_entries where reference = $1",
      [row.id],
    );
    expect(entry!.nano).toBe(charge.nano);
  });

  it.each([false, true])("is in usage with every count (summed: %s)", async (summed) => {
    if (summed) await foldUsage(gateway.database);
    const { data } = (await gateway.admin("GET", "/usage?group_by=model")).json as {
      data: Record<string, unknown>[];
    };
    for (const { name, model, counts, nano } of table) {
      const row = data.find((one) => one["model"] === model)!;
      const seen = countNames.map((count) => [count, row[count]]);
      expect({ name, cost: row["cost"], seen: Object.fromEntries(seen) as object }).toEqual({
        name,
        cost: formatUsd(nano),
        seen: { ...Object.fromEntries(countNames.map((count) => [count, 0])), ...counts },
      });
    }
  });
});
