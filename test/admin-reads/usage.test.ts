/** What was used and what it cost: sums that are the ledger's own, by period and by what used it, for each reader. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tamper } from "../ledger/support.ts";
import { parseUsd } from "../../src/base/money.ts";
import type { Person } from "../admin/people.ts";
import { startWorld, usageTold, type World } from "./support.ts";

interface Row {
  readonly start: string;
  readonly requests: number;
  readonly cost: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly output_video_seconds: number;
  readonly [name: string]: unknown;
}

describe("usage", () => {
  let world: World;
  let keys: Record<"mem" | "mel" | "bob", { id: string; key: string }>;
  beforeAll(async () => {
    world = await startWorld();
    const { home, away } = world;
    keys = {
      mem: await world.keyOf(world.mem, home.id),
      mel: await world.keyOf(world.mel, home.id),
      bob: await world.keyOf(world.bob, away.id),
    };
    await world.chat(keys.mem.key);
    await world.chat(keys.mem.key);
    await world.chat(keys.mel.key, { usage: { input: 7, output: 3 } }, "sandbox/messages");
    await world.chat(keys.mel.key, { status: 400, error: "no" });
    await world.chat(keys.bob.key);
    await world.video(keys.mem.key);
  });
  afterAll(() => world.gateway.close());

  const usage = async (query = "", person: Person = world.root): Promise<Row[]> => {
    const { status, json, text } = await person.call("GET", `/usage?${query}`);
    expect({ status, text }).toEqual({ status: 200, text });
    return json.data as Row[];
  };
  const sum = (rows: Row[]): bigint =>
    rows.map(({ cost }) => parseUsd(cost)).reduce((one, other) => one + other, 0n);
  const charged = async (workspaceId?: string): Promise<bigint> => {
    const [row] = await world.gateway.database.query<{ sum: bigint }>(
      "select coalesce(sum(charged_nano), 0)::bigint as sum from ledger_accounts where $1::text is null or workspace_id = $1",
      [workspaceId ?? null],
    );
    return row!.sum;
  };

  it("adds up to the ledger to the last nano-dollar, however it is cut", async () => {
    const all = await charged();
    expect(all).toBeGreaterThan(0n);
    for (const granularity of ["hour", "day", "month", "total"]) {
      for (const group of ["", "model", "key", "provider", "member", "workspace"]) {
        const by = group === "" ? "" : `&group_by=${group}`;
        const query = `granularity=${granularity}${by}`;
        expect({ query, sum: sum(await usage(query)) }).toEqual({ query, sum: all });
      }
    }
    expect(sum(await usage(`workspace_id=${world.away.id}`))).toBe(await charged(world.away.id));
    expect(sum(await usage(`key_id=${keys.bob.id}`))).toBe(await charged(world.away.id));
  });

  it("counts every call once, failed ones too, and its tokens by kind", async () => {
    const [total] = await usage();
    expect(total).toMatchObject({
      requests: 6,
      input_tokens: 3 * usageTold.input + 7,
      output_tokens: 3 * usageTold.output + 3,
      reasoning_tokens: 0,
      output_video_seconds: 2,
      output_images: 0,
    });
    const byModel = await usage("group_by=model");
    expect(Object.fromEntries(byModel.map((row) => [row["model"], row.requests]))).toEqual({
      "sandbox/chat": 4,
      "sandbox/messages": 1,
      "sandbox/video-model-v1": 1,
    });
    const byKey = await usage("group_by=key");
    expect(Object.fromEntries(byKey.map((row) => [row["key_id"], row.requests]))).toEqual({
      [keys.mem.id]: 3,
      [keys.mel.id]: 2,
      [keys.bob.id]: 1,
    });
    const byMember = await usage("group_by=member");
    expect(Object.fromEntries(byMember.map((row) => [row["member_id"], row.requests]))).toEqual({
      [world.mem.userId]: 3,
      [world.mel.userId]: 2,
      [world.bob.userId]: 1,
    });
  });

  it("of a charge whose log row is lost the cost stays, of no model", async () => {
    const id = await world.chat(keys.bob.key);
    await world.bob.call("GET", "/requests");
    const { database } = world.gateway;
    await database.query("delete from requests where id = $1", [id]);
    const rows = await usage("group_by=model", world.bob);
    expect(rows.map((row) => [row["model"], row.requests])).toEqual(
      expect.arrayContaining([
        ["sandbox/chat", 1],
        [null, 1],
      ]),
    );
    expect(sum(rows)).toBe(await charged(world.away.id));
    expect(sum(await usage("group_by=key", world.bob))).toBe(await charged(world.away.id));
  });

  it("of a call that outlived its hold the late charge counts, once", async () => {
    const { database } = world.gateway;
    const id = await world.chat(keys.bob.key);
    await world.bob.call("GET", "/requests");
    const sums = async () => (await usage("", world.bob)).map(({ start: _start, ...rest }) => rest);
    const before = await sums();
    await tamper(
      database,
      "update ledger_entries set reference = reference || ':late' where reference = $1",
      [id],
    );
    expect(await sums()).toEqual(before);
  });

  it("periods are of UTC, begin at from and end before to", async () => {
    const { database } = world.gateway;
    const entries = await database.query<{ reference: string }>(
      "select reference from ledger_entries where kind = 'charge' and workspace_id = $1 order by entry",
      [world.away.id],
    );
    const times = ["2031-03-31T23:59:59.999Z", "2031-04-01T00:00:00.000Z"];
    for (const [index, time] of times.entries()) {
      const { reference } = entries[index]!;
      await tamper(database, "update ledger_entries set created_at = $2 where reference = $1", [
        reference,
        time,
      ]);
    }
    const rows = await usage(
      "granularity=hour&from=2031-03-01T00:00:00Z&to=2031-05-01T00:00:00%2B00:00",
      world.bob,
    );
    expect(rows.map(({ start }) => start)).toEqual([
      "2031-03-31T23:00:00.000Z",
      "2031-04-01T00:00:00.000Z",
    ]);
    const starts = async (query: string) =>
      (await usage(query, world.bob)).map(({ start, requests }) => [start, requests]);
    const april = "from=2031-04-01T00:00:00Z&to=2031-05-01T00:00:00Z";
    expect(await starts(`granularity=month&${april}`)).toEqual([["2031-04-01T00:00:00.000Z", 1]]);
    const march = "from=2031-03-01T00:00:00Z&to=2031-04-01T00:00:00Z";
    expect(await starts(`granularity=day&${march}`)).toEqual([["2031-03-31T00:00:00.000Z", 1]]);
  });

  it("everybody sees what is theirs to see", async () => {
    const requests = async (person: Person) => (await usage("", person)).map((row) => row.requests);
    expect(await requests(world.ann)).toEqual([5]);
    expect(await requests(world.mem)).toEqual([3]);
    expect(await requests(world.mel)).toEqual([2]);
    expect(await usage(`workspace_id=${world.away.id}`, world.ann)).toEqual([]);
    expect(await usage(`key_id=${keys.mem.id}`, world.mel)).toEqual([]);
  });

  it.each([
    ["granularity=week", "granularity"],
    ["group_by=mood", "group_by"],
    ["from=2030-01-01T00:00:00Z&to=2029-01-01T00:00:00Z", "from"],
  ])("%s: 400 that names it", async (query, param) => {
    const { status, json } = await world.root.call("GET", `/usage?${query}`);
    expect([status, json.error.param]).toEqual([400, param]);
  });
});
