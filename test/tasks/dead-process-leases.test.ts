/**
 * Leases of dead processes end early: at once if the process is certainly dead, and some seconds after its connection ended if the
 * step does not submit a job. docs/tasks.md "After a crash"; T79, T81.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/storage/index.ts";
import { expiredLease } from "../../src/tasks/local-lease.ts";
import { pollStep } from "../../src/tasks/poll-step.ts";
import { abandonedStep, submitStep } from "../../src/tasks/submit-step.ts";
import { extendLeases, claimDue, findDue, type LaneName } from "../../src/tasks/lease.ts";
import { absentMs, createDeadOwners } from "../../src/tasks/dead-owners.ts";
import { isDead, newToken, currentOwner, ownerText, readOwner } from "../../src/tasks/owner.ts";
import { findDue as findDueCallbacks } from "../../src/tasks/webhooks/outbox.ts";
import { startRunner } from "../../src/tasks/runner.ts";
import { makeIndexes } from "../../src/storage/indexes.ts";
import { eventually, patienceMs } from "../support/patience.ts";
import { silentLog } from "../support/postgres.ts";
import { clock, jobOf, rowOf, running, useWorld } from "./steps-support.ts";

const world = useWorld();
const children = new Set<ChildProcess>();
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
});

/** Starts a process that prints its owner text, as in leases, and then waits. */
async function startOwner(number: number) {
  const script = `const { currentOwner, ownerText } = await import(${JSON.stringify(
    new URL("../../src/tasks/owner.ts", import.meta.url).href,
  )}); console.log(ownerText(currentOwner(${number}))); setInterval(() => {}, 1e6);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.add(child);
  const [chunk] = (await once(child.stdout, "data")) as [Buffer];
  return {
    owner: readOwner(chunk.toString().trim())!,
    kill: async (): Promise<void> => {
      child.kill("SIGKILL");
      await once(child, "exit");
      children.delete(child);
    },
  };
}

const unusedNumber = 1_999_999_999;
/** Columns of a task leased to an owner for a minute. `asking`: the owner may have submitted a job. */
const leasedTo = (token: string, asking = false) => ({
  lease_token: token,
  lease_until: new Date(clock.now() + 60_000),
  due_at: new Date(clock.now() - 1),
  asking,
});
const isFree = async (lane: LaneName, id: string): Promise<boolean> => {
  const wanted = { lane, limit: 500, fullWorkspaces: [], passedOver: [], underWay: [] };
  const found = await findDue(world.services, { ...wanted, takesAbandoned: false });
  return found.some((one) => one.id === id);
};

describe("a lease of a dead process on this machine", () => {
  it("T79 T81: is released at once, even during a submission, but not while the process lives", async () => {
    const { owner, kill } = await startOwner(unusedNumber);
    const polled = await running(world, leasedTo(newToken(owner)));
    const asked = await jobOf(world, "acme/clip", leasedTo(newToken(owner), true));
    const deadOwners = createDeadOwners(world.services);
    expect([isDead(owner), await deadOwners.releaseLeases()]).toEqual([false, 0]);
    await kill();
    expect([isDead(owner), await deadOwners.releaseLeases()]).toEqual([true, 2]);
    expect([await isFree("poll", polled.id), await isFree("ask", asked.id)]).toEqual([true, true]);
    // The submission is not sent a second time.
    const [job] = await claimDue(world.services, [{ workspaceId: "w1", id: asked.id }], {
      lane: "ask",
      takesAbandoned: false,
    });
    await abandonedStep(world.services, job!);
    expect(await rowOf(world, asked.id)).toMatchObject({
      status: "failed",
      error: { code: "submission_uncertain" },
    });
    expect(world.vendor.calls("POST")).toEqual([]);
  });

  it("T79 HOOK-11: a callback of a dead process is due at once, but not while its process lives or may live", async () => {
    const { owner, kill } = await startOwner(unusedNumber);
    const otherMachine = {
      number: unusedNumber,
      place: { machine: "0".repeat(16), pid: 1, began: "1" },
    };
    await world.database.query(
      `insert into webhook_deliveries (workspace_id, id, type, url, due_at, lease_token, lease_until, created_at, updated_at)
       select 'w1', id, 'test', 'https://example.com', $1, token, $2, $1, $1 from unnest($3::text[], $4::text[]) as t(id, token)`,
      [
        new Date(clock.now() - 1),
        new Date(clock.now() + 60_000),
        ["evt_here", "evt_there"],
        [newToken(owner), newToken(otherMachine)],
      ],
    );
    const wanted = { nowMs: clock.now(), limit: 10, fullHosts: [], fullWorkspaces: [] };
    const due = async () => (await findDueCallbacks(world.database, wanted)).map(({ id }) => id);
    let nowMs = 0;
    const deadOwners = createDeadOwners(world.services, () => nowMs);
    await deadOwners.releaseLeases();
    expect(await due()).toEqual([]);
    await kill();
    await deadOwners.releaseLeases();
    nowMs = 2 * absentMs;
    await deadOwners.releaseLeases();
    expect(await due()).toEqual(["evt_here"]);
    // A try without a known outcome is no failure of the receiver.
    const before = "select attempts_before as n from webhook_deliveries order by id";
    expect(await world.database.query(before)).toEqual([{ n: 1 }, { n: 0 }]);
    await world.database.query("delete from webhook_deliveries where workspace_id = 'w1'");
  });

  it("T79: the search for dead owners reads only claimed callbacks, not all pending ones", async () => {
    await makeIndexes(world.database);
    await world.database.query(
      `insert into webhook_deliveries (workspace_id, id, type, url, due_at, created_at, updated_at)
       select 'w1', 'evt_' || g, 'test', 'https://example.com', $1, $1, $1 from generate_series(1, 3000) g`,
      [new Date(clock.now() - 1)],
    );
    await world.database.query("analyze webhook_deliveries");
    const plans: string[] = [];
    const database: typeof world.database = {
      ...world.database,
      query: async (sql, params) => {
        const rows = await world.database.query<{ "QUERY PLAN": string }>(
          `explain (costs off) ${sql}`,
          params,
        );
        plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
        return world.database.query(sql, params);
      },
    };
    await createDeadOwners({ ...world.services, database }).releaseLeases();
    await world.database.query("delete from webhook_deliveries where workspace_id = 'w1'");
    expect(plans).toHaveLength(1);
    expect(plans[0]).toContain("webhook_deliveries_claimed");
    expect(plans[0]).not.toContain("webhook_deliveries_due");
  });

  it("T79: an owner whose process id was reused is dead; the state of an owner on another machine is unknown", async () => {
    const here = currentOwner(unusedNumber);
    const place = here.place!;
    expect(isDead(here)).toBe(false);
    expect(isDead({ ...here, place: { ...place, began: `${Number(place.began) + 1}` } })).toBe(
      true,
    );
    expect(isDead({ ...here, place: { ...place, machine: "0".repeat(16) } })).toBeUndefined();
    expect(isDead({ ...here, place: undefined })).toBeUndefined();
    expect(readOwner(ownerText(here))).toEqual(here);
    expect(readOwner(ownerText({ number: 7, place: undefined }))).toEqual({
      number: 7,
      place: undefined,
    });
    // A lease token of a version that did not record owners.
    expect(readOwner("0d9cbd20-7e29-4f7e-a5b2-0a5c5be8b8ab")).toBeUndefined();
  });
});

describe("a lease of a process on another machine", () => {
  const otherMachine = {
    number: unusedNumber,
    place: { machine: "0".repeat(16), pid: 1, began: "1" },
  };

  it("T79 T81: is released after a time without a connection, but not during a submission", async () => {
    let nowMs = 0;
    const deadOwners = createDeadOwners(world.services, () => nowMs);
    const polled = await running(world, leasedTo(newToken(otherMachine)));
    const asked = await jobOf(world, "acme/clip", leasedTo(newToken(otherMachine), true));
    expect(await deadOwners.releaseLeases()).toBe(0);
    nowMs = absentMs - 1;
    expect(await deadOwners.releaseLeases()).toBe(0);
    nowMs = absentMs;
    expect(await deadOwners.releaseLeases()).toBe(1);
    expect([await isFree("poll", polled.id), await isFree("ask", asked.id)]).toEqual([true, false]);
    // If this process owns the database, any other owner is dead.
    const own = createDeadOwners({ ...world.services, ownsDatabase: true }, () => nowMs);
    expect(await own.releaseLeases()).toBe(0);
    nowMs = 2 * absentMs;
    expect(await own.releaseLeases()).toBe(1);
    expect(await isFree("ask", asked.id)).toBe(true);
    await world.database.query("delete from tasks where id = $1", [asked.id]);
  });

  it("T79: is kept while its process is connected, and released a time after the connection ended", async () => {
    const url = (world.database.pool.options as { connectionString: string }).connectionString;
    const other = await openDatabase({ url, log: silentLog });
    other.signals.subscribe("anything", () => undefined);
    await eventually(() => (other.signals.healthy() ? true : undefined), "its listener");
    const owner = { ...otherMachine, number: other.signals.number };
    let nowMs = 0;
    const deadOwners = createDeadOwners(world.services, () => nowMs);
    const job = await running(world, leasedTo(newToken(owner)));
    const afterMs = async (ms: number): Promise<number> => {
      nowMs += ms;
      return deadOwners.releaseLeases();
    };
    expect([await afterMs(0), await afterMs(absentMs)]).toEqual([0, 0]);
    await other.close();
    const absent = () => world.database.signals.absent([owner.number]);
    await eventually(async () => ((await absent()).length > 0 ? true : undefined), "its end");
    expect([await afterMs(0), await afterMs(absentMs), await isFree("poll", job.id)]).toEqual([
      0,
      1,
      true,
    ]);
  });

  it("T79: a process that returns after its leases were released submits no job, and writes neither steps nor results", async () => {
    const asked = await jobOf(world, "acme/clip", leasedTo(newToken(otherMachine)));
    const polled = await running(world, leasedTo(newToken(otherMachine)));
    const jobs = [asked, polled];
    let nowMs = 0;
    const deadOwners = createDeadOwners(world.services, () => nowMs);
    await deadOwners.releaseLeases();
    nowMs = absentMs;
    expect(await deadOwners.releaseLeases()).toBe(2);
    await extendLeases(world.services, jobs);
    for (const job of jobs) expect(job.localLease).toEqual(expiredLease);
    const rows = () =>
      world.database.query<{ lease_token: string | null }>(
        "select * from tasks where id = any ($1::text[]) order by id",
        [jobs.map(({ id }) => id)],
      );
    const before = await rows();
    expect(before.map((row) => row.lease_token)).toEqual([null, null]);
    world.vendor.plan("GET", world.vendor.done);
    const services = {
      ...world.services,
      timing: { ...world.services.timing, questionMs: patienceMs },
    };
    await submitStep(services, asked);
    await pollStep(services, polled);
    expect(world.vendor.calls("GET")).toHaveLength(1);
    expect(world.vendor.calls("POST")).toEqual([]);
    expect(await rows()).toEqual(before);
    expect([world.requestRows, world.callbacksDue]).toEqual([[], 0]);
  });
});

it("T79: a gateway that starts takes over tasks of a dead process of its machine before their leases end", async () => {
  const { owner, kill } = await startOwner(unusedNumber);
  await kill();
  const job = await running(world, leasedTo(newToken(owner)));
  world.vendor.plan("GET", world.vendor.done);
  const timing = { ...world.services.timing, sweepMs: 50 };
  const runner = startRunner({ ...world.services, timing });
  await eventually(
    async () => ((await rowOf(world, job.id)).status === "succeeded" ? true : undefined),
    "its end",
  );
  await runner.close();
});
