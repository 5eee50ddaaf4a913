/** The commands on the management API: with a running gateway, and the same on the data of a stopped one. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../src/storage/index.ts";
import { call } from "../admin/support.ts";
import { tollgateHere } from "../support/command.ts";
import { isLong } from "../support/long.ts";
import {
  preparedDataDir,
  sharedPostgres,
  silentLog,
  temporaryDirectory,
} from "../support/postgres.ts";
import { spawnGateway, tollgate, type GatewayProcess } from "../support/process.ts";

type Environment = Record<string, string>;

/** Runs a command that must succeed; parses its output if JSON was requested. Words are separated by single spaces. */
// oxlint-disable-next-line typescript/no-explicit-any -- the JSON of many commands, looked into by tests
async function run(words: string, environment: Environment, by = tollgateHere): Promise<any> {
  const args = words.split(" ");
  const { code, stdout, stderr } = await by(args, environment);
  expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: "" });
  return args.includes("--json") ? JSON.parse(stdout) : stdout;
}

/**
 * A place for the data of a gateway that is then stopped. Each command would start and stop the embedded database, which
 * test/cli/commands.test.ts covers. In the short form the database is a server by its address.
 */
const stopping = async (): Promise<{ TOLLGATE_DATA_DIR: string; DATABASE_URL: string }> =>
  isLong
    ? { TOLLGATE_DATA_DIR: await preparedDataDir(), DATABASE_URL: "" }
    : {
        TOLLGATE_DATA_DIR: temporaryDirectory(),
        DATABASE_URL: await (await sharedPostgres()).createMigrated(),
      };

/** A series of commands: the same with a gateway and without. */
async function morning(environment: Environment) {
  const [first] = await run("workspaces list --json", environment);
  const made = await run("workspaces create --name night --json", environment);
  expect(made).toMatchObject({ name: "night", organization_id: null, status: "active" });
  await run(`credits add 2.50 --workspace night --reference r-1 --json`, environment);
  const again = "credits add 2.50 --workspace night --reference r-1 --json --note later".split(" ");
  const repeated = await tollgateHere(again, environment);
  expect(JSON.parse(repeated.stdout)).toMatchObject({ credits: "2.5", available: "2.5" });
  expect(repeated).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(
      /^tollgate: the reference "r-1" counted 2\.5 USD before, at \S+Z, without a note, which stays; nothing was counted now\n$/,
    ) as string,
  });
  const other = "credits take 2.50 --workspace night --reference r-1".split(" ");
  expect(await tollgateHere(other, environment)).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(
      /counted another amount before: 2\.5, .* Nothing was counted now; .* --reference\.\n$/,
    ) as string,
  });
  expect(await run(`credits take 0.50 --workspace night --json`, environment)).toMatchObject({
    credits: "2",
    available: "2",
  });
  expect(await run(`workspaces set ${first.id} --daily-cap 9 --hard`, environment)).toBe(
    `${first.id} "${first.name}" is active; caps: daily 9 (hard)\n`,
  );
  const set = await run(
    `workspaces set ${first.id} --daily-cap none --models sandbox/chat --json`,
    environment,
  );
  expect(set).toMatchObject({
    spend_caps: { daily: null, hard: true },
    model_allowlist: ["sandbox/chat"],
  });
  for (const [amount, kept] of [
    ["7.50", "7.5"],
    ["none", null],
  ])
    expect(
      await run(`workspaces set ${first.id} --low-balance-alert ${amount} --json`, environment),
    ).toMatchObject({ low_balance_alert: kept });
  const joined = await run(
    `members add ada@example.com --workspace ${first.id} --role admin --json`,
    environment,
  );
  expect(joined).toMatchObject({ email: "ada@example.com", role: "admin", status: "invited" });
  expect(joined.invitation.url).toMatch(/^http:\/\/\S+\/join#gw_inv_[\w-]{43}$/);
  expect(joined.one_time_password).toMatch(/\S{8,}/);
  expect(
    await run(
      `members set Ada@example.com --workspace ${first.id} --role member --total-cap 5`,
      environment,
    ),
  ).toBe(`ada@example.com (${joined.user_id}) is member; caps: total 5\n`);
  const table: string = await run(`members list --workspace ${first.id}`, environment);
  expect(table).toMatch(/^USER +EMAIL +ROLE +STATUS +SPENT +CAPS\n/);
  expect(table).toContain("ada@example.com");
  const removed = await run(
    `members remove ${joined.user_id} --workspace ${first.id} --json`,
    environment,
  );
  expect(removed).toMatchObject({ user_id: joined.user_id, deleted: true });
  const usage = await run("usage --by model --granularity day --json", environment);
  expect(usage).toMatchObject({ granularity: "day", group_by: "model" });
  return { workspace: made.id as string, usage };
}

/** Calls a model with the first start's key; returns the id of the call. */
async function chat({ url, banner }: GatewayProcess, model: string): Promise<string> {
  const key = /gw_live_\w+/.exec(banner)![0];
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "x-gw-metadata": '{"team":"search"}',
  };
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hi" }] });
  const answer = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body });
  await answer.text();
  return answer.headers.get("x-request-id")!;
}

/** Checks the commands' output about one call that succeeded and one that failed. */
async function looks(environment: Environment, [good, bad]: readonly [string, string]) {
  const listed = await run("requests list --limit 5 --json", environment);
  expect(listed.data).toMatchObject([
    { id: bad, status: "failed", error: "model_not_found" },
    { id: good, status: "succeeded", error: null },
  ]);
  const table: string = await run("requests list --status failed", environment);
  expect(table).toMatch(/^TIME +ID +KEY +MODEL +PROVIDER +STATUS +HTTP +ERROR +COST +MS\n/);
  expect(table).toContain(bad);
  expect(table).not.toContain(good);
  const well: string = await run(`requests show ${good}`, environment);
  expect(well).toMatch(new RegExp(`^${good} succeeded \\(200\\)\n`));
  expect(well).toContain("\ntags        team:search\n");
  expect(well).toMatch(/\nworkspace +\S.* \(ws_\w+\)\nkey +\S.* \(key_\w+\)\n/);
  expect(well).toMatch(/\nProviders, in their order\n {2}1\. \S+\/chat \(by \w+\)\n/);
  expect(well).toMatch(/\nAttempts\n {2}\S+ \(\S+\) ok 200 after \d+ ms\n/);
  expect(well).toMatch(/\nPrice\n {2}input_tokens: \d+ at \$0\.5 per million tokens = \$0\.\d+\n/);
  const failed: string = await run(`requests show ${bad}`, environment);
  expect(failed).toContain(
    '\nError\n  model_not_found\n  The model "sandbox/none" does not exist.',
  );
  const bill: string = await run(
    "usage --by model --csv --from 2020-01-01 --to 2100-01-01",
    environment,
  );
  const [head, ...rows] = bill.trimEnd().split("\r\n");
  const columns = head!.split(",");
  const models = new Set(rows.map((row) => row.split(",")[columns.indexOf("model")]));
  expect(models).toEqual(new Set(["", "sandbox/chat"]));
  const log: string = await run("requests list --csv --status succeeded", environment);
  expect(log.split("\r\n")).toEqual([
    expect.stringMatching(/^id,created_at,/),
    expect.stringContaining(good),
    "",
  ]);
  return { listed, bill, team: await run("usage --by tag:team --json", environment) };
}

describe("the commands beside a running gateway", () => {
  let environment: Environment;
  let gateway: GatewayProcess;
  beforeAll(async () => {
    environment = {
      TOLLGATE_DATA_DIR: await preparedDataDir(),
      TOLLGATE_SANDBOX: "on",
      TOLLGATE_LOG_LEVEL: "warn",
      DATABASE_URL: "",
      TOLLGATE_ADMIN_TOKEN: "",
    };
    gateway = await spawnGateway(environment);
  });
  afterAll(() => gateway.stop());

  it("use the gateway's API, whose audit log has their changes", async () => {
    const key = /gw_live_\w+/.exec(gateway.banner)![0];
    await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sandbox/chat", messages: [{ role: "user", content: "Hi" }] }),
    });
    const { workspace, usage } = await morning(environment);
    expect(usage.data).toMatchObject([{ model: "sandbox/chat", requests: 1 }]);
    const token = readFileSync(
      join(environment["TOLLGATE_DATA_DIR"]!, "admin-token"),
      "utf8",
    ).trim();
    const audit = await call(gateway.url, "GET", `/audit?workspace_id=${workspace}`, { token });
    const [latest] = audit.json.data as { action: string; request_id: string }[];
    expect(latest).toMatchObject({
      action: "workspace.add_credits",
      // The id of an HTTP request: the command did not use the database directly.
      request_id: expect.stringMatching(/^req_/) as string,
    });
  });

  it("keys create --user makes a key for a member who accepted the printed invitation link", async () => {
    const [first] = await run("workspaces list --json", environment);
    const at = `--workspace ${first.id}`;
    const printed: string = await run(`members add bo@example.com ${at}`, environment);
    const token = /\/join#(gw_inv_[\w-]{43})\n/.exec(printed)![1]!;
    const early = await tollgateHere(
      `keys create --name his --user bo@example.com ${at}`.split(" "),
      environment,
    );
    expect(early).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("not accepted") as string,
    });
    const accepted = await call(gateway.url, "POST", "/auth/invitations/accept", {
      body: { token, password: "a password of his own" },
    });
    expect(accepted.status).toBe(200);
    const key = await run(`keys create --name his --user Bo@example.com ${at} --json`, environment);
    expect(key.created_by).toBe(accepted.json.user_id);
    await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sandbox/chat", messages: [{ role: "user", content: "Hi" }] }),
    });
    const usage: string = await run("usage --by member", environment);
    expect(usage).toMatch(/^MEMBER +EMAIL +REQUESTS/i);
    expect(usage).toMatch(new RegExp(`${key.created_by} +bo@example\\.com +1 `));
  });

  it("commands take the user id that an invitation returned, also after the user joined with another account", async () => {
    const at = `--workspace ${(await run("workspaces list --json", environment))[0].id}`;
    const password = "one password of hers";
    const join = async (email: string, headers: Record<string, string> = {}, own = {}) => {
      const { invitation, user_id: invited } = await run(
        `members add ${email} ${at} --json`,
        environment,
      );
      const body = { token: (invitation.url as string).split("#")[1], ...own };
      const { json } = await call(gateway.url, "POST", "/auth/invitations/accept", {
        body,
        headers,
      });
      return { invited, joined: json.user_id };
    };
    const { joined } = await join("eve@example.com", {}, { password });
    const body = { email: "eve@example.com", password };
    const signedIn = await call(gateway.url, "POST", "/auth/sign-in/email", { body });
    const cookie = signedIn.headers
      .getSetCookie()
      .map((one) => one.split(";")[0])
      .join("; ");
    await run(`members remove ${joined} ${at} --json`, environment);
    const again = await join("eve.adams@example.com", { cookie, origin: gateway.url });
    expect(again.joined).toBe(joined);
    expect(again.invited).not.toBe(joined);
    const set = await run(`members set ${again.invited} --role admin ${at} --json`, environment);
    const removed = await run(`members remove ${again.invited} ${at} --json`, environment);
    expect([set.user_id, set.role, removed.user_id]).toEqual([joined, "admin", joined]);
  });

  it("usage shows names, and can be listed by model for one provider", async () => {
    expect(await run("usage --by workspace", environment)).toMatch(
      /^WORKSPACE +NAME +REQUESTS.*\nws_\w+ +Default +\d+ /,
    );
    expect(await run("usage --by key", environment)).toMatch(/^KEY +NAME +REQUESTS/);
    const of = async (filter: string): Promise<unknown> =>
      (await run(`usage --by model --json ${filter}`, environment)).data;
    const [{ provider }] = (await run("usage --by provider --json", environment)).data;
    expect(await of(`--provider ${provider}`)).toMatchObject([{ model: "sandbox/chat" }]);
    expect(await of("--model sandbox/chat")).toMatchObject([{ model: "sandbox/chat" }]);
    for (const none of ["--provider none", "--model none", "--member none"])
      expect(await of(none)).toEqual([]);
  });

  it("usage --time-zone uses local days, also across a clock change", async () => {
    const of = (options: string) =>
      run(`usage --json --from 2026-10-01 --to 2026-11-01 ${options}`, environment);
    const berlin = { from: "2026-09-30T22:00:00.000Z", to: "2026-10-31T23:00:00.000Z" };
    for (const granularity of ["day", "hour", "total"])
      expect(await of(`--time-zone Europe/Berlin --granularity ${granularity}`)).toMatchObject(
        berlin,
      );
    for (const [options, words] of [
      ["--time-zone Mars/Olympus", "Europe/Berlin"],
      ["--time-zone Europe/Berlin --by tag:team", "tag"],
      ["--time-zone Europe/Berlin --from 2026-02-30", "2026-02-30"],
    ] as const) {
      const refused = await tollgateHere(["usage", ...options.split(" ")], environment);
      expect(refused).toMatchObject({
        stdout: "",
        stderr: expect.stringContaining(words) as string,
      });
      expect(refused.code).not.toBe(0);
    }
  });

  it.each(["usage --key", "requests list --csv --key", "requests list --json --key"])(
    "%s with an unknown key: exit 1 instead of an empty list, as docs/cli.md says",
    async (words) => {
      const { code, stdout, stderr } = await tollgateHere(
        [...words.split(" "), "key_none"],
        environment,
      );
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toBe(
        'tollgate: there is no key "key_none"; npx tollgate keys list shows their ids\n',
      );
    },
  );

  it("providers remove for a provider of the sandbox says that it cannot be changed, and what to do", async () => {
    const { code, stderr } = await tollgateHere(
      ["providers", "remove", "sandbox-openai"],
      environment,
    );
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'tollgate: The provider "sandbox-openai" is the sandbox\'s; it cannot be changed; add one of another id.\n',
    });
  });

  it("--url and TOLLGATE_ADMIN_TOKEN use a remote gateway", async () => {
    const token = readFileSync(join(environment["TOLLGATE_DATA_DIR"]!, "admin-token"), "utf8");
    const elsewhere = {
      TOLLGATE_DATA_DIR: join(temporaryDirectory(), "none"),
      TOLLGATE_ADMIN_TOKEN: token.trim(),
    };
    const list = await run(`workspaces list --json --url ${gateway.url}`, elsewhere, tollgate);
    expect(list).toHaveLength(2);
    const wrong = await tollgateHere(["workspaces", "list", "--url", gateway.url], {
      ...elsewhere,
      TOLLGATE_ADMIN_TOKEN: "another",
    });
    expect(wrong).toMatchObject({ code: 1, stdout: "" });
    expect(wrong.stderr).toContain("Set TOLLGATE_ADMIN_TOKEN to the gateway's token.");
    const gone = await tollgateHere(["usage", "--url", "http://127.0.0.1:1"], elsewhere);
    expect(gone).toMatchObject({ code: 1, stdout: "" });
    expect(gone.stderr).toMatch(
      /^tollgate: no gateway answers at http:\/\/127.0.0.1:1: .* Is it running\?\n$/,
    );
    const secure = gateway.url.replace("http:", "https:");
    const plain = await tollgateHere(["usage", "--url", secure], elsewhere);
    expect(plain).toMatchObject({ code: 1, stdout: "" });
    expect(plain.stderr).toMatch(/^tollgate: no gateway answers at .* by TLS: .*http:\/\/.*\n$/);
  });
});

describe("the request log and the month's bill", () => {
  it("are the same from a running gateway and from the data of a stopped one", async () => {
    const place = await stopping();
    const file = join(place.TOLLGATE_DATA_DIR, "tollgate.yaml");
    writeFileSync(file, "tags: { usage: [team] }\n");
    const environment = {
      ...place,
      TOLLGATE_CONFIG: file,
      TOLLGATE_SANDBOX: "on",
      TOLLGATE_LOG_LEVEL: "warn",
      TOLLGATE_ADMIN_TOKEN: "",
    };
    const gateway = await spawnGateway(environment);
    const ids = [await chat(gateway, "sandbox/chat"), await chat(gateway, "sandbox/none")] as const;
    const { listed, bill } = await looks(environment, ids);
    const missing = await tollgateHere(["requests", "show", "req_none"], environment);
    expect(missing).toMatchObject({ code: 1, stdout: "" });
    expect(missing.stderr).toMatch(/^tollgate: there is no call "req_none" in the request log: /);
    await gateway.stop();
    const alone = await looks(environment, ids);
    expect(alone).toMatchObject({ listed, team: { group_by: "tag:team" } });
    expect(alone.bill).toBe(bill);
  });
});

describe("the commands on the data of a stopped gateway", () => {
  it("give the same results as a running gateway", async () => {
    const environment = {
      TOLLGATE_DATA_DIR: await preparedDataDir(),
      TOLLGATE_SANDBOX: "on",
      DATABASE_URL: "",
    };
    const gateway = await spawnGateway(environment);
    await gateway.kill();
    // The first command starts the database and ends it; if another process holds it, the commands join.
    expect(await run("workspaces list --json", environment)).toHaveLength(1);
    const dataDir = environment.TOLLGATE_DATA_DIR;
    const held = await openDatabase({ dataDir, join: true, log: silentLog });
    onTestFinished(() => held.close());
    const { usage } = await morning(environment);
    expect(usage.data).toEqual([]);
    const refused = await tollgateHere(
      ["members", "set", "bob", "--role", "admin", "--workspace", "night"],
      environment,
    );
    expect(refused).toEqual({
      code: 1,
      stdout: "",
      stderr: 'tollgate: there is no member "bob" in that workspace\n',
    });
  });
});
