/** Erasing under attack: ids and names that are parts of JSON or of other addresses, vendors that repeat an id, repeated keys. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBodyLog, openKeyClients } from "../../src/request-log/index.ts";
import { createAnswerCache } from "../../src/calls/index.ts";
import { roomFor } from "../../src/base/write-behind.ts";
import { eraseEndUserPage } from "../../src/retention/index.ts";
import { addressEraser } from "../../src/tenancy/index.ts";
import { differencesIn } from "../../src/verification/index.ts";
import { startAdminGateway, type AdminGateway } from "../admin/support.ts";
import { newMember } from "../admin/people.ts";
import { picture } from "../images/support.ts";
import { eventually } from "../support/patience.ts";
import { silentLog } from "../support/postgres.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";

const token = /^erased_[0-9a-f]{32}$/;
let vendor: Recorder;
let gateway: AdminGateway;

beforeAll(async () => {
  // A vendor whose errors name the end user.
  vendor = await startRecorder((request, response) => {
    const message = `user ${String(request.body["user"])} was refused`;
    return json({ error: { message, type: "x", code: "x" } }, 400)(request, response);
  });
  gateway = await startAdminGateway({
    sandbox: "on",
    config: `
providers:
  - { id: lab, dialect: openai-compatible, base_url: "${vendor.url}/v1", api_key: k }
models:
  - id: lab/chat
    kind: text
    context_length: 1000
    max_output_tokens: 100
    offers:
      - { provider: lab, protocol: chat, upstream_model: chat, price: { input: "1", output: "1" } }
`,
  });
  await gateway.credit("100");
});
afterAll(async () => {
  await gateway?.close();
  await vendor.close();
});

const erase = (body: object) => gateway.admin("POST", "/erasures", body);

interface Row {
  readonly id: string;
  readonly end_user: string | null;
  readonly tags: Readonly<Record<string, string>> | null;
  readonly error_message: string | null;
  readonly attempts: readonly { readonly message?: string }[] | null;
}

const rowsOf = (): Promise<Row[]> =>
  gateway.database.query<Row>("select * from requests order by id desc", []);

/** Makes a call for an end user. Returns its row, once the log has written it. */
async function callFor(model: string, user: string, tags: object = {}): Promise<Row> {
  const before = (await rowsOf()).length;
  const body = { model, user, messages: [{ role: "user", content: "Hello" }] };
  // Headers are bytes.
  const headers = { "x-gw-metadata": Buffer.from(JSON.stringify(tags)).toString("latin1") };
  await (await gateway.post("/v1/chat/completions", body, headers)).text();
  await eventually(async () => (await rowsOf()).length > before, "the row of the log");
  return (await rowsOf())[0]!;
}

describe("an end user", () => {
  it.each([",", ":", "{", '"', "\\", "\n", "é", "a", "b", "null", "code"])(
    "with the id %j is erased, and the other tags stay",
    async (user) => {
      const tags = { a: "b", c: "d", [user]: "x", login: user, code: "codes" };
      const before = await callFor("sandbox/chat", user, tags);
      expect(before).toMatchObject({ end_user: user, tags });
      const answer = await erase({ end_user: user });
      expect([answer.status, answer.json.erased?.requests]).toEqual([200, 1]);
      const [row] = await rowsOf();
      expect(row!.end_user).toMatch(token);
      expect(row!.end_user).toBe(answer.json.token);
      const replaced = (text: string): string => (text === user ? answer.json.token : text);
      expect(row!.tags).toEqual(
        Object.fromEntries(Object.entries(tags).map((pair) => pair.map(replaced))),
      );
    },
  );

  it("is erased from a vendor's error too, in the message and in the attempt", async () => {
    const user = 'o"hara,message';
    const before = await callFor("lab/chat", user);
    expect(JSON.stringify([before.error_message, before.attempts])).toContain("hara");
    const { json: answer } = await erase({ end_user: user });
    const [row] = await rowsOf();
    expect(JSON.stringify([row!.error_message, row!.attempts])).not.toContain("hara");
    expect(row!.error_message).toContain(answer.token);
    expect(row!.attempts![0]!.message).toContain(answer.token);
  });

  it("bodies of an erased call that another gateway writes late are not stored", async () => {
    const { workspaceId, database } = gateway;
    const calls: Row[] = [];
    for (const user of ["late-one", "late-other"]) calls.push(await callFor("lab/chat", user));
    expect((await erase({ end_user: "late-one" })).json.erased).toMatchObject({ requests: 1 });
    const bodies = { request: "I am late-one", sent: null, answer: null, truncated: [] };
    const { secrets } = await gateway.internals();
    const room = roomFor(1_000);
    const late = createBodyLog({ database, sealing: secrets, log: silentLog, room });
    for (const { id } of calls) late.add({ name: { workspaceId, id }, bodies });
    await late.flush();
    const kept = await database.query<{ id: string }>("select id from request_bodies", []);
    expect(kept.map(({ id }) => id)).toEqual([calls[1]!.id]);
  });

  it("an answer that another gateway has yet to cache is not cached after the erasure", async () => {
    const { workspaceId, database } = gateway;
    const calls: Row[] = [];
    for (const user of ["slow-one", "slow-other"]) calls.push(await callFor("lab/chat", user));
    expect((await erase({ end_user: "slow-one" })).json.erased).toMatchObject({ requests: 1 });
    const { secrets } = await gateway.internals();
    const cache = createAnswerCache(database, secrets, silentLog, roomFor(1_000));
    const answers = calls.map(({ id }) => ({ callId: id, text: `about ${id}`, seconds: 600 }));
    for (const answer of answers) cache.put({ workspaceId, digest: answer.callId }, answer);
    await cache.flush();
    const found = answers.map(({ callId }) => cache.find({ workspaceId, digest: callId }, 600));
    expect(await Promise.all(found)).toEqual([undefined, answers[1]!.text]);
  });

  it("the idempotency key of an erased task or image answers 404, and creates and charges nothing again", async () => {
    const user = "u-repeats";
    const film = { model: "sandbox/video-model-v1", prompt: "A film", duration: 2, user };
    const picture = { model: "sandbox/image-model-a", prompt: "A boat", user };
    const submit = () =>
      gateway.post("/v1/tasks", film, { prefer: "wait=60", "idempotency-key": "film" });
    const draw = () =>
      gateway.post("/v1/images/generations", picture, { "idempotency-key": "picture" });
    for (const send of [submit, draw]) {
      const response = await send();
      expect(response.status).toBe(200);
      await response.text();
    }
    const logged = () => gateway.admin("GET", `/requests?end_user=${user}`);
    await eventually(async () => (await logged()).json.data.length === 2, "both rows of the log");
    const charges = () =>
      gateway.database.query("select reference from ledger_entries order by entry", []);
    const before = await charges();
    expect((await erase({ end_user: user })).json.erased).toMatchObject({ tasks: 1, files: 2 });
    for (const send of [submit, draw]) {
      const response = await send();
      expect([response.status, await response.text()]).toEqual([
        404,
        expect.stringContaining("Idempotency-Key is no longer kept"),
      ]);
    }
    expect(await charges()).toEqual(before);
    expect(await gateway.database.transaction((tx) => differencesIn(tx))).toEqual([]);
  });

  it("is erased from the row of a task that ended when the pages of the log were done", async () => {
    const user = "u-ends-meanwhile";
    const film = { model: "sandbox/video-model-v1", prompt: "A film", duration: 2, user };
    await (await gateway.post("/v1/tasks", film, { prefer: "wait=60" })).text();
    const rows = async () => (await rowsOf()).filter((row) => row.end_user === user);
    await eventually(async () => (await rows()).length === 1, "the row of the log");
    const one = { endUser: user, token: `erased_${"1".repeat(32)}`, dryRun: false };
    const place = { workspaceId: gateway.workspaceId, stage: "tasks", after: "" } as const;
    const { erased } = await eraseEndUserPage(gateway.database, place, one);
    expect(erased).toEqual({ requests: 1, tasks: 1, tasks_under_way: 0 });
    expect(await rows()).toEqual([]);
  });

  it("the image of an edit is erased with its end user, and so is its thumbnail", async () => {
    const user = "u-edits";
    const form = new FormData();
    const fields = { model: "sandbox/image-model-b", prompt: "A boat", size: "1024x1024", user };
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append("image", new Blob([await picture()]), "a.png");
    const edited = await fetch(`${gateway.url}/v1/images/edits`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}` },
      body: form,
    });
    const { gw } = (await edited.json()) as { gw: { images: { url: string }[] } };
    const url = new URL(gw.images[0]!.url).pathname;
    const seen = async () => {
      const answers = await Promise.all(
        [url, `${url}?width=160`].map((path) => fetch(gateway.url + path)),
      );
      return answers.map(({ status }) => status);
    };
    expect(await seen()).toEqual([200, 200]);
    expect((await erase({ end_user: user })).json.erased).toMatchObject({ tasks: 1 });
    expect(await seen()).toEqual([404, 404]);
  });

  it("a `continue` value that no answer gave is refused with 400", async () => {
    for (const after of ["\0", "\ud800", "x' or 1=1", 7]) {
      const place = { workspaceId: gateway.workspaceId, stage: "requests", after };
      const progress = JSON.stringify({ token: `erased_${"0".repeat(32)}`, place });
      const text = Buffer.from(progress).toString("base64url");
      const answer = await erase({ end_user: "x", continue: text });
      expect([answer.status, answer.json.error.param]).toEqual([400, "continue"]);
    }
  });
});

describe("a person", () => {
  it("addresses of others that begin or end like the person's are not erased", () => {
    const changed = addressEraser(["ann@example.com", "a.n@example.co"], "T");
    const mine = "T@erased.invalid";
    for (const text of ["ann@example.com", "Ann@Example.com", "a.n@example.co"])
      expect(changed(text)).toBe(mine);
    expect(changed("for ann@example.com's laptop, <ann@example.com>.")).toBe(
      `for ${mine}'s laptop, <${mine}>.`,
    );
    for (const other of [
      "joann@example.com",
      "jo.ann@example.com",
      "jo+ann@example.com",
      "ann@example.com.au",
      "ann@example.community",
      "axn@example.co",
      "ann@example-com",
    ])
      expect(changed(other)).toBe(other);
  });

  it("is erased from key names and the audit log, even with a comma as name; similar addresses stay", async () => {
    const { workspaceId } = gateway;
    const others = ["joann@example.org", "ann@example.org.au"];
    const ann = await newMember(gateway, workspaceId, { email: "ann@example.org", role: "admin" });
    await gateway.database.query("update users set name = $2 where id = $1", [ann.userId, ", "]);
    const names = ["ann@example.org on the train", ...others];
    const keys: string[] = [];
    for (const name of names) {
      const made = await ann.call("POST", "/keys", { workspace_id: workspaceId, name });
      keys.push(made.json.id);
    }
    const { status, json: answer } = await erase({ person: "ann@example.org" });
    expect(status).toBe(200);
    const now = [`${answer.token}@erased.invalid on the train`, ...others];
    for (const [index, id] of keys.entries()) {
      const key = await gateway.admin("GET", `/keys/${id}`);
      expect(key.json.name).toBe(now[index]);
      const audit = await gateway.admin("GET", `/audit?subject_id=${id}&action=key.create`);
      expect(audit.json.data).toMatchObject([
        { actor: { name: answer.token }, after: { name: now[index] } },
      ]);
    }
  });

  it("is not half erased if made a member again meanwhile: the erasure answers 409 and changes nothing", async () => {
    const { workspaceId, database } = gateway;
    const email = "eve@example.org";
    const eve = await newMember(gateway, workspaceId, { email, role: "member" });
    // Does the same as `POST .../members/{id}/restore`, just after the membership ended.
    await database.query(`
      create function put_back() returns trigger language plpgsql as $$
      begin
        insert into members select (old).*;
        return null;
      end $$;
      create trigger put_back after delete on members for each row execute function put_back()`);
    const early = await erase({ person: email });
    expect([early.status, early.json.error.code]).toEqual([409, "conflict"]);
    expect((await eve.call("GET", "/me")).json).toMatchObject({ name: email });
    await database.query("drop function put_back() cascade");
    const { status, json: answer } = await erase({ person: email });
    expect([status, answer.erased.memberships]).toEqual([200, 1]);
    expect((await eve.call("GET", "/me")).status).toBe(401);
  });

  it("has no working key after the erasure, even if they had left and an administrator had enabled the key again", async () => {
    const { workspaceId } = gateway;
    const gone = await newMember(gateway, workspaceId, { email: "gil@example.org", role: "admin" });
    const made = await gone.call("POST", "/keys", { workspace_id: workspaceId, name: "gil" });
    await gateway.admin("DELETE", `/workspaces/${workspaceId}/members/${gone.userId}`);
    const enabled = await gateway.admin("POST", `/keys/${made.json.id}/enable`);
    expect(enabled.json).toMatchObject({ status: "active" });
    for (const dry_run of [true, false]) {
      const { json: answer } = await erase({ person: "gil@example.org", dry_run });
      expect(answer.erased).toMatchObject({ memberships: 0, keys_disabled: 1 });
    }
    const models = { authorization: `Bearer ${made.json.key}` };
    expect((await gateway.get("/v1/models", models)).status).toBe(401);
    const audit = await gateway.admin("GET", `/audit?subject_id=${made.json.id}`);
    expect(audit.json.data[0]).toMatchObject({ action: "key.disable" });
    expect(audit.text).not.toContain("gil@");
  });

  it("no gateway stores client addresses for an erased person's key afterwards", async () => {
    const { workspaceId, database } = gateway;
    const keys: string[] = [];
    for (const email of ["ida@example.org", "una@example.org"]) {
      const member = await newMember(gateway, workspaceId, { email, role: "admin" });
      const made = await member.call("POST", "/keys", { workspace_id: workspaceId, name: "own" });
      keys.push(made.json.id);
    }
    expect((await erase({ person: "ida@example.org" })).status).toBe(200);
    // A late write, by another gateway or for a stream that ended later.
    const late = openKeyClients(database, silentLog);
    for (const keyId of keys) late.note({ keyId, address: "203.0.113.7", userAgent: "program/1" });
    await late.close();
    for (const [index, id] of keys.entries()) {
      const clients = await gateway.admin("GET", `/keys/${id}/clients`);
      expect(clients.json.data).toHaveLength(index);
    }
  });

  it("two persons in one audit entry are both erased by concurrent erasures", async () => {
    const { workspaceId, database } = gateway;
    const emails = ["carl@example.org", "dora@example.org"];
    const [carl, dora] = await Promise.all(
      emails.map((email) => newMember(gateway, workspaceId, { email, role: "member" })),
    );
    await gateway.admin("POST", "/keys", { workspace_id: workspaceId, name: emails.join(" and ") });
    const answers = await Promise.all([carl, dora].map((one) => erase({ person: one!.userId })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const named = await database.query(
      "select id from audit_entries e where e::text like '%carl@%' or e::text like '%dora@%'",
      [],
    );
    expect(named).toEqual([]);
  });
});

describe("erasing end users while calls go on and sums are folded", () => {
  it("leaves every call once in the sums of end users, which equal the total sums and the ledger", async () => {
    const busy = await startAdminGateway({
      sandbox: "on",
      config: "tags: { usage: [end_user] }\n",
      usageEveryMs: 20,
    });
    try {
      await busy.credit("100");
      const users = ["u-one", "u-two"];
      let calls = 0;
      const calling = Array.from({ length: 4 }, async (_, lane) => {
        for (let turn = 0; turn < 25; turn += 1) {
          const body = {
            model: "sandbox/chat",
            user: users[(lane + turn) % users.length],
            messages: [{ role: "user", content: "Hello" }],
          };
          const response = await busy.post("/v1/chat/completions", body);
          await response.text();
          if (response.status === 200) calls += 1;
        }
      });
      const end = new AbortController();
      const erasing = users.map(async (user) => {
        while (!end.signal.aborted) {
          const answer = await busy.admin("POST", "/erasures", { end_user: user });
          expect([answer.status, answer.json.continue]).toEqual([200, null]);
        }
      });
      await Promise.all(calling);
      const sums = () =>
        busy.database.query<{ requests: bigint; cost: bigint }>(
          `select coalesce(sum(requests), 0)::bigint as requests, coalesce(sum(cost_nano), 0)::bigint as cost
           from usage_tags where name = 'end_user' and not of_member`,
          [],
        );
      await eventually(async () => (await sums())[0]!.requests >= BigInt(calls), "the sums");
      end.abort();
      await Promise.all(erasing);
      for (const user of users)
        expect((await busy.admin("POST", "/erasures", { end_user: user })).status).toBe(200);
      const [charged] = await busy.database.query<{ cost: bigint }>(
        "select sum(cost_nano)::bigint as cost from usage_days where dimension = 'total' and not of_member",
        [],
      );
      expect(await sums()).toEqual([{ requests: BigInt(calls), cost: charged!.cost }]);
      const [ledger] = await busy.database.query<{ cost: bigint }>(
        "select sum(amount_nano)::bigint as cost from ledger_entries where kind = 'charge'",
        [],
      );
      expect(ledger).toEqual(charged);
      const named = await busy.database.query(
        "select value from usage_tags where value = any($1) union all select end_user from requests where end_user = any($1)",
        [users],
      );
      expect(named).toEqual([]);
      expect(await busy.database.transaction((tx) => differencesIn(tx))).toEqual([]);
    } finally {
      await busy.close();
    }
  });
});
