/** One call over the management API: its error, its reservation, its changed parameters and its price line by line. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { changesOf } from "../../src/admin/reads/changes.ts";
import { formatUsd, parseUsd } from "../../src/base/money.ts";
import { leastCostMs } from "../support/cost.ts";
import { eventually } from "../support/patience.ts";
import { startWorld, type World } from "./support.ts";
import { exactUsd } from "../support/exact-usd.ts";

let world: World;
let key: string;
beforeAll(async () => {
  world = await startWorld();
  ({ key } = await world.keyOf(world.mem, world.home.id));
});
afterAll(() => world.gateway.close());

async function send(path: string, body: object) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const answer = await fetch(world.gateway.url + path, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  return { id: answer.headers.get("x-request-id")!, text };
}
const messages = [{ role: "user", content: "Hi" }];
const read = async (id: string) => world.must(await world.mem.call("GET", `/requests/${id}`));

it("the price lines of each kind of call add up to its charge, and the call names its ledger entry and reservation", async () => {
  const tricky = { usage: { input: 1003, output: 207 } };
  const ids = [
    await world.chat(key, tricky),
    await world.chat(key, tricky, "sandbox/messages"),
    await world.video(key),
    (await send("/v1/embeddings", { model: "sandbox/embedding", input: "Hi" })).id,
    (await send("/v1/images/generations", { model: "sandbox/image-model-a", prompt: "A boat" })).id,
  ];
  for (const id of ids) {
    const row = await read(id);
    expect({ id, status: row.status, error: row.error }).toMatchObject({
      status: "succeeded",
      error: null,
    });
    expect([row.workspace_name, row.key_name, row.key_last4]).toEqual([
      "home",
      "calls",
      key.slice(-4),
    ]);
    const lines = row.price_lines as { amount: string; name: string }[];
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.reduce((sum, { amount }) => sum + exactUsd(amount), 0n)).toBe(exactUsd(row.cost));
    const [entry] = await world.gateway.database.query<{ id: string; held: bigint }>(
      "select 'entry_' || entry as id, held_nano as held from ledger_entries where reference = $1",
      [id],
    );
    expect(row.ledger_entry_id).toBe(entry!.id);
    expect(exactUsd(row.reserved)).toBe(entry!.held * 1_000_000n);
    expect(exactUsd(row.reserved)).toBeGreaterThan(0n);
  }
});

it("a cached answer has one price line of its own", async () => {
  const own = await world.keyOf(world.ann, world.home.id);
  const cache = { ttl_seconds: 60, charge_percent: 33 };
  world.must(await world.ann.call("PATCH", `/keys/${own.id}`, { response_cache: cache }));
  const of = async (id: string) => world.must(await world.ann.call("GET", `/requests/${id}`));
  // Words that no other call of the workspace contains.
  const script = { reply: own.id, usage: { input: 1001, output: 201 } };
  const first = await of(await world.chat(own.key, script));
  const repeat = await eventually(async () => {
    const row = await of(await world.chat(own.key, script));
    return row.explanation.cache === "hit" && row;
  }, "a hit");
  const cost = formatUsd((parseUsd(first.cost) * 33n + 99n) / 100n);
  expect(repeat).toMatchObject({ cost, usage: null });
  const line = { name: "cached_answer", quantity: "1", per: "request" };
  expect(repeat.price_lines).toEqual([{ ...line, unit_price: cost, amount: cost }]);
});

it("a call that outlived its hold names the entry that charged it, and the reservation of the hold", async () => {
  const { database } = world.gateway;
  const script = JSON.stringify({ task_seconds: 1 });
  const body = { model: "sandbox/video-model-v1", prompt: `A\n#sandbox ${script}`, duration: 2 };
  const { id } = JSON.parse((await send("/v1/tasks", body)).text) as { id: string };
  // Both in one transaction, because the gateway's own sweep may find it in between.
  const expired = await database.transaction(async (tx) => {
    await tx.query(
      "update ledger_holds set lease_until = now() - interval '1 hour' where id = $1",
      [id],
    );
    return tx.query("select ledger_expire_holds(9) as n");
  });
  expect(expired).toEqual([{ n: 1 }]);
  const row = await eventually(async () => {
    const { status, json } = await world.mem.call("GET", `/requests/${id}`);
    return status === 200 && (json as { cost: string; reserved: string; ledger_entry_id: string });
  }, "the row of the task");
  const entries = await database.query<{ id: string; kind: string; usd: bigint }>(
    `select 'entry_' || entry as id, kind, amount_nano as usd from ledger_entries
     where reference like $1 || '%' order by entry`,
    [id],
  );
  expect(entries.map(({ kind }) => kind)).toEqual(["expire", "charge"]);
  expect(row).toMatchObject({ cost: "0.1", reserved: "0.1", ledger_entry_id: entries[1]!.id });
});

it("a failed call shows the error that its caller got, and whether it was a stream", async () => {
  for (const stream of [true, false]) {
    const { id, text } = await send("/v1/chat/completions", { model: "no/such", messages, stream });
    const { error } = JSON.parse(text) as { error: { message: string } };
    expect(await read(id)).toMatchObject({
      stream,
      error: { type: "not_found_error", code: "model_not_found", message: error.message },
      reserved: null,
      price_lines: [],
      changes: [],
    });
  }
  const id = await world.chat(key, { status: 500 });
  expect((await read(id)).error).toMatchObject({ code: "upstream_error" });
  const script = JSON.stringify({ task_outcome: "failed", error: "no film" });
  const task = await world.video(key, { prompt: `A boat\n#sandbox ${script}` });
  expect(await read(task)).toMatchObject({
    status: "failed",
    cost: "0",
    reserved: expect.stringMatching(/^0\.\d+$/) as string,
    error: { code: expect.any(String) as string, message: expect.stringMatching(/\w/) as string },
  });
});

it("changes are listed field by field, also for an unknown field of the caller", async () => {
  const body = { model: "sandbox/messages", messages, frequency_penalty: 1, "a: b": 1 };
  const { id } = await send("/v1/chat/completions", body);
  const row = await read(id);
  expect((row.changes as { param: string }[]).map(({ param }) => param).sort()).toEqual(
    [...(row.dropped as string[])].sort(),
  );
  expect(row.changes).toContainEqual({
    param: "frequency_penalty",
    action: "dropped",
    note: expect.stringMatching(/dropped$/) as string,
  });
});

it("the changes of a call with ten thousand unknown fields are reported in a moment", async () => {
  const params = Array.from({ length: 10_000 }, (_, at) => `field: ${at}`);
  const notes = params.map((param) => `${param}: unknown, dropped`);
  // Comparing each note with each name took seconds.
  expect(await leastCostMs(() => changesOf(params, notes), 300)).toBeLessThan(300);
  expect(changesOf([...params, "other"], notes)).toEqual([
    ...params.map((param) => ({ param, action: "dropped", note: "unknown, dropped" })),
    { param: "other", action: "dropped", note: null },
  ]);
});

it("a call with thousands of unknown fields has a small row in the log", async () => {
  const names = Array.from({ length: 2_000 }, (_, at) => `field_${at}`.padEnd(500, "x"));
  const fields = Object.fromEntries(names.map((name) => [name, 1]));
  const { id } = await send("/v1/chat/completions", {
    model: "sandbox/messages",
    messages,
    ...fields,
  });
  const row = await read(id);
  expect(row.status).toBe("succeeded");
  expect(row.notes.at(-1)).toBe("and 1800 more that were dropped or changed");
  expect(JSON.stringify([row.dropped, row.notes]).length).toBeLessThan(250_000);
});
