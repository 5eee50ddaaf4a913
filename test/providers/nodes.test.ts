/** A change of a provider (added, changed, paused, removed) on one gateway is in force on every other when the answer arrives. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startAdminGateway, type AdminGateway } from "../admin/support.ts";
import { tollgateHere } from "../support/command.ts";
import { eventually } from "../support/patience.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { startRecorder, type Recorder } from "../support/recorder.ts";
import { allowPrivate, answering, chat, modelRow, must, providerBody } from "./support.ts";

describe("providers on two gateways", () => {
  let nodes: [AdminGateway, AdminGateway];
  let upstream: Recorder;
  let databaseUrl: string;
  const masterKey = randomBytes(32).toString("base64");
  const start = (key = masterKey) =>
    startAdminGateway({
      databaseUrl,
      environment: { ...allowPrivate, TOLLGATE_MASTER_KEY: key },
    });

  beforeAll(async () => {
    databaseUrl = await (await sharedPostgres()).createMigrated();
    upstream = await startRecorder(answering);
    nodes = [await start(), await start()];
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await upstream.close();
  });

  const callOn = async (node: AdminGateway, model: string): Promise<number> => {
    const authorization = `Bearer ${nodes[0].key}`;
    return (await chat(node, model, { authorization })).status;
  };
  /** The next call on each gateway, first on the one that did not make the change. */
  const next = async (model: string) => [
    await callOn(nodes[1], model),
    await callOn(nodes[0], model),
  ];
  const keys = () => upstream.requests.slice(-2).map(({ headers }) => headers.authorization);

  it("T73: apply each change to the next call on both, and on a gateway that starts later", async () => {
    const [one] = nodes;
    const path = "/providers/both";
    must(await one.admin("POST", "/providers", providerBody("both", upstream.url)));
    expect(await next("both/model")).toEqual([200, 200]);
    must(await one.admin("PATCH", path, { api_key: "sk-new" }));
    expect(await next("both/model")).toEqual([200, 200]);
    expect(keys()).toEqual(["Bearer sk-new", "Bearer sk-new"]);
    must(await one.admin("POST", `${path}/pause`, {}));
    expect(await next("both/model")).toEqual([503, 503]);
    must(await one.admin("POST", `${path}/resume`, {}));
    expect(await next("both/model")).toEqual([200, 200]);
    const later = await start();
    try {
      expect(await callOn(later, "both/model")).toBe(200);
      // The gateways' counts of their calls are added up a moment later: seven were answered.
      await eventually(
        async () => must(await later.admin("GET", path)).calls_last_hour === 7,
        "the calls of all gateways",
      );
      const mine = must(await one.admin("GET", path));
      expect(mine.errors_last_hour).toEqual([]);
      expect(must(await later.admin("GET", path))).toMatchObject(mine);
    } finally {
      await later.close();
    }
    must(await one.admin("DELETE", path));
    expect(await next("both/model")).toEqual([404, 404]);
  });

  it("agree on the last of many concurrent changes", async () => {
    const body = providerBody("raced", upstream.url);
    must(await nodes[0].admin("POST", "/providers", body));
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_none, index) =>
        nodes[index % 2]!.admin("PATCH", "/providers/raced", {
          models: [modelRow(`raced/model-${index}`)],
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const [left, right] = await Promise.all(
      nodes.map(async (node) => must(await node.admin("GET", "/providers/raced"))),
    );
    expect(left).toEqual(right);
    expect(left.version).toBe(17);
    expect(await next(left.models[0])).toEqual([200, 200]);
    const raced = await Promise.all(
      nodes.map((node) => node.admin("POST", "/providers", providerBody("twice", upstream.url))),
    );
    expect(new Set(raced.map(({ status }) => status))).toEqual(new Set([201, 409]));
  });

  it("are listed by `tollgate models` without a gateway if it has the master key; without it a note says so", async () => {
    must(await nodes[0].admin("POST", "/providers", providerBody("shown", upstream.url)));
    const directory = mkdtempSync(join(tmpdir(), "tollgate-models-"));
    const models = (key: string) =>
      tollgateHere(["models", "shown/"], {
        ...allowPrivate,
        DATABASE_URL: databaseUrl,
        TOLLGATE_DATA_DIR: directory,
        TOLLGATE_MASTER_KEY: key,
        TOLLGATE_ADMIN_TOKEN: "",
        PORT: "1",
      });
    try {
      const known = await models(masterKey);
      expect(known.stdout).toMatch(/shown\/model +shown +text +1 \/ 2/);
      expect(known.stderr).not.toContain("not shown");
      const unknown = await models("");
      expect(unknown.stdout).not.toContain("shown/model");
      expect(unknown.stderr).toContain("Set TOLLGATE_MASTER_KEY, or ask a gateway that runs");
      // Listing models creates no master key.
      expect(readdirSync(directory)).toEqual([]);
    } finally {
      rmSync(directory, { recursive: true });
      must(await nodes[0].admin("DELETE", "/providers/shown"));
    }
  });

  it("are encrypted in the database, and cannot be opened with another master key or in another row", async () => {
    const { database } = nodes[0];
    must(
      await nodes[0].admin("POST", "/providers", {
        ...providerBody("sealed", upstream.url),
        headers: { "x-team": "a-word-that-nobody-reads" },
      }),
    );
    const rows = await database.query<{ text: string }>(
      `select (select string_agg(p::text, '') from providers p)
        || (select string_agg(c::text, '') from provider_credentials c)
        || (select string_agg(encode(p.settings, 'escape'), '') from providers p)
        || (select string_agg(a::text, '') from audit_entries a) as text`,
    );
    expect(rows[0]!.text).toContain("provider.create");
    expect(rows[0]!.text).not.toMatch(/sk-live|sk-new/);
    const stored = await database.query<{ text: string }>(
      "select p::text as text from providers p",
    );
    expect(JSON.stringify(stored)).not.toContain("a-word-that-nobody-reads");
    await expect(start(randomBytes(32).toString("base64"))).rejects.toThrow(/master key/);
    // A row that was moved to another provider cannot be decrypted there. The other providers still work.
    await database.query(
      "update providers set settings = (select settings from providers where id = 'raced'), version = version + 1 where id = 'sealed'",
    );
    must(await nodes[1].admin("POST", "/providers/raced/pause", {}));
    expect(await next("sealed/model")).toEqual([404, 404]);
    must(await nodes[1].admin("POST", "/providers/raced/resume", {}));
    const raced = must(await nodes[0].admin("GET", "/providers/raced"));
    expect(await next(raced.models[0])).toEqual([200, 200]);
  });
});
