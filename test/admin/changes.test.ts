/** Changes of objects: unchanged fields, lost updates, the audit log, and marks of values that are out of scope. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifyLedger } from "../../src/verification/index.ts";
import { startWorld, type World } from "./people.ts";

const statuses = (answers: readonly { status: number }[]): number[] =>
  answers.map(({ status }) => status).sort((one, other) => one - other);

describe("changes", () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world.gateway.close());

  const everything = {
    name: "full",
    spend_caps: { total: "10", daily: "1", weekly: "2", monthly: "3", hard: true },
    model_allowlist: ["sandbox/chat", "sandbox/messages"],
    routing: {
      mode: "custom",
      sort: "latency",
      supply_tiers: ["official", "community"],
      pinned_providers: [],
      preferred_providers: [],
    },
    allow_request_override: true,
    rate_limits: { requests_per_minute: 60, tokens_per_minute: 1000 },
    expires_at: "2099-01-01T00:00:00.000Z",
  };

  async function fullKey(): Promise<string> {
    const body = { ...everything, workspace_id: world.home.id };
    return world.must(await world.ann.call("POST", "/keys", body)).id;
  }

  it("T71 T78: a change of one field leaves all other fields unchanged, and the answer is the stored object", async () => {
    const id = await fullKey();
    const created = world.must(await world.ann.call("GET", `/keys/${id}`));
    expect(created).toMatchObject(everything);
    const patches: object[] = [
      { name: "renamed" },
      { spend_caps: { daily: null } },
      { spend_caps: { hard: false } },
      { model_allowlist: ["sandbox/chat"] },
      { routing: { sort: null } },
      { allow_request_override: false },
      { rate_limits: { requests_per_minute: null } },
      { expires_at: null },
      {},
    ];
    let expected = created;
    for (const patch of patches) {
      const answer = world.must(await world.ann.call("PATCH", `/keys/${id}`, patch));
      expected = merged(expected, patch);
      expect({ ...answer, updated_at: "" }).toEqual({ ...expected, updated_at: "" });
      const read = world.must(await world.ann.call("GET", `/keys/${id}`));
      expect(read).toEqual(answer);
    }
    // null for the whole object: none.
    const cleared = world.must(
      await world.ann.call("PATCH", `/keys/${id}`, {
        spend_caps: null,
        model_allowlist: null,
        routing: null,
        rate_limits: null,
      }),
    );
    expect(cleared).toMatchObject({
      spend_caps: { total: null, daily: null, weekly: null, monthly: null, hard: false },
      model_allowlist: [],
      routing: { mode: "follow", sort: null, supply_tiers: [] },
      rate_limits: null,
      name: "renamed",
    });
  });

  it("ROUTE-05: setting a routing field turns routing that follows into custom routing, at every layer", async () => {
    const key = world.must(
      await world.root.call("POST", "/keys", { workspace_id: world.home.id, name: "follows" }),
    ).id;
    for (const path of [
      `/keys/${key}`,
      `/workspaces/${world.home.id}`,
      `/organizations/${world.home.organizationId}`,
    ]) {
      const patch = async (routing: object | null) => world.root.call("PATCH", path, { routing });
      const stored = async () => world.must(await world.root.call("GET", path))["routing"];
      for (const routing of [
        { sort: "price" },
        { supply_tiers: ["official"] },
        { pinned_providers: ["sandbox-openai"] },
        { preferred_providers: ["sandbox-openai"] },
      ]) {
        world.must(await patch(null));
        const before = await stored();
        const refused = await patch({ ...routing, mode: "follow" });
        expect(refused.status).toBe(400);
        expect(refused.json).toMatchObject({
          error: { code: "invalid_value", param: `routing.${Object.keys(routing)[0]}` },
        });
        expect(await stored()).toEqual(before);
        world.must(await patch(routing));
        expect(await stored()).toMatchObject({ ...routing, mode: "custom" });
        // null clears one setting and keeps the others; the layer keeps its own routing.
        const [name] = Object.keys(routing) as [string];
        const other = name === "sort" ? { supply_tiers: ["official"] } : { sort: "price" };
        world.must(await patch({ [name]: null, ...other }));
        const cleared = { [name]: name === "sort" ? null : [] };
        expect(await stored()).toMatchObject({ mode: "custom", ...cleared, ...other });
      }
      world.must(await patch(null));
      // No setting is set, so nothing changes.
      world.must(await patch({ sort: null, pinned_providers: [], supply_tiers: null }));
      expect(await stored()).toMatchObject({ mode: "follow" });
    }
  });

  it("ROUTE-05: an object created with routing settings has custom routing", async () => {
    const routing = { pinned_providers: ["sandbox-openai"] };
    for (const [path, body] of [
      ["/keys", { workspace_id: world.home.id, name: "pinned" }],
      ["/workspaces", { name: "pinned" }],
      ["/organizations", { name: "pinned" }],
    ] as const) {
      const made = world.must(await world.root.call("POST", path, { ...body, routing }));
      expect(made["routing"]).toMatchObject({ ...routing, mode: "custom" });
      const contrary = { ...body, routing: { ...routing, mode: "follow" } };
      expect((await world.root.call("POST", path, contrary)).status).toBe(400);
    }
  });

  /** A record after a patch: objects are merged field by field, everything else is replaced. */
  function merged(record: Record<string, unknown>, patch: object): Record<string, unknown> {
    const next = { ...record };
    for (const [name, value] of Object.entries(patch)) {
      const old = record[name];
      const nested = isRecord(value) && isRecord(old);
      next[name] = nested ? { ...old, ...value } : value;
    }
    const { total, daily, weekly, monthly } = next["spend_caps"] as Record<string, string | null>;
    return { ...next, remaining: { total, daily, weekly, monthly } };
  }
  const isRecord = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null && !Array.isArray(value);

  it("a change with an outdated If-Match is refused with 412 and changes nothing", async () => {
    const id = await fullKey();
    const { gateway } = world;
    const read = await gateway.admin("GET", `/keys/${id}`);
    const tag = read.headers.get("etag")!;
    expect(tag).toMatch(/^"[\w-]{27}"$/);
    const patch = (name: string, ifMatch: string) =>
      gateway.admin("PATCH", `/keys/${id}`, { name }, { "if-match": ifMatch });
    const first = await patch("first", tag);
    expect(first.status).toBe(200);
    const second = await patch("second", tag);
    expect([second.status, second.json.error.code]).toEqual([412, "precondition_failed"]);
    expect((await gateway.admin("GET", `/keys/${id}`)).json.name).toBe("first");
    expect((await patch("third", first.headers.get("etag")!)).json.name).toBe("third");
    expect((await patch("fourth", "*")).json.name).toBe("fourth");
    // If many patches use the same tag at once, one wins.
    const now = (await gateway.admin("GET", `/keys/${id}`)).headers.get("etag")!;
    const race = await Promise.all(["a", "b", "c", "d"].map((name) => patch(name, now)));
    expect(statuses(race)).toEqual([200, 412, 412, 412]);
    // Use of the key does not change its tag.
    const disable = await gateway.admin("POST", `/keys/${id}/disable`, {}, { "if-match": now });
    expect(disable.status).toBe(412);
  });

  it("the audit log has each change once, with actor, action, old and new values, and without secrets", async () => {
    const id = await fullKey();
    const key = world.must(await world.ann.call("POST", `/keys/${id}/reveal`)).key;
    world.must(await world.ann.call("PATCH", `/keys/${id}`, { spend_caps: { daily: "0.5" } }));
    await world.mem.call("PATCH", `/keys/${id}`, { name: "not mine" });
    await world.ann.call("PATCH", `/keys/${id}`, { name: "" });
    world.must(await world.ann.call("POST", `/keys/${id}/revoke`));
    const log = world.must(await world.ann.call("GET", `/audit?subject_id=${id}`));
    expect(log.data.map((entry: { action: string }) => entry.action)).toEqual([
      "key.revoke",
      "key.change",
      "key.reveal",
      "key.create",
    ]);
    expect(log.data[1]).toMatchObject({
      actor: { kind: "token", id: world.ann.userId, name: "ann@example.com" },
      workspace_id: world.home.id,
      subject: { type: "api_key", id },
      before: { spend_caps: { daily: "1" } },
      after: { spend_caps: { daily: "0.5" } },
    });
    expect(Object.keys(log.data[1].after)).toEqual(["spend_caps"]);
    expect(JSON.stringify(log)).not.toContain(key);
    const rows = await world.gateway.database.query<{ text: string }>(
      "select a::text as text from audit_entries a",
    );
    const secret = world.must(
      await world.ann.call("POST", `/workspaces/${world.home.id}/signing_secret/rotate`),
    ).secret;
    for (const text of [key, secret, "correct horse battery"]) {
      expect(JSON.stringify(rows)).not.toContain(text);
    }
  });

  it("the audit log can be paged and filtered, and shows only the reader's own workspaces", async () => {
    await fullKey();
    await fullKey();
    const seen: string[] = [];
    let cursor = "";
    do {
      const page = world.must(
        await world.ann.call(
          "GET",
          `/audit?action=key.create&limit=1${cursor && `&cursor=${cursor}`}`,
        ),
      );
      seen.push(...page.data.map((entry: { id: string }) => entry.id));
      expect(page.has_more).toBe(page.next_cursor !== null);
      cursor = page.next_cursor ?? "";
    } while (cursor !== "");
    expect(seen.length).toBeGreaterThanOrEqual(2);
    expect(seen).toEqual(seen.toSorted().toReversed());
    const [oldest] = world.must(await world.ann.call("GET", `/audit?to=2000-01-01T00:00:00Z`)).data;
    expect(oldest).toBeUndefined();
    const foreign = world.must(await world.bob.call("GET", `/audit?workspace_id=${world.home.id}`));
    expect(foreign.data).toEqual([]);
    expect((await world.ann.call("GET", "/audit?actions=x")).json.error.code).toBe(
      "unknown_parameter",
    );
  });

  it("ALLOW-04: a model that an upper layer excludes stays in the key's list, marked, and works again once allowed", async () => {
    const { key, id } = world.must(
      await world.mem.call("POST", "/keys", {
        workspace_id: world.home.id,
        name: "listed",
        model_allowlist: ["sandbox/chat", "sandbox/messages"],
      }),
    );
    const path = `/workspaces/${world.home.id}/credits`;
    world.must(await world.gateway.admin("POST", path, { amount: "1" }));
    const callable = async () => {
      const answer = await world.gateway.post(
        "/v1/chat/completions",
        { model: "sandbox/messages", messages: [{ role: "user", content: "hi" }] },
        { authorization: `Bearer ${key}` },
      );
      return answer.status;
    };
    const marks = async () => {
      const { model_allowlist, out_of_scope_models } = world.must(
        await world.mem.call("GET", `/keys/${id}`),
      );
      expect(model_allowlist).toEqual(["sandbox/chat", "sandbox/messages"]);
      return out_of_scope_models;
    };
    const narrow = (where: string, list: string[]) =>
      world.gateway.admin("PATCH", where, { model_allowlist: list });
    const organization = `/organizations/${world.home.organizationId}`;
    expect([await marks(), await callable()]).toEqual([[], 200]);
    world.must(await narrow(organization, ["sandbox/chat"]));
    expect([await marks(), await callable()]).toEqual([["sandbox/messages"], 403]);
    world.must(await narrow(organization, []));
    expect([await marks(), await callable()]).toEqual([[], 200]);
    world.must(await narrow(`/workspaces/${world.home.id}`, ["sandbox/messages"]));
    expect([await marks(), await callable()]).toEqual([["sandbox/chat"], 200]);
    world.must(await narrow(`/workspaces/${world.home.id}`, []));
    const unknown = await world.mem.call("PATCH", `/keys/${id}`, {
      model_allowlist: ["no/such-model", "sandbox/chat"],
    });
    expect(unknown.json.out_of_scope_models).toEqual(["no/such-model"]);
    expect(unknown.json.unknown_models).toEqual([
      { name: "no/such-model", did_you_mean: null, is_alias: false },
    ]);
    const mistyped = await narrow(`/workspaces/${world.home.id}`, ["sandbox/chta"]);
    expect(mistyped.json.unknown_models).toEqual([
      { name: "sandbox/chta", did_you_mean: "sandbox/chat", is_alias: false },
    ]);
    world.must(await narrow(`/workspaces/${world.home.id}`, []));
  });

  it("VIS-01 VIS-02 VIS-03: admins list every key of the workspace, members only their own; only admins see legacy keys", async () => {
    await world.gateway.database.query(
      `insert into api_keys (workspace_id, id, name, lookup, key_prefix, key_last4)
       values ($1, 'key_legacy', 'old', 'x', 'gw_live_old', 'abcd')`,
      [world.home.id],
    );
    const mine = world.must(
      await world.mem.call("POST", "/keys", { workspace_id: world.home.id, name: "mine" }),
    ).id;
    const theirs = await fullKey();
    const listed = async (person: World["ann"], filter = "") => {
      const { data } = world.must(await person.call("GET", `/keys?limit=100${filter}`));
      return data.map(({ id }: { id: string }) => id) as string[];
    };
    expect(await listed(world.ann)).toEqual(expect.arrayContaining([mine, theirs, "key_legacy"]));
    const members = await listed(world.mem);
    expect(members).toContain(mine);
    expect(members).not.toContain(theirs);
    expect(members).not.toContain("key_legacy");
    expect(await listed(world.mem, `&created_by=${world.ann.userId}`)).toEqual([]);
    expect(await listed(world.bob)).toEqual([]);
    expect(await listed(world.bob, `&workspace_id=${world.home.id}`)).toEqual([]);
    expect((await world.mem.call("GET", "/keys/key_legacy")).status).toBe(404);
    const legacy = world.must(await world.ann.call("GET", "/keys/key_legacy"));
    expect(legacy).toMatchObject({ created_by: null, revealable: false });
    const shown = await world.ann.call("POST", "/keys/key_legacy/reveal");
    expect([shown.status, shown.json.error.code]).toEqual([409, "conflict"]);
  });

  it("credit with the same Idempotency-Key is added once; another amount under that key is refused", async () => {
    const path = `/workspaces/${world.away.id}/credits`;
    const credit = (amount: string, key: string) =>
      world.gateway.admin("POST", path, { amount, note: "top-up" }, { "idempotency-key": key });
    const answers = await Promise.all(Array.from({ length: 5 }, () => credit("25.00", "one")));
    expect(statuses(answers)).toEqual([200, 200, 200, 200, 201]);
    expect(new Set(answers.map(({ json }) => json.id)).size).toBe(1);
    const replay = answers.find(({ status }) => status === 200)!;
    expect(replay.headers.get("idempotent-replayed")).toBe("true");
    expect(replay.json).toMatchObject({ kind: "credit", amount: "25", balance_after: "25" });
    const other = (await credit("26", "one")).json.error;
    expect(other.code).toBe("idempotency_key_reuse");
    expect(other.message).toContain(`another amount before: 25, at ${replay.json.created_at}.`);
    const { json } = await world.gateway.admin("GET", `/workspaces/${world.away.id}/balance`);
    expect(json).toMatchObject({ credits: "25", charged: "0", held: "0", available: "25" });
    expect((await credit("0", "two")).json.error.code).toBe("invalid_value");
    const ledger = (await world.gateway.admin("GET", `/workspaces/${world.away.id}/ledger`)).json;
    expect(ledger.data).toHaveLength(1);
    expect(ledger.data[0]).toMatchObject({ id: replay.json.id, note: "top-up", key_id: null });
    // The answer is the original entry, not the new text.
    const reworded = { amount: "25.00", note: "another word" };
    const again = await world.gateway.admin("POST", path, reworded, { "idempotency-key": "one" });
    expect({ status: again.status, json: again.json }).toEqual({
      status: 200,
      json: ledger.data[0],
    });
  });

  it("a negative credit takes back at most what was credited in all, and leaves nothing for calls", async () => {
    const { id } = world.must(
      await world.gateway.admin("POST", "/workspaces", { name: "returned" }),
    );
    const credit = (amount: string, key = amount) =>
      world.gateway.admin(
        "POST",
        `/workspaces/${id}/credits`,
        { amount },
        { "idempotency-key": key },
      );
    world.must(await credit("25.00"));
    const body = { workspace_id: id, name: "spender" };
    const { key } = world.must(await world.gateway.admin("POST", "/keys", body));
    const chat = { model: "sandbox/chat", messages: [{ role: "user", content: "hi" }] };
    const spend = async () =>
      (await world.gateway.post("/v1/chat/completions", chat, { authorization: `Bearer ${key}` }))
        .status;
    expect(await spend()).toBe(200);
    expect((await credit("-25.000000001")).json.error).toMatchObject({
      code: "conflict",
      message: "$25.000000001 cannot be taken back: the workspace was credited $25 in all.",
    });
    // A retry returns the same entry. Earlier spending makes the balance negative.
    const answers = [await credit("-25"), await credit("-25")];
    expect(statuses(answers)).toEqual([200, 201]);
    expect(answers[0]!.json).toMatchObject({ kind: "credit", amount: "-25" });
    const balance = async () =>
      world.must(await world.gateway.admin("GET", `/workspaces/${id}/balance`));
    await expect.poll(async () => (await balance()).held).toBe("0");
    const { charged, ...rest } = await balance();
    expect(rest).toMatchObject({ credits: "0", available: `-${charged}` });
    expect(await spend()).toBe(402);
    for (const amount of ["10000000.01", "-10000000.01", "-0"])
      expect((await credit(amount)).json.error).toMatchObject({
        code: "invalid_value",
        param: "amount",
      });
    world.must(await credit("1"));
    expect(await spend()).toBe(200);
    expect(await verifyLedger(world.gateway.database)).toEqual([]);
  });

  it("the alert address can be set and cleared, and must be HTTPS", async () => {
    const path = `/workspaces/${world.home.id}`;
    const set = async (address: string | null) =>
      world.ann.call("PATCH", path, { alert_webhook_url: address });
    const address = "https://example.com/alerts";
    expect(world.must(await set(address))).toMatchObject({ alert_webhook_url: address });
    expect((await set("http://example.com/alerts")).status).toBe(400);
    expect(world.must(await world.ann.call("PATCH", path, { name: "Home" }))).toMatchObject({
      alert_webhook_url: address,
    });
    expect(world.must(await set(null))).toMatchObject({ alert_webhook_url: null });
  });
});
