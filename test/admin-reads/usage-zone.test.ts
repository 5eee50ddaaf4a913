/** Usage of places whose clocks change: their days and months add up to the ledger, and are as long as they were. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import { foldUsage } from "../../src/usage/index.ts";
import { tamper } from "../ledger/support.ts";
import { startWorld, type World } from "./support.ts";

/** When calls are charged: around midnight in Berlin, before and after its clocks go back on 25 October 2026. */
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
beforeAll(async () => {
  world = await startWorld();
  const key = await world.keyOf(world.mem, world.home.id);
  for (const time of times) {
    const id = await world.chat(key.key);
    await tamper(
      world.gateway.database,
      "update ledger_entries set created_at = $2 where reference = $1",
      [id, time],
    );
  }
});
afterAll(() => world.gateway.close());

const ask = (query: string) => world.root.call("GET", `/usage?${query}`);
const starts = async (query: string): Promise<unknown[]> =>
  ((await ask(query)).json.data as { start: string; requests: number }[]).map((row) => [
    row.start,
    row.requests,
  ]);

it.each(["before usage is summed", "after it was"])(
  "days and months begin where they do in the place, %s",
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
    // One offset for all of them has some of them in another day.
    expect(await starts(`granularity=day&tz_offset=2&${october}`)).toEqual([
      ["2026-10-23T22:00:00.000Z", 1],
      ["2026-10-24T22:00:00.000Z", 1],
      ["2026-10-25T22:00:00.000Z", 2],
      ["2026-10-31T22:00:00.000Z", 1],
    ]);
  },
);

it("the month of a place is what its days come to, to the nano-dollar", async () => {
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
  ["time_zone=Mars/Olympus", "time_zone"],
  ["time_zone=%2B02:00", "time_zone"],
  ["time_zone=Europe/Berlin&tz_offset=2", "time_zone"],
  ["time_zone=Asia/Kolkata&granularity=day", "time_zone"],
  ["time_zone=Europe/Berlin&from=2026-10-01T00:00:00Z&to=2026-11-02T00:00:00Z", "time_zone"],
])("%s: 400 that names it", async (query, param) => {
  const { status, json } = await ask(query);
  expect([status, json.error.param]).toEqual([400, param]);
});

it.each([
  ["Asia/Kolkata", "18:30", "tz_offset=6", 30],
  ["Asia/Kathmandu", "18:15", "tz_offset=6", 15],
  ["America/St_Johns", "02:30", "tz_offset=-2", 30],
])(
  "days of %s, which begin at %s UTC, are refused with the nearest there are: %s, %i minutes off",
  async (name, begin, nearest, minutes) => {
    const { json } = await ask(`time_zone=${name}&granularity=day&${october}`);
    expect(json.error.message).toContain(
      `Days in ${name} begin at ${begin} UTC, and usage is summed by hour.`,
    );
    expect(json.error.message).toContain(`\`${nearest}\`, whose days begin ${minutes} minutes off`);
    expect((await ask(`${nearest}&granularity=day&${october}`)).status).toBe(200);
  },
);

it.each(["UTC", "Etc/UTC", "GMT"])("%s is no place: its days have no bound", async (name) => {
  const year = "granularity=day&from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z";
  expect(await starts(`${year}&time_zone=${name}`)).toEqual(await starts(year));
});

it("hours and totals are those of every place", async () => {
  expect((await ask("granularity=hour&time_zone=Asia/Kolkata")).status).toBe(200);
  const [row] = (await ask(`time_zone=Asia/Kolkata&${october}`)).json.data as object[];
  expect(row).toMatchObject({ start: "2026-09-30T22:00:00.000Z", requests: 5 });
});

it("a workspace is told by its name, too: in JSON and as CSV", async () => {
  const named = (await ask(`group_by=workspace&${october}`)).json.data as object[];
  expect(named).toMatchObject([{ workspace_id: world.home.id, workspace_name: "home" }]);
  const answer = await fetch(`${world.gateway.url}/admin/v1/usage?group_by=workspace&${october}`, {
    headers: { accept: "text/csv", authorization: `Bearer ${world.root.token}` },
  });
  const [head, row] = (await answer.text()).split("\r\n").map((line) => line.split(","));
  expect(row![head!.indexOf("workspace_name")]).toBe("home");
});
