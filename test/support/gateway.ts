/** A whole gateway for a test: in this process, on a database of its own, over real sockets. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog, type Log } from "../../src/base/log.ts";
import { parseUsd } from "../../src/base/money.ts";
import { startGateway, type Gateway, type GatewayOptions } from "../../src/cli/gateway.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { systemClock, type Clock } from "../../src/base/clock.ts";
import type { FirstStart } from "../../src/cli/first-start.ts";
import type { Database } from "../../src/storage/index.ts";
import { openSecrets, type Secrets } from "../../src/tenancy/index.ts";
import { startedDatabase } from "./first-start.ts";
import { sharedPostgres } from "./postgres.ts";
import { withAccounts, type TestLedger } from "./ledger.ts";

export interface GatewayUnderTest extends Gateway {
  /** The key of the very first start. */
  readonly key: string;
  readonly ledger: TestLedger;
  readonly workspaceId: string;
  readonly directory: string;
  /** Sends a JSON POST with the key. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  credit(usd: string): Promise<void>;
  /** What its rows are written with by tests that need people or keys without asking it for them. */
  hand(): Promise<{
    readonly database: Database;
    readonly clock: Clock;
    readonly secrets: Secrets;
  }>;
}

interface Options {
  /** A configuration file's text; without it the sandbox is what there is. */
  readonly config?: string;
  readonly databaseUrl?: string;
  /** Where its files go, such as the master key; in its directory if absent. */
  readonly dataDir?: string;
  readonly sandbox?: "on" | "off";
  readonly holdLeaseMs?: number;
  readonly keepAliveMs?: number;
  /** How long calls under way may take to end when it stops. */
  readonly stopMs?: number;
  /** Direct calls go through the canonical form too. */
  readonly forceConversion?: boolean;
  readonly receive?: GatewayOptions["receive"];
  readonly tasks?: GatewayOptions["tasks"];
  /** How often usage is summed; never if absent, so that a test can do what nobody may: change what was written. */
  readonly usageEveryMs?: number;
  /** How often files that are over their time are looked for. */
  readonly filesEveryMs?: number;
  /** How often the store of files is looked at. */
  readonly filesLookEveryMs?: number;
  readonly presenceEveryMs?: number;
  readonly health?: GatewayOptions["health"];
  readonly log?: Log;
  readonly accessLog?: GatewayOptions["accessLog"];
  readonly clock?: Clock;
  readonly fastPath?: GatewayOptions["fastPath"];
  readonly consoleFolder?: string;
  readonly events?: GatewayOptions["events"];
  readonly environment?: Record<string, string>;
  /** Of a gateway that was closed: its data is found again. */
  readonly directory?: string;
}

/** The members that were given at all: an absent one leaves the gateway's own default. */
function given<Key extends keyof Options>(
  options: Options,
  keys: readonly Key[],
): Pick<Options, Key> {
  const entries = keys
    .filter((key) => options[key] !== undefined)
    .map((key) => [key, options[key]]);
  return Object.fromEntries(entries) as Pick<Options, Key>;
}

/** True in the second run of the suites of direct routes (vitest.config.ts), where nothing takes the direct way. */
export const forced = process.env["TOLLGATE_TEST_FORCED"] === "1";

const startsOwnDatabase = ({ databaseUrl, environment = {} }: Options): boolean =>
  databaseUrl === undefined &&
  environment["DATABASE_URL"] === undefined &&
  environment["TOLLGATE_DATA_DIR"] === undefined;

/** The databases of gateways by their directories: one that starts again in the same one finds its data. */
const databases = new Map<string, string>();

/** Given by these, the master key is not the one of the first start that is copied; a clock of its own is in what it writes. */
const startsInItsOwnWay = ({ clock, environment = {} }: Options): boolean =>
  clock !== undefined ||
  Object.keys(environment).some((name) => /^TOLLGATE_MASTER_KEY_|^CREDENTIALS_/.test(name));

/**
 * A test that does not say which database it means gets one on the worker's PostgreSQL server: it is there in a tenth of the
 * time that the embedded one takes. Suites that are about the database run on both kinds.
 */
async function databaseOf(
  options: Options,
  directory: string,
  variables: Readonly<Record<string, string>> & { readonly TOLLGATE_DATA_DIR: string },
): Promise<{ readonly url?: string | undefined; readonly first?: FirstStart }> {
  if (!startsOwnDatabase(options)) return { url: options.databaseUrl };
  const known = databases.get(directory);
  if (known !== undefined) return { url: known };
  const dataDir = variables.TOLLGATE_DATA_DIR;
  if (options.dataDir === undefined && existsSync(dataDir)) return {};
  const made = startsInItsOwnWay(options)
    ? { url: await (await sharedPostgres()).createMigrated() }
    : await startedDatabase(variables, dataDir);
  databases.set(directory, made.url);
  return made;
}

/** Starts it on a free port. `close` also removes its directory. */
export async function startTestGateway(options: Options = {}): Promise<GatewayUnderTest> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), "tollgate-test-"));
  const config = join(directory, "tollgate.yaml");
  if (options.config !== undefined) writeFileSync(config, options.config);
  const variables = {
    PORT: "0",
    TOLLGATE_DATA_DIR: options.dataDir ?? join(directory, "data"),
    TOLLGATE_SANDBOX: options.sandbox ?? (options.config === undefined ? "on" : "off"),
    ...(options.config === undefined ? {} : { TOLLGATE_CONFIG: config }),
    // Tests of configured gateways say what there is to spend.
    ...(options.config === undefined ? {} : { TOLLGATE_INITIAL_CREDIT: "0" }),
    ...options.environment,
  };
  const { url, first } = await databaseOf(options, directory, variables);
  const environment = readEnvironment({
    ...(url === undefined ? {} : { DATABASE_URL: url }),
    ...variables,
  });
  const gateway = await startGateway({
    environment,
    log: options.log ?? silentLog,
    forceConversion: forced,
    usageEveryMs: options.usageEveryMs ?? 0,
    retentionEveryMs: 0,
    // Most tests look at the row of a call as soon as it is answered.
    logGatherMs: 2,
    ...given(options, [
      "accessLog",
      "receive",
      "holdLeaseMs",
      "keepAliveMs",
      "stopMs",
      "filesEveryMs",
      "filesLookEveryMs",
      "presenceEveryMs",
      "forceConversion",
      "clock",
      "fastPath",
      "consoleFolder",
      "events",
      "tasks",
      "health",
    ]),
  });
  const made = gateway.first ?? first;
  const key = made?.apiKey ?? "";
  const rows = await gateway.database.query<{ id: string }>(
    "select id from workspaces order by id limit 1",
  );
  const workspaceId = rows[0]!.id;
  const ledger = withAccounts(gateway.database, gateway.ledger);
  return {
    ...gateway,
    ledger,
    first: made,
    key,
    workspaceId,
    directory,
    post: (path, body, headers = {}) =>
      fetch(gateway.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${key}`, ...headers },
        body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
      }),
    get: (path, headers = {}) =>
      fetch(gateway.url + path, { headers: { authorization: `Bearer ${key}`, ...headers } }),
    async credit(usd) {
      await ledger.credit({
        workspaceId,
        amountNano: parseUsd(usd),
        reference: crypto.randomUUID(),
      });
    },
    async hand() {
      const { database } = gateway;
      const { masterKey, dataDir } = environment;
      const secrets = await openSecrets({ database, masterKey, dataDir });
      return { database, clock: options.clock ?? systemClock, secrets };
    },
    async close(closing) {
      await gateway.close(closing);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
