/**
 * The database refuses the charge of an answer: the caller does not get its end, whole, streamed or from the cache, and nothing
 * stays held. The failure does not count against the vendor.
 */
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { chat, eachProtocol, parsed } from "./protocols.ts";
import { answering, costAtFirstNano, readEvents, startWorld, stream, type World } from "./world.ts";
import { eventually } from "../support/patience.ts";
import { json } from "../support/recorder.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.gateway.database.query(
    `create function refuse_entry() returns trigger language plpgsql as
       $$ begin raise exception 'the test refuses it'; end $$`,
  );
});
afterAll(() => world?.close());
afterEach(async () => {
  await allow();
  const { ledger, workspaceId } = world.gateway;
  const held = async () => (await ledger.balance(workspaceId)).heldNano;
  await eventually(async () => (await held()) === 0n, "nothing is held");
});

const refuse = (kind: "charge" | "void") =>
  world.gateway.database.query(
    `create trigger refused before insert on ledger_entries for each row when (new.kind = '${kind}') execute function refuse_entry()`,
  );
const allow = () =>
  world.gateway.database.query("drop trigger if exists refused on ledger_entries");

it.each(eachProtocol)(
  "BILL-01 T16: a %s answer whose charge the database refuses fails with an error and costs nothing",
  async (_name, protocol) => {
    world.answer(answering);
    await refuse("charge");
    const before = await world.charged();
    const model = `${protocol.model}:first`;
    const whole = await world.call(protocol, { model });
    expect(whole.status).toBe(500);
    expect(await whole.json()).toHaveProperty("error");
    const streamed = await world.call(protocol, { model, stream: true });
    expect(streamed.status).toBe(200);
    const events = await readEvents(streamed);
    expect(protocol.textOfFrames(events)).not.toBe("");
    expect([protocol.endsNormally(events), protocol.endsWithError(events)]).toEqual([false, true]);
    for (const answer of [whole, streamed]) {
      const row = await world.row(answer);
      // Uncharged tokens are in no sum of tokens.
      const unpaid = { status: "failed", http_status: 500, cost_nano: 0n, usage: null };
      expect(row).toMatchObject({ ...unpaid, usage_source: null });
      expect(row.attempts.map(({ provider, outcome }) => [provider, outcome])).toEqual([
        ["first", "ok"],
      ]);
    }
    expect(await world.charged()).toBe(before);
  },
);

it("a cached answer whose charge the database refuses is 500, and the next hit works again", async () => {
  world.answer(answering);
  const responseCache = { ttlSeconds: 600, chargePercent: 50 };
  const { key } = await world.makeKey({ name: "cached", responseCache });
  for (const streamed of [false, true]) {
    // Ask the first provider only, because the cached answer has its price.
    const ask = () => world.call(chat, { key, stream: streamed, model: `${chat.model}:first` });
    const firstCalls = () => world.first.requests.length;
    await (await ask()).text();
    await expect
      .poll(async () => {
        const again = await ask();
        await again.text();
        return again.headers.get("x-gw-cache");
      })
      .toBe("hit");
    const [asked, charged] = [firstCalls(), await world.charged()];
    await refuse("charge");
    const answer = await ask();
    expect(answer.status).toBe(500);
    expect(await answer.json()).toHaveProperty("error.message", expect.any(String));
    expect(await world.row(answer)).toMatchObject({
      status: "failed",
      cost_nano: 0n,
      attempts: null,
    });
    expect([firstCalls(), await world.charged()]).toEqual([asked, charged]);
    await allow();
    expect((await ask()).headers.get("x-gw-cache")).toBe("hit");
    expect(await world.charged()).toBe(charged + costAtFirstNano / 2n);
  }
});

it("a failed call answers its own error, even if the database refuses its void entry", async () => {
  await refuse("void");
  world.answer(json({ error: { message: "No such thing.", type: "invalid_request_error" } }, 400));
  const refused = await world.call(chat);
  expect(refused.status).toBe(400);
  expect(await refused.json()).toHaveProperty("error.message", "No such thing.");
  const begun = chat.frames.slice(0, -chat.endFrames);
  world.answer(stream(begun, (upstream) => setImmediate(() => upstream.destroy())));
  const broken = await readEvents(await world.call(chat, { stream: true }));
  expect(chat.endsWithError(broken)).toBe(true);
  expect(JSON.stringify(broken.map(parsed))).toContain("broke off");
});
