/**
 * Keys that admins make for members, settings of admins on members' keys, and temporary values of keys. docs/management.md
 * "Rights".
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/patience.ts";
import { newMember, startWorld, type Person, type World } from "./people.ts";
import { call, type Answer } from "./support.ts";

const chat = { model: "sandbox/chat", messages: [{ role: "user", content: "hi" }], max_tokens: 5 };

describe("keys of members", () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    const path = `/workspaces/${world.home.id}/credits`;
    world.must(await world.gateway.admin("POST", path, { amount: "10" }));
  });
  afterAll(() => world.gateway.close());

  const codeOf = (answer: Answer) => [answer.status, answer.json.error?.code];
  const refused = [403, "insufficient_permissions"];
  const newKey = async (person: Person, more: object = {}) => {
    const body = { workspace_id: world.home.id, name: "k", ...more };
    return world.must(await person.call("POST", "/keys", body)) as { id: string; key: string };
  };
  const callWith = async (key: string): Promise<unknown> => {
    const authorization = `Bearer ${key}`;
    const answer = await world.gateway.post("/v1/chat/completions", chat, { authorization });
    const body = (await answer.json()) as { error?: { code: string } };
    return body.error?.code ?? answer.status;
  };

  it("a removal can be undone once, within ten minutes, with role, caps and the keys that it disabled", async () => {
    const person = await newMember(world.gateway, world.home.id, {
      email: "slip@example.com",
      role: "member",
    });
    const path = `/workspaces/${world.home.id}/members/${person.userId}`;
    const [kept, off] = [await newKey(person), await newKey(person)];
    const changes = { spend_caps: { daily: "3" }, rate_limits: { concurrency: 4 } };
    const before = world.must(await world.ann.call("PATCH", path, changes));
    world.must(await person.call("POST", `/keys/${off.id}/disable`, {}));
    const restore = (by: Person) => by.call("POST", `${path}/restore`, {});
    const missing = await restore(world.ann);
    expect(codeOf(missing)).toEqual([404, "not_found"]);
    const removed = world.must(await world.ann.call("DELETE", path));
    expect(removed.disabled_keys).toEqual([kept.id]);
    // Not for members, strangers, or the removed person.
    expect(codeOf(await restore(world.mem))).toEqual(refused);
    expect(codeOf(await restore(world.bob))).toEqual([404, "not_found"]);
    expect(codeOf(await restore(person))).toEqual([404, "not_found"]);
    expect(await callWith(kept.key)).not.toBe(200);
    const restored = await restore(world.ann);
    expect([restored.status, restored.json.enabled_keys]).toEqual([201, [kept.id]]);
    const after = world.must(await world.ann.call("GET", path));
    const { role, spend_caps, rate_limits, created_at } = before;
    expect(after).toMatchObject({ role, spend_caps, rate_limits, created_at, status: "active" });
    expect(await callWith(kept.key)).toBe(200);
    expect(await callWith(off.key)).not.toBe(200);
    expect(codeOf(await restore(world.ann))).toEqual([404, "not_found"]);
    // A key that is revoked meanwhile stays revoked, and after ten minutes no restore is possible.
    world.must(await world.ann.call("DELETE", path));
    world.must(await world.ann.call("POST", `/keys/${kept.id}/revoke`, {}));
    const age = "update removed_members set removed_at = removed_at - interval '10 minutes'";
    await world.gateway.database.query(age);
    expect(codeOf(await restore(world.ann))).toEqual([404, "not_found"]);
    await world.gateway.database.query(
      "update removed_members set removed_at = removed_at + interval '10 minutes'",
    );
    expect(world.must(await restore(world.ann)).enabled_keys).toEqual([]);
  });

  it("T73 the limits of a member bind the keys that the person had before, from the accepted invitation on", async () => {
    const key = await newKey(world.root);
    const members = `/workspaces/${world.home.id}/members`;
    const invited = { email: world.root.email, role: "member" };
    const { invitation, user_id } = world.must(await world.ann.call("POST", members, invited));
    const limits = { rate_limits: { requests_per_minute: 1 } };
    world.must(await world.ann.call("PATCH", `${members}/${user_id}`, limits));
    // From here on the gateway knows the caller.
    expect(await callWith(key.key)).toBe(200);
    const accepted = await call(world.gateway.url, "POST", "/auth/invitations/accept", {
      body: { token: invitation.url.split("#").at(-1) },
      headers: { cookie: world.root.cookie },
    });
    expect(accepted.json).toMatchObject({ user_id: world.root.userId, status: "active" });
    expect([await callWith(key.key), await callWith(key.key)]).toEqual([
      200,
      "rate_limit_exceeded",
    ]);
    world.must(await world.ann.call("DELETE", `${members}/${world.root.userId}`));
  });

  it("KEY-07 T78: a member or workspace admin can send back a key exactly as they read it; nothing is loosened by that", async () => {
    const settings = {
      spend_caps: { total: "9", daily: "3", hard: true },
      model_allowlist: ["sandbox/chat", "gone/model"],
      routing: { sort: "price", supply_tiers: ["community"], pinned_providers: ["sandbox-openai"] },
      allow_request_override: true,
      rate_limits: { requests_per_minute: 5, concurrency: 2 },
      expires_at: "2099-01-01T00:00:00.000Z",
      response_cache: { ttl_seconds: 60, charge_percent: 10 },
    };
    const body = {
      workspace_id: world.home.id,
      name: "echo",
      user_id: world.mem.userId,
      ...settings,
    };
    const key = world.must(await world.ann.call("POST", "/keys", body));
    const names = ["name", ...Object.keys(settings)];
    const echoOf = (from: Record<string, unknown>, fields: readonly string[]) =>
      Object.fromEntries(fields.map((name) => [name, from[name]]));
    const read = world.must(await world.mem.call("GET", `/keys/${key.id}`));
    const sent = await world.mem.call("PATCH", `/keys/${key.id}`, echoOf(read, names));
    expect(sent.json).toMatchObject(echoOf(read, names));
    const dearer = { response_cache: { ttl_seconds: 60, charge_percent: 0 } };
    expect(codeOf(await world.mem.call("PATCH", `/keys/${key.id}`, dearer))).toEqual(refused);
    const path = `/workspaces/${world.home.id}`;
    const place = world.must(await world.ann.call("GET", path));
    const { object: _object, id: _id, organization_id: _of, ...rest } = place;
    const derived = [
      "spend",
      "remaining",
      "resets_at",
      "out_of_scope_models",
      "unknown_models",
      "created_at",
      "updated_at",
    ];
    const fields = Object.keys(rest).filter((name) => !derived.includes(name));
    const same = await world.ann.call("PATCH", path, echoOf(place, fields));
    expect(same.json).toMatchObject(echoOf(place, fields));
  });

  it("a member who creates a key with a response cache is refused with 403, and no key is created", async () => {
    const { data: before } = world.must(await world.mem.call("GET", "/keys?limit=100"));
    const body = {
      workspace_id: world.home.id,
      name: "cached",
      response_cache: { ttl_seconds: 60, charge_percent: 0 },
    };
    expect(codeOf(await world.mem.call("POST", "/keys", body))).toEqual(refused);
    const { data: after } = world.must(await world.mem.call("GET", "/keys?limit=100"));
    expect(after).toEqual(before);
  });

  it("VIS-02: a member who left a workspace no longer sees or changes the keys that they made there", async () => {
    const person = await newMember(world.gateway, world.home.id, {
      email: "left@example.com",
      role: "member",
    });
    const { id } = await newKey(person);
    world.must(await person.call("GET", `/keys/${id}`));
    world.must(
      await world.ann.call("DELETE", `/workspaces/${world.home.id}/members/${person.userId}`),
    );
    const missing = [404, "not_found"];
    expect(codeOf(await person.call("GET", `/keys/${id}`))).toEqual(missing);
    expect(codeOf(await person.call("PATCH", `/keys/${id}`, { name: "x" }))).toEqual(missing);
    for (const move of ["enable", "reveal", "revoke"])
      expect(codeOf(await person.call("POST", `/keys/${id}/${move}`, {}))).toEqual(missing);
  });

  it.each(["POST /keys", "POST /keys/{id}/enable"])(
    "T70: a member gets no working key while they are being removed: %s",
    async (asked) => {
      const { database } = world.gateway;
      const email = `${asked.replaceAll(/\W/g, "")}@example.com`;
      const person = await newMember(world.gateway, world.home.id, { email, role: "member" });
      const { id } = await newKey(person);
      world.must(await person.call("POST", `/keys/${id}/disable`, {}));
      const path = asked.replace("POST ", "").replace("{id}", id);
      const body = path === "/keys" ? { workspace_id: world.home.id, name: "late" } : {};
      const isWaiting = async () => {
        const rows = await database.query(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
             and query like 'select 1 from members%for key share'`,
        );
        return rows.length > 0;
      };
      let answer: Promise<Answer> | undefined;
      await database.transaction(async (tx) => {
        await tx.query("delete from members where user_id = $1", [person.userId]);
        answer = person.call("POST", path, body);
        await Promise.race([answer, eventually(isWaiting, "the wait for the removal")]);
      });
      expect(codeOf(await answer!)).toEqual([404, "not_found"]);
      const { data } = world.must(await world.ann.call("GET", `/keys?created_by=${person.userId}`));
      expect(data).toMatchObject([{ id, status: "disabled" }]);
    },
  );

  it("each of several removed members can be restored", async () => {
    const paths: string[] = [];
    for (const name of ["first", "second"]) {
      const email = `${name}-slip@example.com`;
      const { userId } = await newMember(world.gateway, world.home.id, { email, role: "member" });
      paths.push(`/workspaces/${world.home.id}/members/${userId}`);
    }
    for (const path of paths) world.must(await world.ann.call("DELETE", path));
    for (const path of paths)
      expect((await world.ann.call("POST", `${path}/restore`, {})).status).toBe(201);
  });

  it("a key that an admin makes for a member belongs to the member: in lists, caps, spend and usage", async () => {
    const { id, key } = await newKey(world.ann, { user_id: world.mel.userId });
    const record = world.must(await world.mel.call("GET", `/keys/${id}`));
    expect(record.created_by).toBe(world.mel.userId);
    const listed = async (person: Person) =>
      world
        .must(await person.call("GET", `/keys?created_by=${world.mel.userId}`))
        .data.map((one: { id: string }) => one.id);
    expect(await listed(world.mel)).toContain(id);
    expect(await listed(world.mem)).not.toContain(id);
    expect(await callWith(key)).toBe(200);
    const member = `/workspaces/${world.home.id}/members/${world.mel.userId}`;
    const { spend } = world.must(await world.ann.call("GET", member));
    expect(Number(spend.total)).toBeGreaterThan(0);
    for (const person of [world.ann, world.mel]) {
      const { data } = world.must(await person.call("GET", "/usage?group_by=member"));
      const [row] = data.filter((one: { member_id: string }) => one.member_id === world.mel.userId);
      expect(row).toMatchObject({
        member_email: "mel@example.com",
        requests: 1,
        cost: spend.total,
      });
    }
    world.must(await world.ann.call("PATCH", member, { spend_caps: { daily: "0" } }));
    expect(await callWith(key)).toBe("member_daily_spend_cap_reached");
    world.must(await world.ann.call("PATCH", member, { spend_caps: null }));
    const audit = world.must(await world.ann.call("GET", `/audit?subject_id=${id}`)).data;
    expect(audit[0]).toMatchObject({ action: "key.create", actor: { name: "ann@example.com" } });
    expect(world.must(await world.ann.call("DELETE", member)).disabled_keys).toContain(id);
  });

  it("only admins make keys for others, and only for active members of the workspace", async () => {
    const ask = async (person: Person, user_id: string, workspace_id = world.home.id) =>
      codeOf(await person.call("POST", "/keys", { workspace_id, name: "k", user_id }));
    expect(await ask(world.mem, world.ann.userId)).toEqual(refused);
    expect(await ask(world.mem, "user_nobody")).toEqual(refused);
    expect(await ask(world.mem, world.mem.userId)).toEqual([201, undefined]);
    expect(await ask(world.ann, world.bob.userId)).toEqual([400, "invalid_value"]);
    expect(await ask(world.ann, "user_nobody")).toEqual([400, "invalid_value"]);
    expect(await ask(world.ann, "admin_token")).toEqual([400, "invalid_value"]);
    expect(await ask(world.ann, world.bob.userId, world.away.id)).toEqual([404, "not_found"]);
    const path = `/workspaces/${world.home.id}/members`;
    const { user_id } = world.must(
      await world.ann.call("POST", path, { email: "later@example.com", role: "member" }),
    );
    expect(await ask(world.ann, user_id)).toEqual([400, "invalid_value"]);
  });

  const limits = {
    model_allowlist: ["sandbox/chat", "sandbox/messages"],
    rate_limits: { requests_per_minute: 60, tokens_per_minute: 1000 },
    expires_at: "2099-01-01T00:00:00.000Z",
  };
  const loosened: [change: object, param: string][] = [
    [{ model_allowlist: null }, "model_allowlist"],
    [{ model_allowlist: [] }, "model_allowlist"],
    [{ model_allowlist: ["sandbox/chat", "sandbox/image-a"] }, "model_allowlist"],
    [{ rate_limits: null }, "rate_limits.requests_per_minute"],
    [{ rate_limits: { requests_per_minute: 61 } }, "rate_limits.requests_per_minute"],
    [{ rate_limits: { tokens_per_minute: null } }, "rate_limits.tokens_per_minute"],
    [{ expires_at: null }, "expires_at"],
    [{ expires_at: "2099-01-01T00:00:00.001Z" }, "expires_at"],
    [{ name: "hidden in it", expires_at: null }, "expires_at"],
  ];

  it.each(["at creation, for the member", "later, on the member's own key"])(
    "a member cannot lift limits, allowlist or expiry that an admin set %s, and may tighten them",
    async (when) => {
      const { id } = when.startsWith("at")
        ? await newKey(world.ann, { user_id: world.mem.userId, ...limits })
        : await newKey(world.mem);
      const path = `/keys/${id}`;
      if (!when.startsWith("at")) world.must(await world.ann.call("PATCH", path, limits));
      for (const [change, param] of loosened) {
        const answer = await world.mem.call("PATCH", path, change);
        expect({ change, code: codeOf(answer), param: answer.json.error.param }).toEqual({
          change,
          code: refused,
          param,
        });
      }
      expect(world.must(await world.mem.call("GET", path))).toMatchObject({ name: "k", ...limits });
      const tighter = {
        model_allowlist: ["sandbox/chat"],
        rate_limits: { requests_per_minute: 6, tokens_per_minute: 100 },
        expires_at: "2098-01-01T00:00:00.000Z",
      };
      expect(world.must(await world.mem.call("PATCH", path, tighter))).toMatchObject(tighter);
      // Within the admin's limits the member may change it back.
      expect(world.must(await world.mem.call("PATCH", path, limits))).toMatchObject(limits);
      world.must(await world.ann.call("PATCH", path, { expires_at: null, rate_limits: null }));
      const free = { expires_at: "2100-01-01T00:00:00.000Z", rate_limits: null };
      expect(world.must(await world.mem.call("PATCH", path, free))).toMatchObject(free);
      expect(codeOf(await world.mem.call("PATCH", path, { model_allowlist: [] }))).toEqual(refused);
      world.must(await world.ann.call("PATCH", path, { model_allowlist: [] }));
      world.must(await world.mem.call("PATCH", path, { model_allowlist: ["sandbox/image-a"] }));
    },
  );

  it("a member may change and clear their own key's settings, also after an admin changed other ones", async () => {
    const { id } = await newKey(world.mem, limits);
    const path = `/keys/${id}`;
    world.must(await world.ann.call("PATCH", path, { name: "renamed" }));
    world.must(await world.ann.call("PATCH", path, { rate_limits: { requests_per_minute: 30 } }));
    const cleared = {
      model_allowlist: [],
      expires_at: null,
      rate_limits: { requests_per_minute: 30, tokens_per_minute: null, concurrency: null },
    };
    expect(world.must(await world.mem.call("PATCH", path, cleared))).toMatchObject(cleared);
    const lifted = await world.mem.call("PATCH", path, { rate_limits: null });
    expect(codeOf(lifted)).toEqual(refused);
  });

  it("VIS-01 KEY-11 T73: a temporary value is for users who see the key, is billed and limited as the key, and ends with it", async () => {
    const { id } = await newKey(world.mem);
    const path = `/keys/${id}/temporary`;
    for (const person of [world.mel, world.bob])
      expect(codeOf(await person.call("POST", path))).toEqual([404, "not_found"]);
    for (const body of [{ ttl_s: 901 }, { ttl_s: 0 }, { ttl_s: "60" }, { ttl: 60 }])
      expect((await world.mem.call("POST", path, body)).status).toBe(400);
    world.must(await world.ann.call("POST", path, { ttl_s: 60 }));
    const lent = world.must(await world.mem.call("POST", path)) as {
      key: string;
      expires_at: string;
    };
    expect(Date.parse(lent.expires_at)).toBeGreaterThan(Date.now());

    expect(await callWith(lent.key)).toBe(200);
    const record = world.must(await world.mem.call("GET", `/keys/${id}`));
    expect(Number(record.spend.total)).toBeGreaterThan(0);
    const own = async () => {
      const headers = { authorization: `Bearer ${lent.key}` };
      return (await fetch(`${world.gateway.url}/v1/key`, { headers })).json();
    };
    expect(await own()).toMatchObject({ id, spend: record.spend });
    const { data } = world.must(await world.mem.call("GET", `/usage?group_by=key&key_id=${id}`));
    expect(data).toMatchObject([{ key_id: id, requests: 1, cost: record.spend.total }]);
    for (const [limit, code] of [
      [{ spend_caps: { total: "0" } }, "key_total_spend_cap_reached"],
      [{ spend_caps: null, model_allowlist: ["sandbox/messages"] }, "model_not_allowed"],
      [{ model_allowlist: [] }, 200],
    ] as const) {
      world.must(await world.ann.call("PATCH", `/keys/${id}`, limit));
      expect(await callWith(lent.key)).toBe(code);
    }

    // It does not open the management API, so it cannot make another one.
    for (const [method, inside] of [
      ["POST", path],
      ["GET", `/keys/${id}`],
      ["GET", "/me"],
    ] as const) {
      const answer = await call(world.gateway.url, method, inside, { token: lent.key });
      expect(answer.status).toBe(401);
    }
    world.must(await world.mem.call("POST", `/keys/${id}/revoke`));
    expect(await callWith(lent.key)).toBe("api_key_revoked");
    expect(await own()).toMatchObject({ error: { code: "api_key_revoked" } });
    expect(codeOf(await world.mem.call("POST", path))).toEqual([409, "conflict"]);

    const audit = world.must(await world.ann.call("GET", `/audit?subject_id=${id}`));
    const entries = audit.data.filter((one: { action: string }) => one.action === "key.temporary");
    expect(entries.map((one: { actor: { name: string } }) => one.actor.name)).toEqual([
      "mem@example.com",
      "ann@example.com",
    ]);
    expect(JSON.stringify(audit)).not.toContain("gw_temp_");
  });
});
