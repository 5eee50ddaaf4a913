/** What is done to the installation, each under mixed load. */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { fillDisk } from "../../support/disk.ts";
import { inForm } from "../../support/long.ts";
import type { Traffic } from "./traffic.ts";
import { gatewaysCount, type World } from "./world.ts";

export interface Fault {
  /** As the table of docs/reliability.md has it. */
  readonly name: string;
  readonly part: "gateways" | "database" | "vendors" | "files" | "receivers" | "clocks" | "callers";
  /** Resolves when the fault is over. */
  inject(world: World, traffic: Traffic): Promise<void>;
  /** Not one call may fail. */
  readonly noneFails?: boolean;
  /** Tasks that end without a result, such as where the vendor forgets them. */
  readonly tasksFail?: boolean;
  /** Also in the short form. */
  readonly short?: boolean;
  /** Needs a disk that can be filled. */
  readonly needsDisk?: boolean;
}

const standMs = inForm(2_000, 8_000);
const longStandMs = inForm(3_000, 30_000);
const all = Array.from({ length: gatewaysCount }, (_, at) => at);

/** While `troubles` are asked of the vendors. */
const vendors =
  (troubles: Traffic["troubles"]): Fault["inject"] =>
  async (_world, traffic) => {
    traffic.troubles = troubles;
    await sleep(standMs);
    traffic.troubles = {};
  };

/** While a link is hurt. */
const link =
  (
    name: keyof World["links"],
    hurt: (link: World["links"]["database"]) => void,
    ms = standMs,
  ): Fault["inject"] =>
  async ({ links }) => {
    hurt(links[name]);
    await sleep(ms);
    links[name].heal();
  };

async function stopped(world: World, at: readonly number[], ms: number): Promise<void> {
  for (const one of at) world.gateways[one]!.child.kill("SIGSTOP");
  await sleep(ms);
  for (const one of at) world.gateways[one]!.child.kill("SIGCONT");
}

const gatewayFaults: Fault[] = [
  {
    name: "kill -9 of one of three gateways",
    part: "gateways",
    short: true,
    async inject(world) {
      await world.gateways[0]!.kill();
      await sleep(1_000);
      await world.respawn(0);
    },
  },
  {
    name: "kill -9 of all gateways at once",
    part: "gateways",
    async inject(world) {
      await Promise.all(world.gateways.map((gateway) => gateway.kill()));
      for (const at of all) await world.respawn(at);
    },
  },
  {
    name: "kill -9 of each gateway in turn, three times",
    part: "gateways",
    async inject(world) {
      for (let round = 0; round < 3; round += 1)
        for (const at of all) {
          await world.gateways[at]!.kill();
          await world.respawn(at);
        }
    },
  },
  {
    name: "rolling restart of all gateways",
    part: "gateways",
    noneFails: true,
    async inject(world) {
      for (const at of all) {
        await world.gateways[at]!.stop();
        await world.respawn(at);
        // Until the balancer has seen it.
        await sleep(500);
      }
    },
  },
  {
    name: "one gateway stands still (SIGSTOP)",
    part: "gateways",
    inject: (world) => stopped(world, [1], longStandMs),
  },
  {
    name: "all gateways stand still",
    part: "gateways",
    inject: (world) => stopped(world, all, standMs),
  },
  {
    name: "the balancer restarts",
    part: "gateways",
    inject: (world) => world.restartBalancer(),
  },
];

const databaseFaults: Fault[] = [
  {
    name: "kill -9 of the database server",
    part: "database",
    async inject({ main }) {
      await main.kill();
      await sleep(1_000);
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
    name: "the database server stands still",
    part: "database",
    async inject({ main }) {
      main.signal("SIGSTOP");
      await sleep(standMs);
      main.signal("SIGCONT");
    },
  },
  {
    name: "all connections to the database are reset, three times",
    part: "database",
    async inject({ links }) {
      for (let round = 0; round < 3; round += 1) {
        links.database.reset();
        await sleep(700);
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
    async inject({ main, links, pair }) {
      const taken = await takeConnections(pair.urlOf(main.port));
      links.database.reset();
      await sleep(standMs);
      await Promise.all(taken.map((client) => client.end().catch(() => undefined)));
    },
  },
  {
    name: "a stranger locks the ledger's tables",
    part: "database",
    async inject({ main, pair }) {
      const client = new Client(pair.urlOf(main.port));
      await client.connect();
      await client.query("begin; lock table ledger_accounts, ledger_entries in exclusive mode");
      await sleep(standMs);
      await client.query("rollback");
      await client.end();
    },
  },
  {
    name: "the standby is gone, and comes back",
    part: "database",
    async inject({ pair }) {
      // Commits wait for it: that is what a synchronous standby is for.
      await pair.standby.kill();
      await sleep(standMs);
      await pair.standby.start();
    },
  },
  {
    name: "the database server's disk is full, then there is room and it is started again",
    part: "database",
    needsDisk: true,
    async inject({ main }) {
      const makeRoom = fillDisk(`${main.dataDir}/..`);
      await sleep(standMs);
      makeRoom();
      await main.kill();
      await main.start();
    },
  },
];

/** Taken last: there is no standby after it. */
const failover: Fault = {
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

const vendorFaults: Fault[] = [
  {
    name: "one of two vendors answers 500",
    part: "vendors",
    noneFails: true,
    inject: vendors({ call: { status: 500, only: ["chat"] } }),
  },
  {
    name: "both vendors answer 500",
    part: "vendors",
    inject: vendors({ call: { status: 500 } }),
  },
  {
    name: "one of two vendors answers 429 with Retry-After",
    part: "vendors",
    noneFails: true,
    inject: vendors({ call: { status: 429, retry_after: 2, only: ["chat"] } }),
  },
  {
    name: "one of two vendors never answers",
    part: "vendors",
    noneFails: true,
    inject: vendors({ call: { hang: true, only: ["chat"] } }),
  },
  {
    name: "vendors fall silent in the middle of an answer",
    part: "vendors",
    inject: vendors({ call: { hang_after_chunks: 1, chunk_chars: 4 } }),
  },
  {
    name: "vendors cut their answers",
    part: "vendors",
    short: true,
    inject: vendors({ call: { cut_after_chunks: 1, chunk_chars: 4 } }),
  },
  {
    name: "vendors leave out what ends a stream",
    part: "vendors",
    inject: vendors({ call: { no_end_marker: true } }),
  },
  {
    name: "vendors answer broken JSON",
    part: "vendors",
    inject: vendors({ call: { malformed: "json" } }),
  },
  {
    name: "vendors answer a page of HTML",
    part: "vendors",
    inject: vendors({ call: { malformed: "html" } }),
  },
  {
    name: "vendors send half frames of 3 bytes",
    part: "vendors",
    noneFails: true,
    inject: vendors({ call: { sse_cut_bytes: 3, only: ["chat", "messages"] } }),
  },
  {
    name: "vendors flood answers with 2 MB",
    part: "vendors",
    inject: vendors({ call: { flood: 2_000_000, only: ["chat", "messages"] } }),
  },
  {
    name: "vendors cannot be reached",
    part: "vendors",
    inject: link("vendors", (one) => one.cut()),
  },
  {
    name: "the link to vendors swallows all bytes for a while",
    part: "vendors",
    inject: link("vendors", (one) => one.hold()),
  },
  {
    name: "vendors are 400 ms away",
    part: "vendors",
    noneFails: true,
    inject: link("vendors", (one) => one.slow(200)),
  },
  {
    name: "vendors fail when asked for a task's state",
    part: "vendors",
    noneFails: true,
    inject: vendors({ task: { poll: { status: 500, times: 2 } } }),
  },
  {
    name: "downloads of what was made are cut",
    part: "vendors",
    noneFails: true,
    inject: vendors({ task: { artifact: { cut_after_bytes: 200, times: 1 } } }),
  },
  {
    name: "vendors forget tasks",
    part: "vendors",
    tasksFail: true,
    inject: vendors({ task: { task_outcome: "vanished" } }),
  },
];

const otherFaults: Fault[] = [
  {
    name: "S3 cannot be reached",
    part: "files",
    inject: link("files", (one) => one.cut()),
  },
  {
    name: "S3 swallows all bytes for a while",
    part: "files",
    inject: link("files", (one) => one.hold()),
  },
  {
    name: "S3 is 400 ms away",
    part: "files",
    noneFails: true,
    inject: link("files", (one) => one.slow(200)),
  },
  {
    name: "receivers of callbacks cannot be reached",
    part: "receivers",
    noneFails: true,
    inject: link("receivers", (one) => one.cut()),
  },
  {
    name: "receivers of callbacks do not answer for a while",
    part: "receivers",
    noneFails: true,
    inject: link("receivers", (one) => one.hold()),
  },
  {
    name: "receivers answer 500 at first",
    part: "receivers",
    noneFails: true,
    async inject(world) {
      world.refuseCallbacks(5);
      await sleep(standMs);
      world.refuseCallbacks(0);
    },
  },
  {
    name: "a gateway's clock is an hour ahead",
    part: "clocks",
    inject: (world) => withClock(world, 3_600_000),
  },
  {
    name: "a gateway's clock is an hour behind",
    part: "clocks",
    inject: (world) => withClock(world, -3_600_000),
  },
  {
    name: "300 connections that say nothing",
    part: "callers",
    noneFails: true,
    async inject(world) {
      const sockets = openSilent(world, 300);
      await sleep(standMs);
      for (const socket of sockets) socket.destroy();
    },
  },
  {
    name: "100 callers that never read their streams",
    part: "callers",
    inject: (world) => withDeafCallers(world, 100),
  },
];

async function withClock(world: World, ms: number): Promise<void> {
  world.putAhead(1, ms);
  await sleep(standMs);
  world.putAhead(1, 0);
}

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

const portOf = (url: string): number => Number(new URL(url).port);

function openSilent({ gateways }: World, count: number): Socket[] {
  return Array.from({ length: count }, (_, at) =>
    connect(portOf(gateways[at % gateways.length]!.url), "127.0.0.1").on("error", () => undefined),
  );
}

/** They ask for a long stream and read nothing of it. */
async function withDeafCallers(world: World, count: number): Promise<void> {
  const answer = `#sandbox ${JSON.stringify({ flood: 400_000 })}`;
  const body = JSON.stringify({
    model: "acme/talk",
    stream: true,
    messages: [{ role: "user", content: answer }],
  });
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.key}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`;
  const sockets = openSilent(world, count);
  for (const socket of sockets) socket.pause().write(head + body);
  await sleep(standMs);
  for (const socket of sockets) socket.destroy();
}

/** In the order in which they are tried. */
export const faults: readonly Fault[] = [
  ...gatewayFaults,
  ...vendorFaults,
  ...otherFaults,
  ...databaseFaults,
  failover,
];
