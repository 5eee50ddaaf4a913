/** A whole gateway for a test: in this process, on its own database, over real sockets. */
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
  /** The API key that the first start makes. */
  readonly key: string;
  readonly ledger: TestLedger;
  readonly workspaceId: string;
  readonly directory: string;
  /** Sends a JSON POST with the key. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  credit(usd: string): Promise<void>;
  /** Direct access to its rows, for tests that need people or keys without calling the API. */
  internals(): Promise<{
    readonly database: Database;
    readonly clock: Clock;
    readonly secrets: Secrets;
  }>;
}

interface Options {
  /** The text of a configuration file; without it, only the sandbox is configured. */
  readonly config?: string;
  readonly databaseUrl?: string;
  /** The directory of its files, such as the master key; inside the test's directory if absent. */
  readonly dataDir?: string;
  readonly sandbox?: "on" | "off";
  readonly holdLeaseMs?: number;
  readonly keepAliveMs?: number;
  /** How long calls in flight may take to end when it stops. */
  readonly stopMs?: number;
  /** True if direct calls go through the canonical form too. */
  readonly forceConversion?: boolean;
  readonly receive?: GatewayOptions["receive"];
  readonly tasks?: GatewayOptions["tasks"];
  /**
   * Milliseconds between sums of usage. If absent, usage is never summed, so that a test can change rows that are otherwise never
   * changed.
   */
  readonly usageEveryMs?: number;
  /** Milliseconds between sweeps for expired files. */
  readonly filesEveryMs?: number;
  /** Milliseconds between checks of the file store. */
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
  /** The directory of a gateway that was closed, to start again on its data. */
  readonly directory?: string;
}

/** The options that are present: an absent one leaves the gateway's own default. */
function given<Key extends keyof Options>(
  options: Options,
  keys: readonly Key[],
): Pick<Options, Key> {
  const entries = keys
    .filter((key) => options[key] !== undefined)
    .map((key) => [key, options[key]]);
  return Object.fromEntries(entries) as Pick<Options, Key>;
}

/** True in the second run of the suites of direct routes (vitest.config.ts), where no call takes the direct route. */
export const forced = process.env["TOLLGATE_TEST_FORCED"] === "1";

const startsOwnDatabase = ({ databaseUrl, environment = {} }: Options): boolean =>
  databaseUrl === undefined &&
  environment["DATABASE_URL"] === undefined &&
  environment["TOLLGATE_DATA_DIR"] === undefined;

/** The databases of gateways by directory, so that a gateway that restarts in the same directory finds its data. */
const databases = new Map<string, string>();

/** True if a copied first start does not fit: the master key comes from these variables, or the test's clock is in the rows. */
const startsInItsOwnWay = ({ clock, environment = {} }: Options): boolean =>
  clock !== undefined ||
  Object.keys(environment).some((name) => /^TOLLGATE_MASTER_KEY_|^CREDENTIALS_/.test(name));

/**
 * The database of a test that names none: one on the worker's PostgreSQL server, which is ready in a tenth of the time of the
 * embedded one. Suites about the database run on both kinds.
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

/** Starts the gateway on a free port. `close` also removes its directory. */
export async function startTestGateway(options: Options = {}): Promise<GatewayUnderTest> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), "tollgate-test-"));
  const config = join(directory, "tollgate.yaml");
  if (options.config !== undefined) writeFileSync(config, options.config);
  const variables = {
    PORT: "0",
    TOLLGATE_DATA_DIR: options.dataDir ?? join(directory, "data"),
    TOLLGATE_SANDBOX: options.sandbox ?? (options.config === undefined ? "on" : "off"),
    ...(options.config === undefined ? {} : { TOLLGATE_CONFIG: config }),
    // Tests of configured gateways set their own credit.
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
    // Most tests read the log row of a call as soon as it is answered.
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
    async internals() {
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
