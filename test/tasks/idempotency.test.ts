// One idempotency key makes one task: during the first submission and after it, with the same body and another, on one gateway
// and on two. docs/decisions.md "Idempotency"; TASK-10, TASK-45; T81.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ledgerReaderOf } from "../money/support.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { sharedPostgres, temporaryDirectory } from "../support/postgres.ts";
import {
  clipModel,
  configurationOf,
  oneKey,
  says,
  startArkVendor,
  type ArkVendor,
} from "./support.ts";

const body = { model: "acme/clip", prompt: "A boat", duration: 2 };
/** The point where the next submission stops, and the promise that resumes it. Undefined: it does not stop. */
let pendingHold:
  | { readonly at: string; readonly reach: () => void; readonly resumed: Promise<void> }
  | undefined;

/** Stops the next submission at a point until `resume` is called. */
function hold(at: string) {
  const arrival = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  pendingHold = { at, reach: arrival.resolve, resumed: release.promise };
  return { reached: arrival.promise, resume: release.resolve };
}

let vendor: ArkVendor;
/** Two gateways on one database; submissions of the first may be held. */
let gateways: GatewayUnderTest[];
beforeAll(async () => {
  vendor = await startArkVendor();
  const databaseUrl = await (await sharedPostgres()).createMigrated();
  const options = {
    config: configurationOf([oneKey("ark", vendor)], [clipModel("acme/clip", ["ark"])]),
    databaseUrl,
    environment: { TOLLGATE_DATA_DIR: temporaryDirectory() },
  };
  const timing = { firstPollMs: 20, sweepMs: 50 };
  const first = await startTestGateway({
    ...options,
    tasks: {
      timing,
      async at(point) {
        if (pendingHold?.at !== point) return;
        const { reach, resumed } = pendingHold;
        pendingHold = undefined;
        reach();
        await resumed;
      },
    },
  });
  await first.credit("1000");
  gateways = [first, await startTestGateway({ ...options, tasks: { timing } })];
});
afterAll(async () => {
  await Promise.all((gateways ?? []).map((one) => one.close()));
  await vendor?.close();
});

const post = (index: number, key: string, change: object = {}) => {
  const headers = { authorization: `Bearer ${gateways[0]!.key}`, "idempotency-key": key };
  return gateways[index]!.post("/v1/tasks", { ...body, ...change }, headers);
};
async function answerOf(response: Response) {
  const result = (await response.json()) as { id?: string; error?: { code: string } };
  return {
    status: response.status,
    result: result.error?.code ?? result.id,
    replayed: response.headers.get("idempotent-replayed"),
    retryAfter: response.headers.get("retry-after"),
  };
}
const tasksOf = async (prompt: string) =>
  gateways[0]!.database.query("select id from tasks where request->>'prompt' = $1", [prompt]);

describe.each([
  ["the same gateway", 0],
  ["another gateway", 1],
])("a second request while the first is in flight, at %s", (_where, other) => {
  it.each(["submit.accepted", "submit.committed"])(
    "TASK-10 TASK-45 T81: with the first held at %s, is refused as in progress or gets the first one's task, and never makes a second task",
    async (point) => {
      const key = `${point}-${other}`;
      const prompt = `A boat, ${key}`;
      const { reached, resume } = hold(point);
      const first = post(0, key, { prompt });
      await reached;
      const meanwhile = await answerOf(await post(other, key, { prompt }));
      const otherBody = await answerOf(await post(other, key, { prompt, duration: 3 }));
      resume();
      const { status, result: id } = await answerOf(await first);
      expect([status, id]).toEqual([200, expect.stringMatching(/^task_/)]);
      // A committed task is known everywhere, except in the process that has not answered its submission yet.
      const known = point === "submit.committed" && other === 1;
      expect(meanwhile).toEqual(
        known
          ? { status: 200, result: id, replayed: "true", retryAfter: "15" }
          : { status: 409, result: "idempotency_in_progress", replayed: null, retryAfter: "1" },
      );
      expect([otherBody.status, otherBody.result]).toEqual(
        known ? [422, "idempotency_key_reuse"] : [409, "idempotency_in_progress"],
      );
      expect(await answerOf(await post(other, key, { prompt }))).toMatchObject({
        status: 200,
        result: id,
        replayed: "true",
      });
      expect(await tasksOf(prompt)).toHaveLength(1);
    },
  );
});

describe("concurrent requests with idempotency keys", () => {
  it("TASK-10 T81: forty requests with one key at two gateways make one task, one hold and one job", async () => {
    const prompt = "One of forty";
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, index) =>
        answerOf(await post(index % 2, "forty", { prompt })),
      ),
    );
    const made = answers.filter(({ status }) => status === 200);
    const waiting = answers.filter(({ status }) => status === 409);
    expect(made.length + waiting.length).toBe(40);
    expect(new Set(made.map(({ result }) => result)).size).toBe(1);
    expect(made.filter(({ replayed }) => replayed === null)).toHaveLength(1);
    expect(await tasksOf(prompt)).toHaveLength(1);
    const books = ledgerReaderOf(gateways[0]!.database);
    await books.expectClean();
    const charges = (await books.charges()).filter(
      ({ reference }) => reference === made[0]!.result,
    );
    expect(charges).toHaveLength(1);
    expect(vendor.calls("POST").filter(({ text }) => text.includes(prompt))).toHaveLength(1);
  });

  it("TASK-45: requests that the balance refuses leave their keys unused, and delay no other request", async () => {
    // No task ends meanwhile, so all holds stay.
    vendor.plan("GET", says.running);
    const { availableNano } = await gateways[0]!.ledger.balance(gateways[0]!.workspaceId);
    const [row] = await gateways[0]!.database.query<{ reserved_nano: bigint }>(
      "select reserved_nano from tasks limit 1",
    );
    const affordable = Number(availableNano / row!.reserved_nano);
    const count = affordable + 10;
    const send = () =>
      Promise.all(
        Array.from({ length: count }, async (_, index) =>
          answerOf(await post(0, `money-${index}`, { prompt: "Dear" })),
        ),
      );
    const first = await send();
    expect(first.filter(({ status }) => status === 402)).toHaveLength(10);
    await gateways[0]!.credit("10000");
    const second = await send();
    expect(second.map(({ status }) => status)).toEqual(first.map(() => 200));
    for (const [index, { status, result }] of first.entries()) {
      const again = second[index]!;
      expect([again.replayed, status === 200 ? again.result : result]).toEqual(
        status === 200 ? ["true", result] : [null, "insufficient_balance"],
      );
    }
    expect(await tasksOf("Dear")).toHaveLength(count);
  });
});
