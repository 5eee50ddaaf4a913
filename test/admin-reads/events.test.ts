/** The stream of new rows: which reader gets which row. No row is lost or doubled, whatever happens. docs/management.md. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Client } from "pg";
import { newId } from "../../src/base/ids.ts";
import { eventually, patiently } from "../support/patience.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { newMember, type Person } from "../admin/people.ts";
import { openStream, type OpenStream } from "./event-stream.ts";
import { ids, startWorld, type World } from "./support.ts";

const pollMs = 40;
const streamsMax = 12;
const personStreamsMax = 7;
let world: World;
let databaseUrl: string;
const open: OpenStream[] = [];
beforeAll(async () => {
  const noticeMs = { providers: pollMs, gateways: pollMs, verification: pollMs };
  const events = { pollMs, checkMs: 100, keepAliveMs: 200, streamsMax, personStreamsMax, noticeMs };
  databaseUrl = await (await sharedPostgres()).createMigrated();
  world = await startWorld({
    events,
    databaseUrl,
    environment: { TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on" },
  });
});
let isClosed = false;
afterAll(() => (isClosed ? undefined : world.gateway.close()));

const follow = async (
  person: Pick<Person, "cookie">,
  query = "topics=requests",
  lastEventId?: string,
) => {
  const stream = await openStream(world.gateway, query, { cookie: person.cookie, lastEventId });
  open.push(stream);
  if (stream.status === 200 && lastEventId === undefined) await stream.until("ready");
  return stream;
};
const closeAll = async () => {
  for (const stream of open.splice(0)) await stream.close();
};

/** Inserts rows of the log in one statement, each for its key. */
async function writeRows(rows: readonly { workspaceId: string; keyId: string }[]) {
  const written = rows.map((row) => ({ ...row, id: newId("req") }));
  await world.gateway.database.query(
    `insert into requests (workspace_id, id, key_id, status, created_at)
     select *, 'succeeded', now() from unnest($1::text[], $2::text[], $3::text[])`,
    [
      written.map(({ workspaceId }) => workspaceId),
      written.map(({ id }) => id),
      written.map(({ keyId }) => keyId),
    ],
  );
  return written.map(({ id }) => id);
}

describe("the readers of a stream", () => {
  it("VIS-01 VIS-02: get exactly the rows of their own lists, whatever filter they use", async () => {
    const { root, ann, mem, mel, bob, home, away } = world;
    const keys = {
      ann: await world.keyOf(ann, home.id),
      mem: await world.keyOf(mem, home.id),
      mel: await world.keyOf(mel, home.id),
      bob: await world.keyOf(bob, away.id),
    };
    const people = { root, ann, mem, mel, bob };
    const streams = Object.fromEntries(
      await Promise.all(
        Object.entries(people).map(async ([name, one]) => [name, await follow(one)] as const),
      ),
    );
    // Filters only narrow what a reader sees.
    const prying = await Promise.all(
      [
        `workspace_id=${away.id}`,
        `member_id=${mel.userId}`,
        `key_id=${keys.ann.id}`,
        `key_id=${keys.bob.id}&workspace_id=${away.id}`,
      ].map((filter) => follow(mem, `topics=requests,tasks,deliveries&${filter}`)),
    );
    const own = await follow(ann, `topics=requests&key_id=${keys.mem.id}&status=succeeded`);
    const sent = new Map<string, string[]>();
    for (const [name, { key }] of Object.entries(keys)) {
      const made = [await world.chat(key), await world.chat(key, { status: 500 })];
      sent.set(name, made);
    }
    await expect.poll(() => streams["root"]!.rows().length, patiently).toBe(8);
    await expect.poll(() => own.rows(), patiently).toEqual([sent.get("mem")![0]]);
    for (const [name, one] of Object.entries(people)) {
      const listed = ids(await one.call("GET", "/requests?view=list&limit=100"));
      await expect
        .poll(() => streams[name]!.rows().toSorted(), patiently)
        .toEqual(listed.toSorted());
    }
    expect(streams["mem"]!.rows().toSorted()).toEqual(sent.get("mem")!.toSorted());
    for (const one of prying) {
      expect(one.rows()).toEqual([]);
      expect(one.text()).not.toMatch(/event: (row|skipped|usage)/);
    }
    const shown = streams["mem"]!.events.find(({ type }) => type === "row")!.data["row"];
    const list = await mem.call("GET", "/requests?view=list");
    expect(list.json.data).toContainEqual(shown);
    await closeAll();
  });

  it("get tasks and callbacks as they change, if they may see them", async () => {
    const { ann, mem, mel, home } = world;
    const topics = "topics=tasks,deliveries";
    const [seen, own, other] = [
      await follow(ann, topics),
      await follow(mem, topics),
      await follow(mel, topics),
    ];
    const { key } = await world.keyOf(mem, home.id);
    const id = await world.video(key, { webhook_url: "https://127.0.0.1:9/hook" });
    for (const stream of [seen, own]) {
      await expect.poll(() => stream.rows("deliveries").length, patiently).toBeGreaterThan(0);
      await eventually(
        () =>
          stream.events.some(({ data }) => {
            const row = data["row"] as { id: string; status: string } | undefined;
            return row?.id === id && row.status === "succeeded";
          }),
        "the task has succeeded",
      );
    }
    expect(other.rows("tasks")).toEqual([]);
    expect(other.rows("deliveries")).toEqual([]);
    await closeAll();
  });

  it("get the state of the providers at once, without internal details", async () => {
    const stream = await follow(world.mem, "topics=providers");
    const { data } = await stream.until("state");
    const [one] = data as [{ health: object }];
    expect([Object.keys(one), Object.keys(one.health)]).toEqual([
      ["id", "health", "paused_until"],
      ["state", "out"],
    ]);
    await closeAll();
  });

  it("get changes of providers, gateways and verification only if they may read them", async () => {
    const { gateway, root, ann, mem, home, must } = world;
    const query = "topics=providers,gateways,verification";
    const streams = { root: await follow(root, query), ann: await follow(ann, query) };
    const changed = ({ events }: OpenStream) =>
      events.filter(({ type }) => type === "changed").map(({ data }) => data["topic"]);
    await streams.ann.until("state");
    await streams.root.until("state");
    must(await root.call("POST", "/verify", {}));
    const { key } = await world.keyOf(mem, home.id);
    await world.chat(key);
    await eventually(async () => {
      await gateway.database.query("update gateways set in_flight = in_flight + 1");
      return new Set(changed(streams.root)).size === 3;
    }, "all three have changed");
    expect(changed(streams.ann)).toEqual([]);
    await closeAll();
  });

  it("can follow one task and its callbacks", async () => {
    const { mem, home } = world;
    const { key } = await world.keyOf(mem, home.id);
    const hook = { webhook_url: "https://127.0.0.1:9/hook" };
    const one = await world.video(key, hook);
    const stream = await follow(mem, `topics=tasks,deliveries&task_id=${one}`);
    const all = await follow(mem, "topics=tasks,deliveries");
    const other = await world.video(key, hook);
    await world.gateway.database.query("update tasks set updated_at = now() where id = $1", [one]);
    await expect.poll(() => stream.rows("tasks"), patiently).toContain(one);
    await expect.poll(() => all.rows("tasks"), patiently).toContain(other);
    expect(new Set(stream.rows("tasks"))).toEqual(new Set([one]));
    const about = stream.events
      .filter(({ data }) => data["topic"] === "deliveries")
      .map(({ data }) => (data["row"] as { task_id: string }).task_id);
    expect(about.filter((id) => id !== one)).toEqual([]);
    await closeAll();
  });

  it("need a session and known topics; tokens and strangers are refused", async () => {
    const query = "topics=requests";
    const { gateway, root } = world;
    const answers = [
      await openStream(gateway, query, { token: root.token }),
      await openStream(gateway, query, {}),
      await openStream(gateway, "topics=requests,secrets", { cookie: root.cookie }),
      await openStream(gateway, "", { cookie: root.cookie }),
      await openStream(gateway, `${query}&tenant=1`, { cookie: root.cookie }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 401, 400, 400, 400]);
  });
});

describe("rights that end under an open stream", () => {
  it("stop the rows of a removed member, and an ended session closes the stream", async () => {
    const { gateway, home, root } = world;
    const member = await newMember(gateway, home.id, {
      email: "leaving@example.com",
      role: "admin",
    });
    const { id: keyId } = await world.keyOf(member, home.id);
    const [stream, all] = [await follow(member), await follow(root)];
    const row = { workspaceId: home.id, keyId };
    const [first] = await writeRows([row]);
    await expect.poll(() => stream.rows(), patiently).toEqual([first]);
    world.must(await gateway.admin("DELETE", `/workspaces/${home.id}/members/${member.userId}`));
    const [later] = await eventually(async () => {
      const before = stream.rows().length;
      const [id] = await writeRows([row]);
      await expect.poll(() => all.rows(), patiently).toContain(id);
      return stream.rows().length === before ? [id] : undefined;
    }, "the stream has noticed");
    expect(stream.rows()).not.toContain(later);
    await gateway.database.query("delete from auth_sessions where user_id = $1", [member.userId]);
    expect(await stream.until("bye")).toEqual({ reason: "signed_out" });
    await stream.ended;
    await closeAll();
  });
});

describe("a stream that loses no row and doubles none", () => {
  const rowsOf = async (count: number, person = world.mem) => {
    const { id: keyId } = await world.keyOf(person, world.home.id);
    return Array.from({ length: count }, () => ({ workspaceId: world.home.id, keyId }));
  };

  it("resumes after the last row that it sent", async () => {
    const { mem } = world;
    const first = await follow(mem);
    const [one] = await writeRows(await rowsOf(1));
    await expect.poll(() => first.rows(), patiently).toEqual([one]);
    await eventually(() => first.id() !== undefined, "an id");
    await first.close();
    const missed = await writeRows(await rowsOf(30));
    const second = await follow(mem, "topics=requests", first.id());
    await expect.poll(() => second.rows().toSorted(), patiently).toEqual(missed.toSorted());
    const [last] = await writeRows(await rowsOf(1));
    await expect.poll(() => second.rows().at(-1), patiently).toBe(last);
    expect(new Set(second.rows()).size).toBe(second.rows().length);
    await closeAll();
  });

  it("says to read the lists again after more than a thousand missed rows or a change of database", async () => {
    const stream = await follow(world.mem);
    await stream.close();
    await writeRows(await rowsOf(1_001));
    for (const since of [stream.id()!, "900000000000000000"]) {
      const again = await follow(world.mem, "topics=requests", since);
      await again.until("reset");
      expect(again.rows()).toEqual([]);
    }
    await closeAll();
  });

  it("sends a row once even if its transaction began before other rows and ended after them", async () => {
    const stream = await follow(world.mem);
    const [slow, quick] = await rowsOf(2);
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query("begin");
    const late = newId("req");
    await client.query(
      "insert into requests (workspace_id, id, key_id, status) values ($1, $2, $3, 'failed')",
      [slow!.workspaceId, late, slow!.keyId],
    );
    const [early] = await writeRows([quick!]);
    await expect.poll(() => stream.rows(), patiently).toEqual([early]);
    const [next] = await writeRows([quick!]);
    await expect.poll(() => stream.rows(), patiently).toEqual([early, next]);
    await client.query("commit");
    await client.end();
    await expect.poll(() => stream.rows(), patiently).toEqual([early, next, late]);
    await closeAll();
  });

  it("sends only the number of more than twenty rows at once, counted for each reader", async () => {
    const { root, mem, mel } = world;
    const streams = [
      await follow(root, "topics=requests,usage"),
      await follow(mem),
      await follow(mel),
    ];
    const mine = await rowsOf(3);
    const written = await writeRows([...mine, ...(await rowsOf(27, world.ann))]);
    expect(await streams[0]!.until("skipped")).toEqual({ topic: "requests", count: 30 });
    await streams[0]!.until("usage");
    await expect
      .poll(() => streams[1]!.rows().toSorted(), patiently)
      .toEqual(written.slice(0, 3).toSorted());
    expect(streams[0]!.rows()).toEqual([]);
    expect(streams[2]!.text()).not.toMatch(/event: (row|skipped)/);
    await closeAll();
  });
});

describe("the cost of streams", () => {
  it("is one query at a time for all readers and none without readers, and their number is limited", async () => {
    const { gateway, mem, root } = world;
    const query = vi.spyOn(gateway.database, "query");
    const asked = () => query.mock.calls.filter(([sql]) => sql.includes("written_since")).length;
    for (let at = 0; at < streamsMax; at += 1) await follow(at % 2 === 0 ? mem : root);
    const refused = await follow(mem);
    expect(refused.status).toBe(503);
    const [from, fromMs] = [asked(), performance.now()];
    await expect.poll(asked, patiently).toBeGreaterThan(from + 5);
    expect(asked() - from).toBeLessThan((performance.now() - fromMs) / pollMs + 2);
    await expect.poll(() => open[0]!.text(), patiently).toContain(": keep-alive");
    await closeAll();
    // Waits until the present poll has ended, and no query follows for ten times the poll interval.
    let quiet = { count: asked(), sinceMs: performance.now() };
    await eventually(() => {
      if (asked() !== quiet.count) quiet = { count: asked(), sinceMs: performance.now() };
      return performance.now() - quiet.sinceMs > 10 * pollMs;
    }, "nothing is asked any more");
    expect((await follow(mem)).status).toBe(200);
    query.mockRestore();
    await closeAll();
  });
});

it("the streams of one user do not use up the slots of others", async () => {
  const { mem, root } = world;
  for (let at = 0; at < personStreamsMax; at += 1) await follow(mem);
  const refused = await follow(mem);
  expect(refused.status).toBe(503);
  expect((await follow(root)).status).toBe(200);
  await closeAll();
});

it("a gateway that stops tells its readers so, and when to come back", async () => {
  const stream = await follow(world.mem);
  await world.gateway.close();
  isClosed = true;
  await stream.ended;
  expect(await stream.until("bye")).toEqual({ reason: "stopping" });
  const [, retry] = /^retry: (\d+)\nevent: bye$/m.exec(stream.text())!;
  expect(Number(retry)).toBeGreaterThanOrEqual(1_000);
  expect(Number(retry)).toBeLessThan(5_000);
  // The last event has no id, so a reader cannot resume from it.
  expect(stream.text()).toMatch(/"stopping"\}\n\n$/);
});
