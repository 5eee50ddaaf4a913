/** Replacing the master key while gateways run: reading, signing and showing go on, and values that cannot be opened are reported. */
import { randomBytes } from "node:crypto";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startAdminGateway, type AdminGateway } from "../admin/support.ts";
import { createToken } from "../../src/admin/index.ts";
import { newId } from "../../src/base/ids.ts";
import { allowPrivate, answering, chat, must, providerBody } from "../providers/support.ts";
import { tollgateHere } from "../support/command.ts";
import { eventually } from "../support/patience.ts";
import { sharedPostgres, temporaryDirectory } from "../support/postgres.ts";
import { startRecorder, type Recorder } from "../support/recorder.ts";
import { main } from "../support/program.ts";

const newMasterKey = (): string => randomBytes(32).toString("base64");
const [old, fresh] = [newMasterKey(), newMasterKey()];
const onlyOld = { TOLLGATE_MASTER_KEY: old };
const both = { TOLLGATE_MASTER_KEY: fresh, TOLLGATE_MASTER_KEY_PREVIOUS: old };
const onlyFresh = { TOLLGATE_MASTER_KEY: fresh, TOLLGATE_MASTER_KEY_PREVIOUS: "" };

describe("the master key of gateways on a server", () => {
  let databaseUrl: string;
  let upstream: Recorder;
  const running: AdminGateway[] = [];
  const start = async (keys: Record<string, string>): Promise<AdminGateway> => {
    const environment = { ...allowPrivate, TOLLGATE_ADMIN_TOKEN: "", ...keys };
    const gateway = await startAdminGateway({ databaseUrl, presenceEveryMs: 200, environment });
    running.push(gateway);
    return gateway;
  };
  const stop = async (gateway: AdminGateway): Promise<void> => {
    running.splice(running.indexOf(gateway), 1);
    await gateway.close();
  };
  const run = (words: string[], keys: Record<string, string>) =>
    tollgateHere(words, { DATABASE_URL: databaseUrl, TOLLGATE_DATA_DIR: "/nonexistent", ...keys });

  beforeAll(async () => {
    databaseUrl = await (await sharedPostgres()).createMigrated();
    upstream = await startRecorder(answering);
  });
  afterAll(async () => {
    await Promise.all(running.map((gateway) => gateway.close()));
    await upstream.close();
  });

  it("is replaced under running gateways; keys, tokens, secrets, providers and bodies go on working", async () => {
    const first = await start(onlyOld);
    const { key, workspaceId } = first;
    const internals = await first.internals();
    const token = await adminOf(first);
    const admin = async (gateway: AdminGateway, method: string, path: string, body?: unknown) => {
      const answer = await fetch(`${gateway.url}/admin/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return {
        status: answer.status,
        headers: answer.headers,
        text: "",
        json: await answer.json(),
      };
    };
    const [made] = await internals.database.query<{ id: string }>("select id from api_keys");
    must(await admin(first, "PATCH", `/workspaces/${workspaceId}`, { keep_bodies: "all" }));
    must(await admin(first, "POST", "/providers", providerBody("added", upstream.url)));
    const temporary = must(
      await admin(first, "POST", `/keys/${made!.id}/temporary`, { ttl_s: 600 }),
    ) as unknown as { key: string };
    const signing = must(await admin(first, "GET", `/workspaces/${workspaceId}/signing_secret`));
    const callOn = async (gateway: AdminGateway, bearer: string, model = "added/model") => {
      const answer = await chat(gateway, model, { authorization: `Bearer ${bearer}` });
      return { status: answer.status, id: answer.headers.get("x-request-id")! };
    };
    const kept = await callOn(first, key);
    expect(kept.status).toBe(200);
    const body = await eventually(async () => {
      const answer = await admin(first, "GET", `/requests/${kept.id}/body`);
      return answer.status === 200 ? answer.json : undefined;
    }, "a kept body");

    // The command names a gateway that would be left behind, and does nothing.
    const second = await start(both);
    const refused = await eventually(async () => {
      const result = await run(["rotate-master-key"], both);
      return result.code === 1 ? result : undefined;
    }, "a refusal");
    expect(refused.stderr).toMatch(/1 running gateway does not hold the new master key: gw_/);
    await stop(first);
    const third = await start(both);
    expect((await callOn(third, key)).status).toBe(200);
    const doctor = async (keys: Record<string, string>) => {
      const { stdout } = await run(["doctor", "--json"], { TOLLGATE_SANDBOX: "on", ...keys });
      const { findings } = JSON.parse(stdout) as { findings: Record<string, string>[] };
      return findings.find(({ check }) => check === "master key")!;
    };
    expect(await doctor(both)).toMatchObject({
      status: "warning",
      message: expect.stringMatching(/^\d+ values are still sealed under the key before it$/),
      fix: "run tollgate rotate-master-key",
    });

    const end = await run(["rotate-master-key", "--json"], both);
    expect(end).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(end.stdout).resealed).toMatchObject({
      "api_keys.ciphertext": 1,
      "providers.settings": 1,
      "provider_credentials.api_key": 1,
    });
    expect((await run(["rotate-master-key"], both)).stdout).toMatch(/^0 values sealed again; /);
    expect(await doctor(both)).toMatchObject({ status: "warning", fix: /leave .* out/ as never });
    const { from, to } = JSON.parse(end.stdout) as { from: string; to: string };
    const replaced = "/audit?action=master_key.replace";
    expect((await admin(third, "GET", replaced)).json).toMatchObject({
      data: [{ actor: { kind: "admin_token" }, before: { id: from }, after: { id: to } }],
    });

    const last = await start(onlyFresh);
    for (const gateway of [second, third, last]) {
      expect((await callOn(gateway, key)).status).toBe(200);
      expect(must(await admin(gateway, "POST", `/keys/${made!.id}/reveal`, {}))).toMatchObject({
        key,
      });
      expect(
        must(await admin(gateway, "GET", `/workspaces/${workspaceId}/signing_secret`)),
      ).toEqual(signing);
      expect((await admin(gateway, "GET", `/requests/${kept.id}/body`)).json).toEqual(body);
    }
    // A temporary value works only on gateways that hold the key that signed it.
    expect((await callOn(third, temporary.key)).status).toBe(200);
    expect((await callOn(last, temporary.key)).status).toBe(401);
    // A key made on one gateway works on all.
    const next = must(
      await admin(last, "POST", "/keys", { workspace_id: workspaceId, name: "next" }),
    ) as unknown as { id: string; key: string };
    expect((await callOn(second, next.key)).status).toBe(200);
    expect(must(await admin(second, "POST", `/keys/${next.id}/reveal`, {})).key).toBe(next.key);
    await expect(start(onlyOld)).rejects.toThrow(/The master key of this database was replaced/);
    // A gateway whose key was never in force is not told that its key was replaced.
    await expect(start({ TOLLGATE_MASTER_KEY: newMasterKey() })).rejects.toThrow(
      /The master key is not the one in force in this database, whose master key was replaced/,
    );
    expect(await doctor(onlyFresh)).toMatchObject({ status: "ok" });
    expect((await run(["verify"], onlyFresh)).stdout).toBe("no difference\n");
  });

  /** A token of an admin in the first workspace's organization, looked up by its HMAC. */
  async function adminOf(gateway: AdminGateway): Promise<string> {
    const internals = await gateway.internals();
    const [user] = await internals.database.query<{ id: string }>(
      "select id from users where role = 'admin' order by id limit 1",
    );
    const { token } = await createToken(internals, {
      userId: user!.id,
      name: "test",
      expiresAt: null,
    });
    return token;
  }
});

it("a replacement killed with kill -9 leaves values under both keys, and the next run completes it", async () => {
  let databaseUrl = await (await sharedPostgres()).createMigrated();
  const environment = (keys: Record<string, string>) => ({
    DATABASE_URL: databaseUrl,
    TOLLGATE_DATA_DIR: "/nonexistent",
    ...keys,
  });
  const gateway = await startAdminGateway({ databaseUrl, environment: onlyOld });
  const internals = await gateway.internals();
  // Two batches: the second waits for a lock while the process is killed.
  const rows = Array.from({ length: 900 }, () => newId("key"));
  await internals.database.query(
    `insert into api_keys (workspace_id, id, name, status, lookup, ciphertext, key_prefix, key_last4, model_allowlist,
       allow_request_override, created_at, updated_at)
     select $1, n.id, 'many', 'active', n.lookup, n.sealed, 'gw_live_', 'last', '[]', false, now(), now()
     from unnest($2::text[], $3::bytea[], $4::bytea[]) as n (id, lookup, sealed)`,
    [
      gateway.workspaceId,
      rows,
      rows.map((id) => internals.secrets.lookup(id)),
      rows.map((id) => internals.secrets.seal(id, `gw_live_${id}`)),
    ],
  );
  await gateway.close();
  const backup = join(temporaryDirectory(), "before.backup");
  expect((await tollgateHere(["backup", backup], environment(onlyOld))).code).toBe(0);
  const [holder, watcher] = await Promise.all(
    [1, 2].map(async () => {
      const client = new Client({ connectionString: databaseUrl });
      await client.connect();
      return client;
    }),
  );
  const numberOf = async (text: string): Promise<number> =>
    (await watcher!.query<{ n: number }>(`select count(*)::int as n from ${text}`)).rows[0]!.n;
  const count = () => numberOf("api_keys where substr(ciphertext, 1, 1) = '\\x02'");
  const waiting =
    "pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await holder!.query("begin");
  await holder!.query("select 1 from api_keys where id = $1 for update", [rows.toSorted().at(-1)]);
  const child = spawn(process.execPath, [main, "rotate-master-key"], {
    env: { ...process.env, ...environment(both) },
    stdio: "ignore",
  });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  await eventually(
    async () => ((await numberOf(waiting)) === 1 ? true : undefined),
    "the second batch",
  );
  child.kill("SIGKILL");
  await gone;
  // Otherwise the server continues with the statements of the killed process, and may complete them before it notices the lost
  // connection.
  await watcher!.query(`select pg_terminate_backend(pid, 10000) from ${waiting}`);
  await holder!.query("rollback");
  expect(await count()).toBe(500);
  const half = await tollgateHere(
    ["keys", "list", "--json"],
    environment({ TOLLGATE_MASTER_KEY: fresh }),
  );
  expect(half.stderr).not.toContain(fresh);
  const wrong = await tollgateHere(
    ["rotate-master-key"],
    environment({ TOLLGATE_MASTER_KEY: fresh, TOLLGATE_MASTER_KEY_PREVIOUS: newMasterKey() }),
  );
  expect(wrong).toMatchObject({ code: 2 });
  expect(wrong.stderr).toMatch(/is opened by none of the master keys that are given/);
  const end = await tollgateHere(["rotate-master-key", "--json"], environment(both));
  expect(end.code).toBe(0);
  expect(await count()).toBe(901);
  await Promise.all([holder!.end(), watcher!.end()]);
  const later = await startAdminGateway({ databaseUrl, environment: onlyFresh });
  const shown = await later.admin("POST", `/keys/${rows[0]}/reveal`, {});
  expect(shown.json).toMatchObject({ key: `gw_live_${rows[0]}` });
  await later.close();

  // An earlier backup opens only with the earlier key. Its key is replaced as in any other database.
  databaseUrl = await (await sharedPostgres()).createMigrated();
  const restore = (keys: Record<string, string>) =>
    tollgateHere(["restore", backup], environment(keys));
  expect((await restore(onlyFresh)).stderr).toMatch(/not the one this database was set up with/);
  expect(await restore(both)).toMatchObject({ code: 0 });
  const again = await tollgateHere(["rotate-master-key", "--json"], environment(both));
  expect(JSON.parse(again.stdout).resealed).toMatchObject({ "api_keys.ciphertext": 901 });
});
