/**
 * Erasing personal data: an end user of calls, and a person with an account. Afterwards the test searches every text of the
 * database. The ledger has not changed by a nano-dollar.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { foldUsage } from "../../src/usage/index.ts";
import { differencesIn } from "../../src/verification/index.ts";
import { tollgateHere } from "../support/command.ts";
import { eventually } from "../support/patience.ts";
import { adminToken, startAdminGateway, type AdminGateway } from "../admin/support.ts";
import { newMember } from "../admin/people.ts";

let gateway: AdminGateway;
const config = "tags: { usage: [end_user, team] }\n";
const erasedUser = "mail-of-ann@example.com";
const otherUser = "u-bert";

beforeAll(async () => {
  gateway = await startAdminGateway({ config, sandbox: "on" });
  await gateway.credit("100");
});
afterAll(() => gateway.close());

/** The token of the end user's first erasure. */
let token = "";

const sumOf = async (sql: string): Promise<unknown> => (await gateway.database.query(sql, []))[0];
/** The money and its sums, without names. */
const ledgerAndSums = async () => ({
  entries: await sumOf("select md5(string_agg(e::text, ',' order by entry)) from ledger_entries e"),
  sums: await sumOf(
    "select sum(cost_nano), sum(requests), sum(input_tokens), count(*) from usage_tags where name = 'end_user' and not of_member",
  ),
  hours: await sumOf("select md5(string_agg(u::text, ',' order by u::text)) from usage_hours u"),
});

/** The tables that contain a text anywhere. */
async function tablesWith(text: string): Promise<string[]> {
  const tables = await gateway.database.query<{ name: string }>(
    "select c.oid::regclass::text as name from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition",
    [],
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const [row] = await gateway.database.query<{ n: bigint }>(
      `select count(*) as n from ${name} t where strpos(t::text, $1) > 0`,
      [text],
    );
    if (row!.n > 0n) found.push(name);
  }
  return found.sort();
}

async function call(endUser: string, text: string): Promise<void> {
  const response = await gateway.post(
    "/v1/chat/completions",
    { model: "sandbox/chat", messages: [{ role: "user", content: text }] },
    {
      "x-gw-end-user": endUser,
      "x-gw-metadata": JSON.stringify({ team: "search", login: endUser }),
    },
  );
  expect(response.status).toBe(200);
  await response.text();
}

async function task(endUser: string): Promise<void> {
  const response = await gateway.post(
    "/v1/tasks",
    {
      model: "sandbox/video-model-v1",
      prompt: `A film for ${endUser}`,
      duration: 2,
      user: endUser,
    },
    { prefer: "wait=60" },
  );
  expect(await response.json()).toMatchObject({ status: "succeeded" });
}

const erase = (body: object) => gateway.admin("POST", "/erasures", body);

describe("an end user", () => {
  beforeAll(async () => {
    await gateway.admin("PATCH", `/workspaces/${gateway.workspaceId}`, { keep_bodies: "all" });
    for (let calls = 0; calls < 3; calls += 1) await call(erasedUser, `I am ${erasedUser}`);
    await call(otherUser, "Hello");
    await task(erasedUser);
    await task(otherUser);
    await eventually(
      async () => (await gateway.admin("GET", "/requests?limit=100")).json.data.length === 6,
      "rows of the log",
    );
    await foldUsage(gateway.database, { tags: ["end_user", "team"] });
  });

  it("a dry run counts what would be erased, and changes nothing", async () => {
    const before = await tablesWith(erasedUser);
    expect(before).toEqual(["requests", "tasks", "usage_tags"]);
    const { status, json } = await erase({ end_user: erasedUser, dry_run: true });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      dry_run: true,
      continue: null,
      erased: { requests: 4, bodies: 3, tasks: 1, tasks_under_way: 0, files: 1 },
    });
    expect(await tablesWith(erasedUser)).toEqual(before);
  });

  it("is named nowhere after the erasure; another end user still is, and ledger and sums are unchanged", async () => {
    const before = await ledgerAndSums();
    const answer = await erase({ end_user: erasedUser, workspace_id: gateway.workspaceId });
    expect(answer.json).toMatchObject({
      kind: "end_user",
      token: expect.stringMatching(/^erased_[0-9a-f]{32}$/),
      erased: { requests: 4, bodies: 3, tasks: 1, tasks_under_way: 0, files: 1 },
      continue: null,
    });
    expect(await tablesWith(erasedUser)).toEqual([]);
    expect(await tablesWith(otherUser)).toEqual(["requests", "tasks", "usage_tags"]);
    expect(await ledgerAndSums()).toEqual(before);
    expect(await gateway.database.transaction((tx) => differencesIn(tx))).toEqual([]);
    // The calls of one person still belong together.
    ({ token } = answer.json);
    const usage = await gateway.admin(
      "GET",
      "/usage?granularity=total&group_by=tag:end_user&from=2026-01-01T00:00:00Z",
    );
    expect(JSON.stringify(usage.json)).toContain(token);
    const listed = await gateway.admin("GET", `/requests?end_user=${token}&limit=100`);
    expect(listed.json.data).toHaveLength(4);
    expect(listed.json.data[0].tags?.login ?? token).toBe(token);
  });

  it("loses the task and its file, and the audit log names the token instead of the end user", async () => {
    expect((await gateway.admin("GET", "/tasks?limit=100")).json.data).toHaveLength(1);
    const [row] = await gateway.database.query(
      "select count(*)::integer as n from files where expires_at > now()",
      [],
    );
    expect(row).toEqual({ n: 1 });
    const { json } = await gateway.admin("GET", "/audit?action=personal_data.erase");
    expect(json.data).toMatchObject([
      { subject: { type: "end_user", id: token }, after: { requests: 4 } },
    ]);
    expect(JSON.stringify(json)).not.toContain(erasedUser);
  });

  it("appears again after a later call, and is erased again by the command line; rows under both tokens stay apart", async () => {
    await call(erasedUser, "Here I am again");
    await expect.poll(() => tablesWith(erasedUser)).toContain("requests");
    const environment = { TOLLGATE_ADMIN_TOKEN: adminToken };
    const command = ["erase", "end-user", erasedUser, "--url", gateway.url];
    expect(await tollgateHere(command, environment)).toMatchObject({
      code: 2,
      stderr: "tollgate: nothing brings it back: look with --dry-run, then say --yes\n",
    });
    const dry = await tollgateHere([...command, "--dry-run"], environment);
    expect(dry.stdout).toMatch(/^would be erased: requests: 1/);
    const done = await tollgateHere([...command, "--yes"], environment);
    const [, second] =
      /^erased: requests: 1.*\nin their place stands (erased_\w+)\nnot reached: backups/.exec(
        done.stdout,
      )!;
    expect(await tablesWith(erasedUser)).toEqual([]);
    expect(second).not.toBe(token);
    await foldUsage(gateway.database, { tags: ["end_user", "team"] });
    for (const [name, calls] of [
      [token, 4],
      [second, 1],
    ]) {
      const listed = await gateway.admin("GET", `/requests?end_user=${name}&limit=100`);
      expect(listed.json.data).toHaveLength(Number(calls));
      const sums = `select sum(requests)::int as n from usage_tags where name = 'end_user' and not of_member`;
      expect(await sumOf(`${sums} and value = '${name}'`)).toEqual({ n: calls });
    }
  });

  it("an interrupted erasure continues from its own `continue` value, and refuses any other", async () => {
    for (const text of [
      "x",
      "e30",
      Buffer.from('{"token":"me","place":{}}').toString("base64url"),
    ]) {
      const answer = await erase({ end_user: erasedUser, continue: text });
      expect([answer.status, answer.json.error.param]).toEqual([400, "continue"]);
    }
    const token = `erased_${"0".repeat(32)}`;
    const place = { workspaceId: gateway.workspaceId, stage: "rest", after: "" };
    const text = Buffer.from(JSON.stringify({ token, place })).toString("base64url");
    const continued = await erase({ end_user: otherUser, continue: text });
    expect(continued.json).toMatchObject({
      token,
      continue: null,
      erased: { requests: 0, usage_rows: 2 },
    });
    expect(await tablesWith(otherUser)).toEqual(["requests", "tasks"]);
    expect((await erase({})).status).toBe(400);
    expect((await erase({ end_user: "a", person: "b" })).status).toBe(400);
  });
});

describe("a person", () => {
  const email = "ada.lovelace@example.com";

  it("is named nowhere after the erasure and loses all access; ledger and sums are unchanged", async () => {
    const ada = await newMember(gateway, gateway.workspaceId, { email, role: "admin" });
    const made = await ada.call("POST", "/keys", {
      workspace_id: gateway.workspaceId,
      name: "hers",
    });
    expect(made.status).toBe(201);
    const second = await gateway.admin("POST", "/workspaces", { name: "second" });
    const invited = await gateway.admin("POST", `/workspaces/${second.json.id}/members`, {
      email,
      role: "member",
    });
    expect(invited.status).toBe(201);
    const entries = await gateway.admin("GET", `/audit?actor_id=${ada.userId}`);
    expect(entries.json.data[0].actor.name).toBe(email);
    const before = await ledgerAndSums();

    const dry = await erase({ person: email, dry_run: true });
    expect(dry.json.erased).toMatchObject({
      users: 2,
      memberships: 2,
      // The programs that use it stop, so the dry run tells the operator first.
      keys_disabled: 1,
      sessions: 1,
      tokens: 1,
    });
    expect((await ada.call("GET", "/me")).status).toBe(200);

    const { status, json } = await erase({ person: email });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      kind: "person",
      erased: { users: 2, memberships: 2, keys_disabled: 1, sessions: 1 },
    });
    expect(await tablesWith(email)).toEqual([]);
    expect((await ada.call("GET", "/me")).status).toBe(401);
    const key = await gateway.admin("GET", `/keys/${made.json.id}`);
    expect(key.json).toMatchObject({ status: "disabled" });
    const after = await gateway.admin("GET", `/audit?actor_id=${ada.userId}`);
    expect(after.json.data.length).toBe(entries.json.data.length);
    expect(after.json.data[0].actor.name).toBe(json.token);
    expect(await ledgerAndSums()).toEqual(before);
    expect((await erase({ person: email })).status).toBe(404);
    // The address is free again.
    const again = await gateway.admin("POST", `/workspaces/${gateway.workspaceId}/members`, {
      email,
      role: "member",
    });
    expect(again.status).toBe(201);
  });
});
