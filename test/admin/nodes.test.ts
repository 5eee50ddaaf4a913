/** Two gateways on one database: a change on one applies to the next request on the other, and after a restart. */
import { randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sharedPostgres } from "../support/postgres.ts";
import { startAdminGateway, type AdminGateway, type Answer } from "./support.ts";

const chat = { model: "sandbox/chat", messages: [{ role: "user", content: "hi" }], max_tokens: 5 };

describe("two nodes", () => {
  let one: AdminGateway;
  let other: AdminGateway;
  let databaseUrl: string;
  let start: () => Promise<AdminGateway>;

  beforeAll(async () => {
    databaseUrl = await (await sharedPostgres()).createMigrated();
    const environment = { TOLLGATE_MASTER_KEY: randomBytes(32).toString("base64") };
    start = () => startAdminGateway({ databaseUrl, environment });
    one = await start();
    other = await start();
  });
  afterAll(() => Promise.all([one.close(), other.close()]));

  const must = ({ status, text, json }: Answer) => {
    if (status >= 300) throw new Error(`${status} ${text}`);
    return json;
  };
  const callWith = async (node: AdminGateway, key: string): Promise<unknown> => {
    const answer = await node.post("/v1/chat/completions", chat, {
      authorization: `Bearer ${key}`,
    });
    const body = (await answer.json()) as { error?: { code: string } };
    return body.error?.code ?? answer.status;
  };
  /** The next call on each node; first on the node that made the change. */
  const next = async (key: string) => [await callWith(one, key), await callWith(other, key)];

  it("T73 KEY-11: changes of status, caps and allowlists in all layers on one node apply to the next call on both", async () => {
    const made = must(
      await one.admin("POST", "/keys", { workspace_id: one.workspaceId, name: "both" }),
    );
    const { id, key } = made;
    const workspace = must(await one.admin("GET", `/workspaces/${one.workspaceId}`));
    const change = async (method: string, path: string, body: object = {}) => {
      // Both have just used the key, so both have it in their cache.
      await next(key);
      must(await one.admin(method, path, body));
      return next(key);
    };
    expect(await next(key)).toEqual([200, 200]);
    const twice = (outcome: unknown) => [outcome, outcome];
    expect(await change("POST", `/keys/${id}/disable`)).toEqual(twice("api_key_disabled"));
    expect(await change("POST", `/keys/${id}/enable`)).toEqual(twice(200));
    const zero = { spend_caps: { total: "0" } };
    expect(await change("PATCH", `/keys/${id}`, zero)).toEqual(
      twice("key_total_spend_cap_reached"),
    );
    expect(await change("PATCH", `/keys/${id}`, { spend_caps: null })).toEqual(twice(200));
    for (const path of [
      `/keys/${id}`,
      `/workspaces/${one.workspaceId}`,
      `/organizations/${workspace.organization_id}`,
    ]) {
      const narrow = { model_allowlist: ["sandbox/messages"] };
      expect(await change("PATCH", path, narrow)).toEqual(twice("model_not_allowed"));
      expect(await change("PATCH", path, { model_allowlist: [] })).toEqual(twice(200));
    }
    const rotated = await one.admin("POST", `/keys/${id}/rotate`);
    expect(await next(key)).toEqual(twice("api_key_expired"));
    const { key: second } = must(rotated);
    expect(await next(second)).toEqual(twice(200));
    must(await other.admin("POST", `/keys/${id}/revoke`));
    expect(await next(second)).toEqual(twice("api_key_revoked"));
    const enabled = await one.admin("POST", `/keys/${id}/enable`);
    expect([enabled.status, enabled.json.error.code]).toEqual([409, "conflict"]);
  });

  it("T78: a change survives a restart, and a node that starts later has it", async () => {
    const path = `/workspaces/${one.workspaceId}`;
    const patch = {
      name: "Renamed",
      spend_caps: { monthly: "7.5" },
      routing: { mode: "custom", sort: "price" },
    };
    const saved = must(await one.admin("PATCH", path, patch));
    expect(saved).toMatchObject(patch);
    await one.close();
    one = await start();
    expect(must(await one.admin("GET", path))).toEqual(saved);
    expect(must(await other.admin("GET", path))).toEqual(saved);
  });

  it.each(["listens", "lost its listening connection a moment ago"])(
    "a node that never confirms a change delays it by about a second, where the changing node %s",
    async (asked) => {
      const deaf = new Client({
        connectionString: databaseUrl,
        application_name: "tollgate signals",
      });
      await deaf.connect();
      try {
        if (asked !== "listens")
          await one.database.query(
            `select pg_terminate_backend(pid) from pg_stat_activity
             where application_name = $1 and datname = current_database() and pid <> $2`,
            ["tollgate signals", (deaf as unknown as { processID: number }).processID],
          );
        const started = performance.now();
        must(await one.admin("PATCH", `/workspaces/${one.workspaceId}`, { name: `It ${asked}` }));
        const tookMs = performance.now() - started;
        expect(tookMs).toBeGreaterThan(900);
        expect(tookMs).toBeLessThan(30_000);
      } finally {
        await deaf.end();
      }
    },
  );

  it("nodes that share a master key generate the same admin token, and store it only in its file", async () => {
    const empty = await (await sharedPostgres()).createDatabase();
    const environment = {
      TOLLGATE_MASTER_KEY: randomBytes(32).toString("base64"),
      TOLLGATE_ADMIN_TOKEN: "",
    };
    const nodes = [
      await startAdminGateway({ databaseUrl: empty, environment }),
      await startAdminGateway({ databaseUrl: empty, environment }),
    ];
    const files = nodes.map(({ directory }) => `${directory}/data/admin-token`);
    const [token, same] = files.map((file) => readFileSync(file, "utf8").trim());
    expect(token).toMatch(/^gw_admin_[\w-]{43}$/);
    expect(same).toBe(token);
    expect(statSync(files[0]!).mode & 0o777).toBe(0o600);
    for (const node of nodes) {
      const answer = await fetch(`${node.url}/admin/v1/me`, {
        headers: { authorization: `Bearer ${token}` },
      });
      expect(await answer.json()).toMatchObject({ kind: "admin_token", organization_admin: true });
    }
    await Promise.all(nodes.map((node) => node.close()));
  });
});
