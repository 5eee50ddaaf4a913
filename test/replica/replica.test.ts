/** Heavy reads on a real standby: which of them it answers, and the fallback when it fails. docs/scale.md "Read replicas". */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { GatewayError } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/log.ts";
import {
  migrate,
  openDatabase,
  openReplica,
  type Database,
  type Queryable,
  type Replica,
} from "../../src/storage/index.ts";
import { startPair, startStandby, type Pair, type Server } from "../faults/whole/pair.ts";
import { isLong } from "../support/long.ts";
import { eventually } from "../support/patience.ts";
import { sharedPostgres, temporaryDirectory } from "../support/postgres.ts";
import { resumeReplay, isCurrent, pauseReplay, keptLog, role, waitOnReplica } from "./support.ts";

let pair: Pair;
let primary: Database;
let replica: Replica | undefined;
let kept = keptLog();

beforeAll(async () => {
  pair = await startPair(temporaryDirectory(), false);
  primary = await openDatabase({ url: pair.urlOf(pair.primary.port), log: silentLog });
  await migrate(primary);
  await primary.query("create table numbers as select n from generate_series(1, 1000) n");
});

afterEach(async () => {
  await replica?.close();
  replica = undefined;
  await resumeReplay(pair.standby).catch(() => undefined);
});

afterAll(async () => {
  await primary.close();
  await pair.close();
});

function open(url = pair.urlOf(pair.standby.port), lagMsMax = 10_000): Replica {
  kept = keptLog();
  return (replica = openReplica({ url, primary, lagMsMax, log: kept.log }));
}

async function openUsed(url?: string, lagMsMax?: number): Promise<Replica> {
  const opened = open(url, lagMsMax);
  await eventually(() => opened.state.isUsed, "the replica to be used");
  return opened;
}

const isWaiting = (standby: Server): Promise<boolean> =>
  standby
    .query("select 1 from pg_stat_activity where wait_event = 'PgSleep'")
    .then((rows) => rows.length > 0);

describe("a standby that keeps up", () => {
  it("answers over read-only sessions, with what was committed just before; an exact read is never without it", async () => {
    const opened = await openUsed();
    let seen = 0;
    for (let number = 2_000; number < 2_100; number += 1) {
      await primary.query("insert into numbers values ($1)", [number]);
      const find = (database: Queryable) =>
        database.query("select n from numbers where n = $1", [number]);
      const [where, found] = await opened.read((database) =>
        Promise.all([role(database), find(database)]),
      );
      expect(where).toBe("replica");
      seen += found.length;
      expect(await opened.read(find, { exact: true })).toEqual([{ n: number }]);
    }
    // If the machine stalls for half a second, the standby is too late once, and the primary answers an exact read.
    expect(seen).toBeGreaterThan(90);
    const setting = "select current_setting('default_transaction_read_only') as ro";
    expect(await opened.read((database) => database.query(setting))).toEqual([{ ro: "on" }]);
    const { replica: there, primary: here } = opened.state.answered;
    expect([there + here, there > 190]).toEqual([201, true]);
    const messages = kept.lines.map(({ message }) => message);
    expect(messages).toEqual(["lists and usage are read from the replica"]);
  });

  it("answers more concurrent reads than it has connections, each with concurrent statements", async () => {
    const opened = await openUsed();
    const sum = "select sum(n)::text as sum from numbers where n <= 1000";
    const answers = await Promise.all(
      Array.from({ length: 40 }, () =>
        opened.read((database) => Promise.all([database.query(sum), role(database)])),
      ),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(
      new Set(['[[{"sum":"500500"}],"replica"]']),
    );
    const rows = await pair.standby.query(
      "select count(*)::int as n from pg_stat_activity where application_name = 'tollgate reads'",
    );
    expect(Number(rows[0]!["n"])).toBeLessThanOrEqual(4);
  });

  it("gives a long read one snapshot", async () => {
    const opened = await openUsed();
    const count = async (database: Queryable): Promise<unknown> =>
      (await database.query("select count(*)::int as n from numbers"))[0];
    const [before, after, where] = await opened.read(
      async (database) => {
        const first = await count(database);
        await primary.query("insert into numbers values (0)");
        await eventually(() => isCurrent(pair), "the standby to have the row");
        return [first, await count(database), await role(database)];
      },
      { snapshot: true, exact: true },
    );
    expect(after).toEqual(before);
    expect(where).toBe("replica");
  });

  it("an invalid read is refused once; a record that is missing there is looked up at the primary", async () => {
    const opened = await openUsed();
    const places: string[] = [];
    const refusing = (code: "invalid_value" | "not_found") =>
      opened.read(async (database) => {
        places.push(await role(database));
        throw new GatewayError(code, "no");
      });
    await expect(refusing("invalid_value")).rejects.toThrow("no");
    await expect(refusing("not_found")).rejects.toThrow("no");
    expect(places).toEqual(["replica", "replica", "primary"]);
    expect(opened.state.isUsed).toBe(true);
  });

  it("a query that fails at every server does not take it out of use", async () => {
    const opened = await openUsed();
    for (let tries = 0; tries < 3; tries += 1)
      await expect(
        opened.read((database) => database.query("select $1::text", ["\0"])),
      ).rejects.toThrow(/invalid byte sequence/);
    expect(opened.state.isUsed).toBe(true);
    expect(await opened.read(role)).toBe("replica");
  });
});

describe("a standby that may lag", () => {
  it("answers within the lag limit, except exact reads; above the limit the primary answers", async () => {
    const opened = await openUsed(undefined, 4_000);
    await pauseReplay(pair.standby);
    await primary.query("insert into numbers values (5000)");
    const isThere = (database: Queryable): Promise<object[]> =>
      database.query("select n from numbers where n = 5000");
    expect(await opened.read(isThere)).toEqual([]);
    expect(await opened.read(isThere, { exact: true })).toEqual([{ n: 5_000 }]);
    expect(opened.state.isUsed).toBe(true);
    await eventually(() => !opened.state.isUsed, "the replica to be left");
    expect(opened.state.lagMs).toBeGreaterThan(4_000);
    expect(await opened.read(isThere)).toEqual([{ n: 5_000 }]);
    expect(kept.lines.at(-1)).toMatchObject({
      level: "warn",
      reason: "it is more than 4 s behind",
    });
    await resumeReplay(pair.standby);
    await eventually(() => opened.state.isUsed, "the replica to be used again");
    expect(await opened.read(role)).toBe("replica");
    // One line for each change.
    expect(kept.lines).toHaveLength(3);
  });

  it("does not count as behind while nothing is written", async () => {
    const opened = await openUsed(undefined, 1_000);
    // Each check measures a new lag.
    const lags = new Set<number>();
    await eventually(() => lags.add(opened.state.lagMs).size > 4, "some looks at the replica");
    expect(opened.state.isUsed).toBe(true);
    expect(opened.state.lagMs).toBeLessThan(1_000);
  });

  it("does not count as behind when a WAL page is just full", async () => {
    const opened = await openUsed();
    const bytesLeft = async (): Promise<number> => {
      const [row] = await pair.primary.query(
        "select 8192 - (pg_current_wal_insert_lsn() - '0/0'::pg_lsn) % 8192 as n",
      );
      return Number(row!["n"]);
    };
    // At the end of a page the primary reports the position behind the next page's header, of 24 or 40 bytes.
    await eventually(async () => {
      const left = await bytesLeft();
      if (left === 8_192 - 24 || left === 8_192 - 40) return true;
      // The record of a short text has 51 bytes more than the text.
      const text = left > 350 ? left - 300 : left >= 64 ? left - 51 : 8;
      await pair.primary.query(
        `select pg_logical_emit_message(false, '', repeat('x', ${text}), true)`,
      );
      return false;
    }, "the end of a page");
    const before = await bytesLeft();
    const answer = await opened.read(role, { exact: true });
    // Unless another record was written just then.
    expect([answer, await bytesLeft()]).toEqual(["replica", before]);
  });

  it("is not read before it has replayed the schema of this version", async () => {
    await pauseReplay(pair.standby);
    await primary.query("create table later as select 1 as one");
    const opened = open();
    await opened.firstCheck;
    expect(await opened.read((database) => database.query("select one from later"))).toEqual([
      { one: 1 },
    ]);
    expect(opened.state.isUsed).toBe(false);
    await resumeReplay(pair.standby);
    await eventually(() => opened.state.isUsed, "the replica to be used");
    expect(await opened.read((database) => database.query("select one from later"))).toEqual([
      { one: 1 },
    ]);
  });
});

describe("a standby that fails", () => {
  it("is replaced by the primary when it is killed during a read, and used again after its restart", async () => {
    const opened = await openUsed();
    const answer = opened.read(waitOnReplica);
    await eventually(() => isWaiting(pair.standby), "the read");
    await pair.standby.kill();
    expect(await answer).toBe("primary");
    expect(await opened.read(role)).toBe("primary");
    await pair.standby.start();
    await eventually(() => opened.state.isUsed, "the replica to be used again");
    expect(await opened.read(role)).toBe("replica");
    expect(kept.lines).toHaveLength(3);
  });

  it("is replaced by the primary within seconds when it hangs during a read", async () => {
    const opened = await openUsed();
    const answers = [1, 2, 3, 4, 5].map(() => opened.read(waitOnReplica));
    await eventually(() => isWaiting(pair.standby), "the reads");
    const beganMs = performance.now();
    pair.standby.signal("SIGSTOP");
    try {
      expect(await Promise.all(answers)).toEqual(answers.map(() => "primary"));
      expect(performance.now() - beganMs).toBeLessThan(8_000);
      const againMs = performance.now();
      expect(await opened.read(role)).toBe("primary");
      expect(performance.now() - againMs).toBeLessThan(1_000);
      expect(kept.lines.at(-1)).toMatchObject({ level: "warn" });
      // The replica does not keep the gateway from closing either.
      const endMs = performance.now();
      await opened.close();
      expect(performance.now() - endMs).toBeLessThan(6_000);
    } finally {
      pair.standby.signal("SIGCONT");
    }
  });

  it("a read that conflicts with replay goes to the primary", async () => {
    await pair.standby.query("alter system set max_standby_streaming_delay = 0");
    await pair.standby.query("select pg_reload_conf()");
    const opened = await openUsed();
    const answer = opened.read(
      async (database) => {
        await database.query("select count(*) from numbers");
        return waitOnReplica(database);
      },
      { snapshot: true },
    );
    await eventually(() => isWaiting(pair.standby), "the read");
    await primary.query("delete from numbers where n = 7");
    await primary.query("vacuum numbers");
    expect(await answer).toBe("primary");
    expect(kept.lines.at(-1)!.reason).toMatch(/conflict with recovery/);
    await eventually(() => opened.state.isUsed, "the replica to be used again");
    await pair.standby.query("alter system reset max_standby_streaming_delay");
    await pair.standby.query("select pg_reload_conf()");
  });

  // In the long form only: tests above cover other reads that fail there.
  it.runIf(isLong)("a read that takes longer than ten seconds goes to the primary", async () => {
    const opened = await openUsed();
    expect(await opened.read(waitOnReplica)).toBe("primary");
    expect(kept.lines.at(-1)!.reason).toMatch(/statement timeout/);
  });
});

describe("a replica's URL", () => {
  const refused = async (url: string): Promise<(typeof kept.lines)[number]> => {
    const opened = open(url);
    await opened.firstCheck;
    expect(opened.state.isUsed).toBe(false);
    const [found] = await opened.read((database) =>
      database.query("select n from numbers limit 1"),
    );
    expect(found).toBeDefined();
    expect(kept.lines).toHaveLength(1);
    return kept.lines[0]!;
  };

  it("is not read if it leads to another cluster or another database", async () => {
    const other = await refused(await (await sharedPostgres()).createMigrated());
    expect(other).toMatchObject({ level: "error", reason: expect.stringMatching(/no replica of/) });
    await pair.primary.query("create database neighbour");
    const neighbour = pair.urlOf(pair.standby.port).replace("/tollgate", "/neighbour");
    await eventually(
      async () =>
        (await pair.standby.query("select 1 from pg_database where datname = 'neighbour'")).length >
        0,
      "the other database",
    );
    expect(await refused(neighbour)).toMatchObject({
      level: "error",
      reason: expect.stringMatching(/another cluster, database or schema/),
    });
  });

  it("is not read if it selects another schema", async () => {
    await primary.query("create schema other");
    const url = `${pair.urlOf(pair.standby.port)}?options=-c%20search_path%3Dother`;
    expect(await refused(url)).toMatchObject({ reason: expect.stringMatching(/schema/) });
  });

  it("is not read if the primary does not say which cluster it is", async () => {
    await primary.query("create role plain login");
    await primary.query("revoke execute on function pg_control_system() from public");
    const url = pair.urlOf(pair.primary.port).replace("postgres@", "plain@");
    const asPlain = await openDatabase({ url, log: silentLog });
    kept = keptLog();
    const standby = pair.urlOf(pair.standby.port);
    replica = openReplica({ url: standby, primary: asPlain, lagMsMax: 10_000, log: kept.log });
    await replica.firstCheck;
    expect(await replica.read(role)).toBe("primary");
    expect(kept.lines).toEqual([
      expect.objectContaining({
        level: "warn",
        reason: expect.stringMatching(/permission denied/),
      }),
    ]);
    await replica.close();
    await asPlain.close();
    await primary.query("grant execute on function pg_control_system() to public");
  });

  it("is not read if it leads to the primary itself", async () => {
    expect(await refused(pair.urlOf(pair.primary.port))).toMatchObject({
      level: "error",
      reason: expect.stringMatching(/the primary itself, or was promoted/),
    });
  });

  it("is not read if its password is wrong, and the log does not show the password", async () => {
    await primary.query("create role reader login password 'right'");
    const { writeFileSync, readFileSync } = await import("node:fs");
    const hba = `${pair.standby.dataDir}/pg_hba.conf`;
    const before = readFileSync(hba, "utf8");
    writeFileSync(hba, `host all reader 127.0.0.1/32 scram-sha-256\n${before}`);
    await pair.standby.query("select pg_reload_conf()");
    const url = pair.urlOf(pair.standby.port).replace("postgres@", "reader:hunter2@");
    const line = await refused(url);
    expect(line).toMatchObject({
      level: "warn",
      reason: 'password authentication failed for user "reader"',
    });
    expect(JSON.stringify(kept.lines)).not.toContain("hunter2");
    await replica!.close();
    // With the right password this user may connect, but not read our tables: the primary answers.
    const opened = await openUsed(url.replace("hunter2", "right"));
    expect(
      await opened.read((database) => database.query("select 1 from numbers limit 1")),
    ).toEqual([expect.anything()]);
    expect(opened.state.isUsed).toBe(false);
    expect(kept.lines.at(-1)!.reason).toMatch(/permission denied/);
  });

  // Last, and without a second try, since the standby cannot be restored.
  it(
    "is not read if the standby was promoted, or follows a promoted one",
    { retry: 0 },
    async () => {
      const opened = await openUsed();
      const answer = opened.read(waitOnReplica);
      await eventually(() => isWaiting(pair.standby), "the read");
      await pair.standby.query("select pg_promote()");
      expect(await answer).toBe("primary");
      expect(opened.state.isUsed).toBe(false);
      expect(kept.lines.at(-1)).toMatchObject({
        level: "error",
        reason: expect.stringMatching(/was promoted/),
      });
      expect(await opened.read(role)).toBe("primary");
      await opened.close();
      await pair.standby.query("create table elsewhere as select generate_series(1, 100000) as n");
      // Its port may have been taken meanwhile, and this test has no second try.
      const lost = await startStandby(pair.standby).catch(() => startStandby(pair.standby));
      try {
        expect(await refused(pair.urlOf(lost.port))).toMatchObject({
          level: "error",
          reason: expect.stringMatching(/ahead of DATABASE_URL/),
        });
      } finally {
        await lost.kill();
      }
    },
  );
});
