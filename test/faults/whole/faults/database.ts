/** Faults of the database: its server, its disk, the link to it, and its standby. */
import { Client } from "pg";
import { fillDisk } from "../../../support/disk.ts";
import { link, faultMs, type Fault } from "./fault.ts";

/** Takes connections until the server has none. */
async function takeConnections(url: string): Promise<Client[]> {
  const taken: Client[] = [];
  for (;;) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
    client.on("error", () => undefined);
    try {
      await client.connect();
      taken.push(client);
    } catch {
      return taken;
    }
  }
}

export const databaseFaults: readonly Fault[] = [
  {
    name: "kill -9 of the database server",
    part: "database",
    async inject({ main }, traffic) {
      await main.kill();
      await traffic.lasts(1_000);
      await main.start();
    },
  },
  {
    name: "the database server restarts",
    part: "database",
    async inject({ main }) {
      await main.stop();
      await main.start();
    },
  },
  {
    name: "kill -9 of the database server and of one gateway",
    part: "database",
    async inject(world) {
      await Promise.all([world.main.kill(), world.gateways[2]!.kill()]);
      await world.main.start();
      await world.respawn(2);
    },
  },
  {
    name: "the database server is paused",
    part: "database",
    async inject({ main }, traffic) {
      main.signal("SIGSTOP");
      await traffic.lasts(faultMs);
      main.signal("SIGCONT");
    },
  },
  {
    name: "all connections to the database are reset, three times",
    part: "database",
    async inject({ links }, traffic) {
      for (let round = 0; round < 3; round += 1) {
        links.database.reset();
        await traffic.lasts(700);
      }
    },
  },
  {
    name: "the link to the database is cut",
    part: "database",
    short: true,
    inject: link("database", (one) => one.cut()),
  },
  {
    name: "the link to the database swallows all bytes for a while",
    part: "database",
    inject: link("database", (one) => one.hold()),
  },
  {
    name: "the database is 40 ms away",
    part: "database",
    noneFails: true,
    inject: link("database", (one) => one.slow(20)),
  },
  {
    name: "the database has no connection left",
    part: "database",
    async inject({ main, links, pair }, traffic) {
      const taken = await takeConnections(pair.urlOf(main.port));
      links.database.reset();
      await traffic.lasts(faultMs);
      await Promise.all(taken.map((client) => client.end().catch(() => undefined)));
    },
  },
  {
    name: "another session locks the ledger's tables",
    part: "database",
    async inject({ main, pair }, traffic) {
      const client = new Client(pair.urlOf(main.port));
      await client.connect();
      await client.query("begin; lock table ledger_accounts, ledger_entries in exclusive mode");
      await traffic.lasts(faultMs);
      await client.query("rollback");
      await client.end();
    },
  },
  {
    name: "the standby is gone, and comes back",
    part: "database",
    async inject({ pair }, traffic) {
      // Commits wait for the standby: it is synchronous.
      await pair.standby.kill();
      await traffic.lasts(faultMs);
      await pair.standby.start();
    },
  },
  {
    name: "the database server's disk is full, then has room, and the server is restarted",
    part: "database",
    needsDisk: true,
    async inject({ main }, traffic) {
      const makeRoom = fillDisk(`${main.dataDir}/..`);
      await traffic.lasts(faultMs);
      makeRoom();
      await main.kill();
      await main.start();
    },
  },
];

/** Runs last: there is no standby after it. */
export const failover: Fault = {
  name: "kill -9 of the database server, failover to the standby",
  part: "database",
  async inject(world) {
    const { pair, links } = world;
    await pair.primary.kill();
    await pair.standby.query("select pg_promote(true, 30)");
    await pair.standby.query("alter system set synchronous_standby_names = ''");
    await pair.standby.query("select pg_reload_conf()");
    world.main = pair.standby;
    links.database.leadTo(pair.standby.port);
    links.database.reset();
  },
};
