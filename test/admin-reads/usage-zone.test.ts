/** Usage in time zones with clock changes: days and months add up to the ledger, and have their true length. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import { foldUsage } from "../../src/usage/index.ts";
import { tamper } from "../ledger/support.ts";
import { startWorld, type World } from "./support.ts";

/** Times of charges: around midnight in Berlin, before and after its clocks go back on 25 October 2026. */
const times = [
  "2026-10-24T21:59:59.999Z",
  "2026-10-24T22:00:00.000Z",
  "2026-10-25T22:30:00.000Z",
  "2026-10-25T23:00:00.000Z",
  "2026-10-31T22:59:59.999Z",
  "2026-10-31T23:00:00.000Z",
];
const october = "from=2026-10-01T00:00:00%2B02:00&to=2026-11-01T00:00:00%2B01:00";

let world: World;
/** Moves a call's charge to that time. */
const timed = (id: string, time: string) =>
  tamper(world.gateway.database, "update ledger_entries set created_at = $2 where reference = $1", [
    id,
    time,
  ]);
beforeAll(async () => {
  world = await startWorld();
  const key = await world.keyOf(world.mem, world.home.id);
  for (const time of times) {
    await timed(await world.chat(key.key), time);
  }
});
afterAll(() => world.gateway.close());

const ask = (query: string) => world.root.call("GET", `/usage?${query}`);
const starts = async (query: string): Promise<[string, number][]> =>
  ((await ask(query)).json.data as { start: string; requests: number }[]).map((row) => [
    row.start,
    row.requests,
  ]);

it.each(["before usage is summed", "after it was"])(
  "days and months begin at local midnight, %s",
  async (when) => {
    if (when.startsWith("after")) await foldUsage(world.gateway.database);
    expect(await starts(`granularity=day&time_zone=Europe/Berlin&${october}`)).toEqual([
      ["2026-10-23T22:00:00.000Z", 1],
      // 25 hours.
      ["2026-10-24T22:00:00.000Z", 2],
      ["2026-10-25T23:00:00.000Z", 1],
      ["2026-10-30T23:00:00.000Z", 1],
    ]);
    const autumn = "from=2026-10-10T00:00:00Z&to=2026-11-09T00:00:00Z";
    expect(await starts(`granularity=month&time_zone=Europe/Berlin&${autumn}`)).toEqual([
      ["2026-09-30T22:00:00.000Z", 5],
      ["2026-10-31T23:00:00.000Z", 1],
    ]);
    // One fixed offset puts some of them into another day.
    expect(await starts(`granularity=day&tz_offset=2&${october}`)).toEqual([
      ["2026-10-23T22:00:00.000Z", 1],
      ["2026-10-24T22:00:00.000Z", 1],
      ["2026-10-25T22:00:00.000Z", 2],
      ["2026-10-31T22:00:00.000Z", 1],
    ]);
  },
);

it("a month equals the sum of its local days, to the nano-dollar", async () => {
  const cost = async (query: string) =>
    ((await ask(`${query}&${october}`)).json.data as { cost: string }[]).reduce(
      (all, row) => all + parseUsd(row.cost),
      0n,
    );
  const days = await cost("granularity=day&time_zone=Europe/Berlin");
  expect(days).toBeGreaterThan(0n);
  expect(days).toBe(await cost("granularity=total"));
});

it.each([
  ["time_zone=Mars/Olympus", "must be the name of a time zone, such as `Europe/Berlin`."],
  ["time_zone=%2B02:00", "does not fit: "],
  ["time_zone=Europe/Berlin&tz_offset=2", "cannot be combined with `tz_offset`: send one of them."],
  [
    "time_zone=Europe/Berlin&from=2026-10-01T00:00:00Z&to=2026-11-02T00:00:00Z",
    "a period has at most 31 days. Leave it out for a longer period, in UTC.",
  ],
])("%s: 400 that names the parameter and says what to send", async (query, rule) => {
  const { status, json } = await ask(query);
  expect([status, json.error.param]).toEqual([400, "time_zone"]);
  expect(json.error.message).toMatch(/`time_zone`/);
  expect(json.error.message).toContain(rule);
});

/** Zones whose days begin within an hour of UTC: the last call of a day and the first of the next. */
const within = [
  ["Asia/Kolkata", "2026-09-10T18:30:00.000Z"],
  ["Asia/Kathmandu", "2026-09-12T18:15:00.000Z"],
  ["America/St_Johns", "2026-09-14T02:30:00.000Z"],
] as const;
const september = "from=2026-09-01T00:00:00Z&to=2026-09-30T00:00:00Z";

describe("days that begin within an hour", () => {
  beforeAll(async () => {
    const key = await world.keyOf(world.mem, world.home.id);
    for (const [, begin] of within)
      for (const ms of [-1, 0]) {
        const at = new Date(Date.parse(begin) + ms);
        await timed(await world.chat(key.key), at.toISOString());
      }
  });

  it.each(within)(
    "%s: the day that begins at %s has exactly its own calls",
    async (zone, begin) => {
      for (const sum of [() => undefined, () => foldUsage(world.gateway.database)]) {
        await sum();
        const days = await starts(`granularity=day&time_zone=${zone}&${september}`);
        const before = new Date(Date.parse(begin) - 24 * 3_600_000).toISOString();
        expect(days).toEqual(
          expect.arrayContaining([
            [before, 1],
            [begin, 1],
          ]),
        );
        expect(days.reduce((all, [, requests]) => all + requests, 0)).toBe(6);
      }
    },
  );

  it("a period that begins or ends within the hour has only its own part", async () => {
    const [zone, begin] = within[0];
    const local = "2026-09-11T00:00:00%2B05:30";
    const days = (period: string) => starts(`granularity=day&time_zone=${zone}&${period}`);
    expect(await days(`from=${local}&to=2026-09-12T00:00:00%2B05:30`)).toEqual([[begin, 1]]);
    const before = new Date(Date.parse(begin) - 24 * 3_600_000).toISOString();
    expect(await days(`from=2026-09-10T00:00:00%2B05:30&to=${local}`)).toEqual([[before, 1]]);
  });
});

it.each(["UTC", "Etc/UTC", "GMT"])(
  "%s is treated as no time zone: its days have no limit of 31",
  async (name) => {
    const year = "granularity=day&from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z";
    expect(await starts(`${year}&time_zone=${name}`)).toEqual(await starts(year));
  },
);

it("hours and totals do not depend on the time zone", async () => {
  expect((await ask("granularity=hour&time_zone=Asia/Kolkata")).status).toBe(200);
  const [row] = (await ask(`time_zone=Asia/Kolkata&${october}`)).json.data as object[];
  expect(row).toMatchObject({ start: "2026-09-30T22:00:00.000Z", requests: 5 });
});

it("a group by workspace has its name, in JSON and as CSV", async () => {
  const named = (await ask(`group_by=workspace&${october}`)).json.data as object[];
  expect(named).toMatchObject([{ workspace_id: world.home.id, workspace_name: "home" }]);
  const answer = await fetch(`${world.gateway.url}/admin/v1/usage?group_by=workspace&${october}`, {
    headers: { accept: "text/csv", authorization: `Bearer ${world.root.token}` },
  });
  const [head, row] = (await answer.text()).split("\r\n").map((line) => line.split(","));
  expect(row![head!.indexOf("workspace_name")]).toBe("home");
});
