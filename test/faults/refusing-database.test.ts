/**
 * A database server that answers but refuses. It is read-only (a standby under the primary's name, a provider that protects a
 * full disk), or the role may no longer log in, or no longer reaches the tables. Calls get `database_unavailable`, and answers of providers are charged when it is
 * over.
 */
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { isTransient, openDatabase, type Database } from "../../src/storage/index.ts";
import {
  answering,
  benchOf,
  chatConfig,
  errorOf,
  eventually,
  idOf,
  talk,
  usageOf,
  type Bench,
} from "../money/support.ts";
import { startTestGateway } from "../support/gateway.ts";
import { sharedPostgres, silentLog } from "../support/postgres.ts";
import { startRecorder, type Recorder } from "../support/recorder.ts";

const usage = usageOf(100, 40);
const costNano = 100n * 3_000n + 40n * 15_000n;
const role = "refused_now_and_then";
const powerless = "without_rights";

let operator: Database;
let url: string;
let up: Recorder;
let bench: Bench;
const logged: string[] = [];
const keep = (_fields: object, message: string): void => void logged.push(message);

beforeAll(async () => {
  const postgres = await sharedPostgres();
  operator = await openDatabase({ url: postgres.url, log: silentLog });
  await operator.query(`drop role if exists ${role}, ${powerless}`);
  await operator.query(`create role ${role} login superuser; create role ${powerless}`);
  url = (await postgres.createDatabase()).replace("postgres@", `${role}@`);
  up = await startRecorder(() => undefined);
  const gateway = await startTestGateway({
    databaseUrl: url,
    log: { ...silentLog, warn: keep, error: keep },
    config: chatConfig(up.url, 'price: { input: "3", output: "15" }'),
  });
  await gateway.credit("100");
  bench = await benchOf(gateway, up, { dataDir: gateway.directory });
});
afterAll(async () => {
  await bench.close();
  await up.close();
  await operator.close();
});

/** Changes the role and ends its open connections, as in a failover. */
async function alter(how: string): Promise<void> {
  await operator.query(`alter role ${role} ${how}`);
  await operator.query(
    "select pg_terminate_backend(pid, 1000) from pg_stat_activity where usename = $1",
    [role],
  );
}

/** The gateway reuses a database answer for a second. */
const readiness = (status: number): Promise<unknown> =>
  eventually(
    async () => (await bench.get("/readyz")).status === status || undefined,
    `/readyz with ${status}`,
  );

it.each([
  ["read-only", "set default_transaction_read_only = on", "reset default_transaction_read_only"],
  ["closed to the role", "nologin", "login"],
  ["closed to the tables", `set role = ${powerless}`, "reset role"],
  ["leading past the tables", "set search_path = elsewhere", "reset search_path"],
])(
  "T67 T68: while the server is %s new calls get 503, and an answered call is charged afterwards",
  async (_what, refuse, letIn) => {
    const before = (await bench.charges()).length;
    logged.length = 0;
    let release: () => void = () => undefined;
    up.answer(async (request, response) => {
      await new Promise<void>((resume) => (release = resume));
      await answering(usage)(request, response);
    });
    const requestsBefore = up.requests.length;
    const underWay = bench.post("/v1/chat/completions", talk());
    await eventually(
      () => up.requests.length > requestsBefore || undefined,
      "the call at its provider",
    );
    await alter(refuse);
    onTestFinished(() => alter(letIn));
    const refused = await eventually(async () => {
      const answer = await bench.post("/v1/chat/completions", talk());
      const { code } = await errorOf(answer);
      // For ten seconds after it stood still for two, the process answers `overloaded` instead.
      return code !== "overloaded" && [answer.status, code];
    }, "a refusal");
    expect(refused).toEqual([503, "database_unavailable"]);
    await readiness(503);
    // Only now, because the call gives up when its charge could not be written for 30 seconds.
    release();
    await eventually(
      () => logged.includes("charges could not be written; they are sent again") || undefined,
      "a word in the log",
    );
    expect(logged).not.toContain("a request failed");
    await alter(letIn);
    const answered = await underWay;
    expect(answered.status).toBe(200);
    expect(await bench.entry(idOf(answered))).toMatchObject({ amount_nano: costNano });
    expect(await bench.charges()).toHaveLength(before + 1);
    expect(up.requests).toHaveLength(requestsBefore + 1);
    await readiness(200);
    await bench.expectClean();
  },
);

it.each([
  ["26000", "execute of_another_session"],
  ["42501", `set local role ${powerless}; select from api_keys`],
])(
  "T67: after %s a transaction ends its connection, since another session may do better",
  async (code, sql) => {
    const database = await openDatabase({ url, log: silentLog, connectionsMax: 1 });
    onTestFinished(() => database.close());
    const pidOf = (): Promise<object[]> => database.query("select pg_backend_pid() as pid");
    const before = await pidOf();
    await expect(database.transaction((tx) => tx.query(sql))).rejects.toMatchObject({ code });
    expect(await pidOf()).not.toEqual(before);
  },
);

it("T67: a connection to a read-only server is closed after its transaction, since the name may now lead to the primary", async () => {
  const database = await openDatabase({ url, log: silentLog, connectionsMax: 1 });
  const pidOf = async (): Promise<unknown> =>
    (await database.query("select pg_backend_pid() as pid"))[0];
  const before = await pidOf();
  await database.query("set default_transaction_read_only = on");
  const failure = await database
    .transaction((tx) => tx.query("create table anything ()"))
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "25006" });
  expect(isTransient(failure)).toBe(true);
  expect(await pidOf()).not.toEqual(before);
  await database.close();
});

it.each([
  "28P01",
  "3D000",
  "58030",
  "26000",
  "42P05",
  "ENETUNREACH",
  "CERT_HAS_EXPIRED",
  "ERR_TLS_CERT_ALTNAME_INVALID",
])("T67: %s is transient: the failed statement is retried", (code) => {
  expect(isTransient(Object.assign(new Error("refused"), { code }))).toBe(true);
});
