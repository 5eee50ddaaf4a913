/**
 * A task whose end was in commits that a promoted standby lacks: it ends again, with one charge in all, and its callback is
 * sent again.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { verifyLedger } from "../../src/verification/index.ts";
import { openLink, type Link } from "../faults/whole/link.ts";
import { startPair, type Pair } from "../faults/whole/pair.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { eventually } from "../support/patience.ts";
import { temporaryDirectory } from "../support/postgres.ts";
import { cutReplication, failOver } from "./support.ts";

let pair: Pair;
let link: Link;
let gateway: GatewayUnderTest;
beforeAll(async () => {
  pair = await startPair(temporaryDirectory(), false);
  link = await openLink(pair.primary.port);
  gateway = await startTestGateway({
    dataDir: temporaryDirectory(),
    databaseUrl: pair.urlOf(link.port),
    environment: { TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on" },
    tasks: { timing: { firstPollMs: 20, sweepMs: 50 } },
  });
});
afterAll(async () => {
  await gateway.close();
  link.close();
  await pair.close();
});

const statusOf = async (id: string): Promise<string> => {
  const answer = await gateway.get(`/v1/tasks/${id}`);
  return ((await answer.json()) as { status: string }).status;
};

async function create(seconds: number): Promise<string> {
  const answer = await gateway.post("/v1/tasks", {
    model: "sandbox/video-model-v1",
    prompt: `A tram.\n#sandbox {"task_seconds": ${seconds}}`,
    duration: 2,
    webhook_url: "https://127.0.0.1:9/hook",
  });
  return ((await answer.json()) as { id: string }).id;
}

it("T67 HOOK-01: a task whose end was lost ends again with one charge and one event; a task whose creation was lost leaves no hold", async () => {
  const id = await create(3);
  const taken = "select 1 from tasks where id = $1 and upstream_id is not null";
  await eventually(
    async () => (await gateway.database.query(taken, [id])).length === 1,
    "the vendor to have it",
  );
  await cutReplication(pair);
  const lost = await create(60);
  await eventually(async () => (await statusOf(id)) === "succeeded", "its end");
  await failOver(pair, link);
  await eventually(
    async () => (await gateway.get(`/v1/tasks/${lost}`)).status === 404,
    "the new primary",
  );
  // On the standby a poll may hold the task. Then its lease of 60 s must expire first.
  await eventually(async () => (await statusOf(id)) === "succeeded", "its second end", 100_000);
  const entries = await gateway.database.query<{ kind: string }>(
    "select kind from ledger_entries where reference = $1",
    [id],
  );
  expect(entries).toEqual([{ kind: "charge" }]);
  const events = await gateway.database.query(
    "select task_id, type from webhook_deliveries where task_id = any($1)",
    [[id, lost]],
  );
  expect(events).toEqual([{ task_id: id, type: "task.succeeded" }]);
  expect(await gateway.database.query("select id from ledger_holds")).toEqual([]);
  expect(await verifyLedger(gateway.database)).toEqual([]);
});
