/**
 * Usage by tags over the management API and the command line: the tags that the operator's list allows, before and after
 * summing. docs/tags.md.
 */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import { verifyLedger } from "../../src/verification/index.ts";
import { foldUsage } from "../../src/usage/index.ts";
import { chat } from "../rows/protocols.ts";
import { answering, startWorld, type World } from "../rows/world.ts";
import { tollgateHere } from "../support/command.ts";

const listed = ["team", "end_user", "cost:center"];
let world: World;
beforeAll(async () => {
  world = await startWorld({ models: `tags: { usage: [${listed.join(", ")}] }` });
});
afterAll(() => world.close());
beforeEach(() => world.answer(answering));

async function read(query: string) {
  const authorization = `Bearer ${world.secrets.adminToken()}`;
  const answer = await world.gateway.get(`/admin/v1/usage?${query}`, { authorization });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

interface Row {
  readonly tag?: string | null;
  readonly untagged?: boolean;
  readonly requests: number;
  readonly cost: string;
}
const nameOf = ({ tag, untagged }: Row): string => (untagged === true ? "(untagged)" : `${tag}`);
async function rowsOf(query: string): Promise<Record<string, string>> {
  const { body } = await read(query);
  const rows = body["data"] as Row[];
  return Object.fromEntries(rows.map((row) => [nameOf(row), `${row.requests} ${row.cost}`]));
}
const fold = (names = listed) => foldUsage(world.gateway.database, { tags: names });

async function call(headers: Record<string, string>): Promise<string> {
  const answer = await world.call(chat, { model: `${chat.model}:@price`, headers });
  await answer.text();
  expect(answer.status).toBe(200);
  return (await world.row(answer)).id;
}

async function differences(): Promise<string[]> {
  const found = await verifyLedger(world.gateway.database);
  return found.map(({ what }) => what).filter((what) => what.includes("by tag"));
}

it("usage by tag is the same before and after folding, and equals the ledger together with untagged calls", async () => {
  // A call from before the name was listed stays without it.
  await call({ "x-gw-metadata": '{"team":"early"}' });
  await fold([]);
  for (const team of ["search", "search", "ads"])
    await call({
      "x-gw-metadata": JSON.stringify({ team, ...(team === "ads" && { "cost:center": "a:1" }) }),
      "x-gw-end-user": "<b>u</b>",
    });
  await call({});
  const odd = await call({ "x-gw-metadata": '{"team":"odd"}' });
  // Tags that no writer writes and jsonb refuses: they must not stop the sums.
  const odder = String.raw`{"\u0000":"x","team":"odd"}`;
  const { database } = world.gateway;
  await database.query("update requests set tags = $2::json where id = $1", [odd, odder]);
  const untagged = { "(untagged)": "3 0.000792" };
  const expected = {
    "group_by=tag:team": { search: "2 0.000528", ads: "1 0.000264", ...untagged },
    "group_by=tag:end_user&granularity=day": { "<b>u</b>": "3 0.000792", ...untagged },
    "group_by=tag:team&top=1": { search: "2 0.000528", null: "1 0.000264", ...untagged },
    "tag=team:search": { undefined: "2 0.000528" },
    "tag=end_user:nobody": {},
    "tag=cost:center:a:1": { undefined: "1 0.000264" },
  };
  for (const round of ["before", "after"]) {
    for (const [query, rows] of Object.entries(expected))
      expect({ round, query, rows: await rowsOf(query) }).toEqual({ round, query, rows });
    await fold();
  }
  const [ledger] = await database.query<{ nano: string }>(
    "select sum(amount_nano)::text as nano from ledger_entries where kind = 'charge'",
  );
  const { body } = await read("group_by=tag:team");
  const sum = (body["data"] as Row[]).reduce((nano, { cost }) => nano + parseUsd(cost), 0n);
  expect(sum).toBe(BigInt(ledger!.nano));
  expect(await differences()).toEqual([]);
});

it("further groups cover the calls of the tag's value, or all calls if grouped by the tag", async () => {
  const also = async (query: string) => {
    const { body } = await read(query);
    const groups = body["also"] as { group_by: string; data: Row[] }[];
    return groups.map(({ group_by: group, data }) => [group, data[0]?.requests, data.length]);
  };
  for (const round of ["before", "after"]) {
    expect({ round, of: await also("tag=team:search&also_by=member,workspace") }).toEqual({
      round,
      of: [
        ["member", 2, 1],
        ["workspace", 2, 1],
      ],
    });
    expect(await also("group_by=tag:team&also_by=workspace,model&top=1")).toEqual([
      ["workspace", 6, 1],
      ["model", 6, 1],
    ]);
    await fold();
  }
  const { status, body } = await read("tag=team:search&also_by=member,model");
  expect(status).toBe(400);
  expect(body["error"]).toMatchObject({ param: "also_by" });
});

it("`tollgate usage --by tag:team` shows untagged calls", async () => {
  const words = ["usage", "--by", "tag:team", "--url", world.gateway.url];
  const environment = { TOLLGATE_ADMIN_TOKEN: world.secrets.adminToken() };
  const { code, stdout } = await tollgateHere(words, environment);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^TAG:TEAM +REQUESTS/);
  expect(stdout).toMatch(/^\(untagged\) +3 .*0\.000792$/m);
  const one = await tollgateHere(
    [...words.slice(0, 1), ...words.slice(3), "--tag", "team:ads"],
    environment,
  );
  expect(one.stdout).toContain("0.000264");
});

it("`verify` reports a changed sum", async () => {
  const { database } = world.gateway;
  const add = (nano: number) =>
    database.query(
      "update usage_tags set cost_nano = cost_nano + $1 where value = 'ads' and not of_member",
      [nano],
    );
  await add(1);
  expect(await differences()).toEqual([expect.stringContaining("by tag team, value ads")]);
  await add(-1);
  const all = (nano: bigint) =>
    database.query("update usage_tags set cost_nano = cost_nano + $1 where value = 'ads'", [nano]);
  await all(10n ** 9n);
  expect(await differences()).toContainEqual(expect.stringContaining("at most the total"));
  await all(-(10n ** 9n));
  expect(await differences()).toEqual([]);
});

it("a value that is cut in the sums is found by its full text, in any alphabet", async () => {
  const team = `${"💩".repeat(200)}${"x".repeat(100)}`;
  await call({ "x-gw-metadata": Buffer.from(JSON.stringify({ team })).toString("latin1") });
  for (const round of ["before", "after"]) {
    const query = `tag=${encodeURIComponent(`team:${team}`)}`;
    const found = { undefined: "1 0.000264" };
    expect({ round, rows: await rowsOf(query) }).toEqual({ round, rows: found });
    const cut = `${"💩".repeat(200)}${"x".repeat(56)}`;
    expect(await rowsOf("group_by=tag:team")).toMatchObject({ [cut]: "1 0.000264" });
    await fold();
  }
});

it("beyond a thousand values a day, further values are summed as `other`", async () => {
  const { database, workspaceId } = world.gateway;
  await database.query(
    `insert into usage_tags select $1, 'team', m, '', (now() at time zone 'UTC')::date, 'v' || n, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
     from generate_series(1, 1000) n, (values (false), (true)) x (m)`,
    [workspaceId],
  );
  for (const team of ["beyond one", "beyond two", "v7"])
    await call({ "x-gw-metadata": JSON.stringify({ team }) });
  await fold();
  expect(await rowsOf("group_by=tag:team")).toMatchObject({
    other: "2 0.000528",
    v7: "1 0.000264",
  });
  expect(await differences()).toEqual([]);
});

it("a tag that is named end_user is not the end user, as in the log", async () => {
  await call({ "x-gw-metadata": '{"end_user":"only a tag"}' });
  for (const round of ["before", "after"]) {
    const rows = await rowsOf("group_by=tag:end_user");
    expect({ round, rows }).not.toHaveProperty(["rows", "only a tag"]);
    expect({ round, found: await rowsOf("tag=end_user:only%20a%20tag") }).toEqual({
      round,
      found: {},
    });
    await fold();
  }
});

it("a tag that is not listed, and a filter that the sums of days lack, are refused", async () => {
  for (const asked of ["group_by=tag:secret", "tag=secret:x"]) {
    const { status, body } = await read(asked);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain("tags.usage");
  }
  const beyond = [
    "granularity=hour",
    "tz_offset=2",
    "model=acme/chat",
    "key_id=key_1",
    "tag=end_user:u",
  ];
  for (const more of beyond) {
    const refused = await read(`group_by=tag:team&${more}`);
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).toContain(more.split("=")[0]);
  }
  expect((await read("tag=team:ads&group_by=model")).status).toBe(400);
  for (const odd of ["tag:", "tags", "tag:__proto__", "team"])
    expect((await read(`group_by=${odd}`)).status).toBe(400);
});
