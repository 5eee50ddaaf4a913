/**
 * A whole installation for faults: three gateways behind a balancer, a PostgreSQL server with a standby, files on S3, simulated
 * vendors, and a receiver of callbacks. Each of the last four is behind a link that can be cut.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer, type Server as HttpsServer } from "node:https";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { startSandbox, type Sandbox } from "../../../sandbox/index.ts";
import { silentLog } from "../../../src/base/log.ts";
import { openDatabase, type Database } from "../../../src/storage/index.ts";
import { adminToken, call } from "../../admin/support.ts";
import { s3Config, startS3, type S3Server } from "../../files/s3-server.ts";
import { startBalancer } from "../../support/balancer.ts";
import { makeCertificate } from "../../support/certificate.ts";
import { freePort } from "../../support/nginx.ts";
import { temporaryDirectory } from "../../support/postgres.ts";
import { spawnGateway, type GatewayProcess } from "../../support/process.ts";
import { openLink, type Link } from "./link.ts";
import { startPair, type Pair, type Server } from "./pair.ts";

export const gatewaysCount = 3;

export interface World {
  readonly gateways: GatewayProcess[];
  readonly pair: Pair;
  /** The server of the gateways' database: the standby after a failover. */
  main: Server;
  readonly links: Readonly<Record<"database" | "vendors" | "files" | "receivers", Link>>;
  readonly files: S3Server;
  /** The URL that callers use. */
  readonly url: string;
  readonly key: string;
  /** The URL of callbacks. */
  readonly webhookUrl: string;
  /** Ids of the events that arrived, by task. */
  readonly arrived: Map<string, Set<string>>;
  /** The number of requests to the vendor for a task, by the task's name. */
  readonly asked: Map<string, number>;
  /** Refuses the next `count` callbacks instead of answering 200. */
  refuseCallbacks(count: number): void;
  /** Starts a gateway that has ended, at its old address. */
  respawn(at: number): Promise<void>;
  /** Sets the gateway's own clock ahead of the true time. */
  putAhead(at: number, ms: number): void;
  restartBalancer(): Promise<void>;
  /** Runs `work` on a connection to the database. */
  look<Found>(work: (database: Database) => Promise<Found>): Promise<Found>;
  /** The resident memory of each gateway, in MB. */
  memoryMb(): number[];
  close(): Promise<void>;
}

const shiftedClock = new URL("../shifted-clock.mjs", import.meta.url).href;

/** Two providers of texts: if the first has trouble, the second answers. Pictures and videos have one each. */
const configuration = (vendors: string, files: string): string => `
${files}
providers:
  - { id: first, dialect: openai, base_url: "${vendors}/openai/v1", api_key: sandbox, tier: official, timeouts: { first_byte_s: 3, idle_s: 3 } }
  - { id: second, dialect: anthropic, base_url: "${vendors}/anthropic/v1", api_key: sandbox, tier: official, timeouts: { first_byte_s: 3, idle_s: 3 } }
  - { id: pictures, dialect: openai, base_url: "${vendors}/openai/v1", api_key: sandbox, tier: official, timeouts: { first_byte_s: 3, idle_s: 3 } }
  - { id: videos, dialect: xai, base_url: "${vendors}/xai/v1", api_key: sandbox, tier: official, timeouts: { first_byte_s: 5, idle_s: 5 } }
models:
  - id: acme/talk
    kind: text
    context_length: 200000
    max_output_tokens: 32000
    offers:
      - { provider: first, protocol: chat, upstream_model: chat-model, price: { input: "0.5", output: "2" } }
      - { provider: second, protocol: messages, upstream_model: messages-model, price: { input: "0.5", output: "2" } }
  - id: acme/picture
    kind: image
    family: image-a
    offers:
      - { provider: pictures, upstream_model: image-model-a, price: { input: "1", image_input: "1", output: "1", image_output: "1" } }
  - id: acme/clip
    kind: video
    family: video-v1
    offers:
      - { provider: videos, upstream_model: video-model-v1, price: { output_second: { 480p: "0.05", 720p: "0.07" }, input_image: "0.01" } }
`;

/** Starts everything. `databaseRoot` is the directory of the server's data, such as a disk that can be filled. */
export async function startWorld(databaseRoot?: string): Promise<World> {
  const directory = temporaryDirectory();
  const pair = await startPair(databaseRoot);
  const sandbox = await startSandbox({ host: "127.0.0.1", port: 0 });
  const files = await startS3();
  const receiver = await startReceiver(join(directory, "ca.pem"));
  const links = {
    database: await openLink(pair.primary.port),
    vendors: await openLink(sandbox.port),
    files: await openLink(Number(new URL(files.options.endpoint!).port)),
    receivers: await openLink(receiver.port),
  };
  const behind = { ...files, options: { ...files.options, endpoint: httpAt(links.files) } };
  writeFileSync(
    join(directory, "tollgate.yaml"),
    configuration(httpAt(links.vendors), s3Config(behind)),
  );
  const clockOf = (at: number) => join(directory, `clock-${at}`);
  const masterKey = randomBytes(32).toString("base64");
  const environments = await Promise.all(
    Array.from({ length: gatewaysCount }, async (_, at) => ({
      DATABASE_URL: pair.urlOf(links.database.port),
      TOLLGATE_CONFIG: join(directory, "tollgate.yaml"),
      TOLLGATE_DATA_DIR: temporaryDirectory(),
      TOLLGATE_MASTER_KEY: masterKey,
      TOLLGATE_ADMIN_TOKEN: adminToken,
      TOLLGATE_SANDBOX: "off",
      TOLLGATE_LOG_LEVEL: "silent",
      TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on",
      TOLLGATE_DRAIN_SECONDS: "1",
      NODE_EXTRA_CA_CERTS: join(directory, "ca.pem"),
      NODE_OPTIONS: `--import=${shiftedClock}`,
      TOLLGATE_TEST_CLOCK_FILE: clockOf(at),
      PORT: String(await freePort()),
    })),
  );
  const gateways: GatewayProcess[] = [];
  for (const environment of environments) gateways.push(await spawnGateway(environment));
  const key = await firstKey(gateways[0]!);
  let balancer = await startBalancer(gateways.map(({ url }) => url));
  const balancerPort = Number(new URL(balancer.url).port);
  const asked = new Map<string, number>();
  const counting = setInterval(() => countAsked(sandbox, asked), 200);
  const world: World = {
    gateways,
    pair,
    main: pair.primary,
    links,
    files,
    url: balancer.url,
    key,
    webhookUrl: `https://localhost:${links.receivers.port}/`,
    arrived: receiver.arrived,
    asked,
    refuseCallbacks: receiver.refuse,
    async respawn(at) {
      gateways[at] = await spawnGateway(environments[at]!);
    },
    putAhead(at, ms) {
      writeFileSync(`${clockOf(at)}.new`, String(ms));
      renameSync(`${clockOf(at)}.new`, clockOf(at));
    },
    async restartBalancer() {
      await balancer.close();
      balancer = await startBalancer(
        gateways.map(({ url }) => url),
        balancerPort,
      );
    },
    async look(work) {
      const database = await openDatabase({ url: pair.urlOf(world.main.port), log: silentLog });
      try {
        return await work(database);
      } finally {
        await database.close();
      }
    },
    memoryMb: () => gateways.map(({ child }) => residentMb(child.pid!)),
    async close() {
      clearInterval(counting);
      await balancer.close();
      await Promise.all(gateways.map((gateway) => gateway.kill()));
      for (const link of Object.values(links)) link.close();
      receiver.close();
      await files.close();
      await sandbox.close();
      await pair.close();
    },
  };
  return world;
}

const httpAt = ({ port }: Link): string => `http://127.0.0.1:${port}`;

/** Adds credit to the first workspace, and makes a key of it. */
async function firstKey({ url }: GatewayProcess): Promise<string> {
  const admin = async (method: string, path: string, body?: object) => {
    const answer = await call(url, method, path, { token: adminToken, body });
    if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
    return answer.json;
  };
  const workspaceId = (await admin("GET", "/workspaces")).data[0].id;
  await admin("POST", `/workspaces/${workspaceId}/credits`, { amount: "10000" });
  const { key } = await admin("POST", "/keys", { workspace_id: workspaceId, name: "load" });
  return key;
}

/** The journal keeps only the last thousand requests: those for tasks are counted as they come. */
function countAsked({ journal }: Sandbox, asked: Map<string, number>): void {
  for (const { method, path, body } of journal.list()) {
    const prompt = (body as { prompt?: unknown } | null)?.prompt;
    if (method !== "POST" || !path.endsWith("/videos/generations")) continue;
    const name = String(prompt).split("\n")[0]!;
    asked.set(name, (asked.get(name) ?? 0) + 1);
  }
  journal.clear();
}

async function startReceiver(certificateFile: string) {
  const certificate = makeCertificate();
  writeFileSync(certificateFile, certificate.cert);
  const arrived = new Map<string, Set<string>>();
  let refusing = 0;
  const server: HttpsServer = createServer(certificate, (request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      refusing -= 1;
      if (refusing >= 0) return void response.writeHead(500).end();
      const event = JSON.parse(text) as { id: string; data: { id: string } };
      arrived.set(event.data.id, (arrived.get(event.data.id) ?? new Set()).add(event.id));
      response.end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    arrived,
    refuse: (count: number) => void (refusing = count),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}
