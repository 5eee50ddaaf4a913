/** Usage and its cost: sums that equal the ledger's, by period and by group, for each reader. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tamper } from "../ledger/support.ts";
import { parseUsd } from "../../src/base/money.ts";
import { eventually } from "../support/patience.ts";
import { newMember, type Person } from "../admin/people.ts";
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

  it("adds up to the ledger to the last nano-dollar, for every granularity and group", async () => {
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
    // All keys have the same name; their last characters distinguish them.
    expect(new Map(byKey.map((row) => [row["key_id"], row["key_last4"]]))).toEqual(
      new Map([keys.mem, keys.mel, keys.bob].map(({ id, key }) => [id, key.slice(-4)])),
    );
    const byMember = await usage("group_by=member");
    expect(Object.fromEntries(byMember.map((row) => [row["member_id"], row.requests]))).toEqual({
      [world.mem.userId]: 3,
      [world.mel.userId]: 2,
      [world.bob.userId]: 1,
    });
  });

  it("keeps the cost of a charge whose log row is lost, without a model", async () => {
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

  it("counts a call that outlived its hold once, with its late charge", async () => {
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

  it("gives several groups of the same moment in one answer, and each adds up to the ledger", async () => {
    const ask = async (query: string, person = world.root) =>
      (await person.call("GET", `/usage?${query}`)).json as {
        readonly data: Row[];
        readonly also?: { group_by: string; data: Row[]; has_more: boolean }[];
      };
    const { data, also = [] } = await ask("also_by=model,key,member,workspace,key&top=1");
    expect(data).toHaveLength(1);
    const all = await charged();
    expect(also.map((one) => [one.group_by, sum(one.data), one.has_more])).toEqual(
      ["model", "key", "member", "workspace"].map((group) => [group, all, false]),
    );
    const [byKey] = (await ask("also_by=key", world.mem)).also!;
    expect(byKey!.data.map((row) => row["key_id"])).toEqual([keys.mem.id]);
    // Sums for a table, without the counts of a bill.
    expect(byKey!.data[0]).toMatchObject({ requests: 3, errors: 0, key_name: "calls" });
    expect(byKey!.data[0]).not.toHaveProperty("output_video_seconds");
    expect(await ask("group_by=key")).not.toHaveProperty("also");
  });

  it("has periods in UTC that include `from` and exclude `to`", async () => {
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

  it("shows each user only what they may see", async () => {
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
    // Otherwise the answer would look as if nothing had failed.
    ["status=error", "status"],
    ["status=failed,expired", "status"],
    ["from=2030-01-01T00:00:00Z&to=2029-01-01T00:00:00Z", "from"],
  ])("%s: 400 that names the parameter", async (query, param) => {
    const { status, json } = await world.root.call("GET", `/usage?${query}`);
    expect([status, json.error.param]).toEqual([400, param]);
  });

  it.each([
    "model=' or 1=1 --",
    "provider=%27%3B drop table usage_hours",
    "status=%00",
    "member_id=nobody",
  ])("%s finds nothing", async (query) => {
    const { status, json } = await world.root.call("GET", `/usage?${query}`);
    expect([status, json.data ?? json.error.param]).toEqual(
      status === 200 ? [200, []] : [400, "status"],
    );
  });

  it("shows no more through filters, groups or long periods", async () => {
    const forever = "from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z";
    const { home, away, mem, mel, bob, ann } = world;
    expect(await usage(`member_id=${mel.userId}&${forever}`, mem)).toEqual([]);
    expect(await usage(`group_by=key&key_id=${keys.bob.id}`, ann)).toEqual([]);
    expect(await usage(`workspace_id=${home.id}&group_by=model&top=3`, bob)).toEqual([]);
    const seen = async (person: Person, group: string, column: string) =>
      (await usage(`group_by=${group}&granularity=day&${forever}`, person)).map(
        (row) => row[column],
      );
    expect(new Set(await seen(ann, "workspace", "workspace_id"))).toEqual(new Set([home.id]));
    expect(new Set(await seen(mem, "member", "member_id"))).toEqual(new Set([mem.userId]));
    expect(new Set(await seen(mem, "key", "key_id"))).toEqual(new Set([keys.mem.id]));
    expect(new Set(await seen(bob, "workspace", "workspace_id"))).toEqual(new Set([away.id]));
  });

  it("is empty for a user who left their only workspace", async () => {
    const { gateway, home, root, must } = world;
    const lone = await newMember(gateway, home.id, { email: "lone@example.com", role: "member" });
    must(await root.call("DELETE", `/workspaces/${home.id}/members/${lone.userId}`));
    for (const query of ["", "granularity=total", "group_by=model&top=4"])
      expect(await usage(query, lone)).toEqual([]);
  });

  it.each([
    ["tz_offset=1.5", "tz_offset"],
    ["tz_offset=15", "tz_offset"],
    ["tz_offset=-13", "tz_offset"],
    ["tz_offset=Europe/Berlin", "tz_offset"],
    ["tz_offset=2&from=2027-01-01T00:00:00Z&to=2027-02-02T00:00:00Z", "tz_offset"],
    ["top=3", "top"],
    ["group_by=model&top=0", "top"],
    ["group_by=model&top=51", "top"],
    ["group_by=model,key", "group_by"],
    ["also_by=model,mood", "also_by"],
    ["also_by=", "also_by"],
    ["also_by=tag:team", "also_by"],
  ])("%s: 400 that names this parameter", async (query, param) => {
    const { status, json } = await world.root.call("GET", `/usage?${query}`);
    expect([status, json.error.param]).toEqual([400, param]);
  });
});

describe("usage that was summed", () => {
  let world: World;
  let key: { id: string; key: string };
  beforeAll(async () => {
    world = await startWorld({ usageEveryMs: 50 });
    key = await world.keyOf(world.mem, world.home.id);
    await world.chat(key.key);
    await world.chat(key.key, { usage: { input: 7, output: 3 } }, "sandbox/messages");
    await world.chat(key.key, { status: 503, error: "no" });
    // Unknown model names, of which a caller may invent any number; and one too long for an index.
    for (let place = 0; place < 20; place += 1)
      await world.chat(key.key, {}, `thought-up/model-${place}`);
    await world.chat(key.key, {}, `long/${"x".repeat(5_000)}`);
    await eventually(async () => {
      const [row] = await world.gateway.database.query<{ n: number }>(
        "select coalesce(sum(requests), 0)::integer as n from usage_hours",
        [],
      );
      return row!.n === 24;
    }, "all calls in the sums");
  });
  afterAll(() => world.gateway.close());

  const usage = async (query: string): Promise<Row[]> =>
    (await world.mem.call("GET", `/usage?${query}`)).json.data as Row[];

  it("counts errors, durations and models; unknown models are counted together without a name", async () => {
    const rows = await usage("group_by=model");
    expect(Object.fromEntries(rows.map((row) => [row["model"], row.requests]))).toEqual({
      "sandbox/chat": 2,
      "sandbox/messages": 1,
      null: 21,
    });
    const [total] = await usage("");
    expect(total).toMatchObject({ requests: 24, errors: 22, client_closed: 0 });
    expect(total!["duration"]).toEqual({ p50: expect.any(Number), p95: expect.any(Number) });
    const codes = await usage("group_by=error_code");
    expect(codes.map((row) => [row["error_code"], row.requests])).toEqual(
      expect.arrayContaining([
        [null, 2],
        ["model_not_found", 21],
      ]),
    );
  });

  it("includes later calls at once", async () => {
    const before = await usage("group_by=protocol");
    await world.chat(key.key);
    const after = await usage("group_by=protocol");
    expect(after.map((row) => row.requests)).toEqual([before[0]!.requests + 1]);
  });

  it("has at most 10,000 groups in each additional list, and says if there are more", async () => {
    await world.gateway.database.query(
      `insert into usage_days (workspace_id, day, dimension, of_member, member_id, value, requests, errors, client_closed, cost_nano,
         input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, output_images, output_video_seconds,
         output_video_tokens, duration, first_token)
       select $1, '2020-01-01', 'model', false, '', 'model ' || n, 1, 0, 0, n, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
       from generate_series(1, 10001) n`,
      [world.home.id],
    );
    const old = "from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z";
    const { status, json } = await world.root.call("GET", `/usage?${old}&also_by=model,key`);
    const also = json.also as { data: Row[]; has_more: boolean }[];
    expect([status, json.data]).toEqual([200, []]);
    expect(also.map((one) => [one.data.length, one.has_more])).toEqual([
      [10_000, true],
      [0, false],
    ]);
    expect(also[0]!.data[0]).toMatchObject({ model: "model 10001", cost: "0.000010001" });
    expect((await world.root.call("GET", `/usage?${old}&group_by=model`)).status).toBe(400);
  });

  it("names the dearest groups for `top` and adds up the rest in one row", async () => {
    const rows = await usage("group_by=model&top=1");
    expect(rows.map((row) => [row["model"], row["other"]])).toEqual(
      expect.arrayContaining([
        ["sandbox/chat", false],
        [null, true],
        [null, false],
      ]),
    );
    expect(rows).toHaveLength(3);
  });

  it("has days that begin at the caller's offset", async () => {
    const to = new Date(Date.now() + 1_000).toISOString();
    const [row] = await usage(
      `granularity=day&tz_offset=14&to=${to}&from=${new Date(Date.now() - 7_200_000).toISOString()}`,
    );
    expect(row!.start.slice(11)).toBe("10:00:00.000Z");
  });
});
