/** The view of organization admins on the whole installation: whether its ledgers add up, and which processes serve it. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { idTime } from "../../src/base/ids.ts";
import { tamper } from "../ledger/support.ts";
import { startPresence } from "../../src/cli/presence.ts";
import { version } from "../../src/base/own-files.ts";
import { eventually } from "../support/patience.ts";
import { silentLog } from "../support/postgres.ts";
import { startWorld, type World } from "./support.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ presenceEveryMs: 50 });
  const { key } = await world.keyOf(world.mem, world.home.id);
  await world.chat(key);
});
afterAll(() => world.gateway.close());

const result = () =>
  eventually(async () => {
    const { json } = await world.root.call("GET", "/verify");
    return json.state !== "running" && json;
  }, "the check has ended");

it("GET /verify says never at first, then no differences, and then what was changed in the database directly", async () => {
  expect((await world.root.call("GET", "/verify")).json).toMatchObject({
    state: "never",
    started_at: null,
    differences: [],
  });
  const begun = await world.root.call("POST", "/verify", {});
  expect(begun.status).toBe(202);
  expect(["running", "done"]).toContain(begun.json.state);
  expect(await result()).toMatchObject({ state: "done", differences_count: 0, differences: [] });
  await tamper(
    world.gateway.database,
    "update ledger_accounts set credits_nano = credits_nano + 1500000000 where workspace_id = $1",
    [world.home.id],
  );
  await world.root.call("POST", "/verify", {});
  const { differences, differences_count, entries } = await result();
  expect(differences_count).toBe(1);
  expect(entries).toBeGreaterThan(2);
  expect(differences).toEqual([
    { workspace_id: world.home.id, what: "account credits", recorded: "51.5", computed: "50" },
  ]);
  const { json: audit } = await world.root.call("GET", "/audit?action=ledger.verify");
  expect(audit.data.length).toBe(2);
  expect(audit.data[0]).toMatchObject({ actor: { name: world.root.email } });
});

it("/verify is refused to workspace admins and members", async () => {
  for (const who of [world.ann, world.mem])
    for (const method of ["GET", "POST"]) {
      const { status, json } = await who.call(
        method,
        "/verify",
        method === "POST" ? {} : undefined,
      );
      expect({ status, code: json.error.code }).toEqual({
        status: 403,
        code: "insufficient_permissions",
      });
    }
});

describe("the list of gateways", () => {
  interface ListedGateway {
    readonly id: string;
    readonly in_flight: number;
    readonly last_seen_at: string;
  }
  const listGateways = async (): Promise<ListedGateway[]> =>
    (await world.root.call("GET", "/gateways")).json.data;

  it("has each process while it serves, with version, load and calls in flight", async () => {
    const [own] = await listGateways();
    expect(own).toMatchObject({ version, in_flight: 0 });
    expect(own).toMatchObject({ memory_bytes: expect.toSatisfy((size: number) => size > 1e7) });
    const { database } = world.gateway;
    const secrets = {
      masterKeys: () => ({ held: ["0a0b0c0d"], sealing: "0a0b0c0d" }),
      refresh: () => Promise.resolve(),
    };
    const callsSince = (): string => idTime(Date.now());
    const presence = {
      database,
      secrets,
      log: silentLog,
      inFlight: () => 3,
      callsSince,
      everyMs: 20,
    };
    const stop = startPresence(presence);
    const other = await eventually(async () => {
      const rows = await listGateways();
      return rows.find(({ id }) => id !== own!.id);
    }, "the other one is listed");
    expect(other.in_flight).toBe(3);
    await eventually(async () => {
      const rows = await listGateways();
      return [own!, other].every(({ id, last_seen_at: before }) =>
        rows.some((row) => row.id === id && row.last_seen_at > before),
      );
    }, "both were heard of again");
    await stop();
    expect((await listGateways()).map(({ id }) => id)).toEqual([own!.id]);
  });

  it("counts calls in flight", async () => {
    const { key } = await world.keyOf(world.ann, world.home.id);
    const call = world.chat(key, { delay_ms: 1_000 });
    await eventually(
      async () => (await listGateways())[0]!.in_flight === 1,
      "the call is under way",
    );
    await call;
    await eventually(async () => (await listGateways())[0]!.in_flight === 0, "it has ended");
  });

  it("T65: records since when each gateway's oldest unrecorded call runs, so that exports wait for it", async () => {
    const { key } = await world.keyOf(world.ann, world.home.id);
    const reportedTimes = new Set<string>();
    let isOver = false;
    const call = world.chat(key, { delay_ms: 1_000 }).finally(() => (isOver = true));
    await eventually(async () => {
      const [row] = await world.gateway.database.query<{ since: string }>(
        "select calls_since as since from gateways",
      );
      reportedTimes.add(row!.since);
      return isOver;
    }, "the call has ended");
    expect(reportedTimes).toContain((await call).slice("req_".length, "req_".length + 10));
  });

  it("has a process that died for a day, with the time when it was last seen", async () => {
    const { database } = world.gateway;
    for (const [id, hours] of [
      ["gw_died", 5],
      ["gw_old", 25],
    ] as const)
      await database.query(
        `insert into gateways (id, version, started_at, last_seen_at, in_flight, event_loop_p99_ms, memory_bytes)
         values ($1, '1', now() - interval '3 days', now() - $2::integer * interval '1 hour', 0, 0, 1)`,
        [id, hours],
      );
    const ids = (await listGateways()).map(({ id }) => id);
    expect(ids).toContain("gw_died");
    expect(ids).not.toContain("gw_old");
  });
});
