/** The commands with a running gateway, on the data of a stopped one, and on a server by DATABASE_URL. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDatabase, type Database } from "../../src/storage/index.ts";
import { tollgateHere } from "../support/command.ts";
import { startTestGateway } from "../support/gateway.ts";
import { shortOrLong } from "../support/long.ts";
import {
  preparedDataDir,
  sharedPostgres,
  silentLog,
  type TestPostgres,
} from "../support/postgres.ts";
import { spawnGateway, tollgate, type GatewayProcess } from "../support/process.ts";

interface KeyJson {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly key: string;
  readonly key_last4: string;
  readonly spend_caps: Record<string, unknown>;
  readonly model_allowlist: string[];
  readonly expires_at: string | null;
}

/** Runs a command that must succeed; returns its standard output, parsed if JSON was requested. */
async function run(
  words: string,
  environment: Record<string, string>,
  by = tollgateHere,
): Promise<unknown> {
  const args = words.match(/"[^"]*"|\S+/g)!.map((word) => word.replaceAll('"', ""));
  const { code, stdout, stderr } = await by(args, environment);
  expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: "" });
  return args.includes("--json") ? JSON.parse(stdout) : stdout;
}

const call = async (url: string, key: string): Promise<string> => {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: "sandbox/chat", messages: [{ role: "user", content: "Hi" }] }),
  });
  const { error } = (await response.json()) as { error?: { code: string } };
  return `${response.status} ${error?.code ?? "ok"}`;
};

let directory: string;
let postgres: TestPostgres;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "tollgate-commands-"));
  postgres = await sharedPostgres();
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

// With a DATABASE_URL only the connection differs; in the short form test/cli-admin and test/providers cover it.
describe.each(shortOrLong(["embedded"], ["embedded", "DATABASE_URL"]))(
  "beside a running gateway, %s",
  (kind) => {
    // With the embedded database: separate processes in the long form. In the short form the commands run in this process, which
    // is also another process than the gateway's.
    const by = kind === "embedded" ? shortOrLong(tollgateHere, tollgate) : tollgateHere;
    let environment: Record<string, string>;
    let gateway: GatewayProcess;
    beforeAll(async () => {
      environment = {
        TOLLGATE_DATA_DIR: join(directory, kind),
        TOLLGATE_SANDBOX: "on",
        TOLLGATE_LOG_LEVEL: "warn",
        DATABASE_URL: kind === "embedded" ? "" : await postgres.createDatabase(),
      };
      // test/operation covers a first start that also makes the database.
      if (kind === "embedded") await preparedDataDir(environment["TOLLGATE_DATA_DIR"]);
      gateway = await spawnGateway(environment);
    });
    afterAll(() => gateway.stop());

    it("doctor warns of the first start's printed password while it still works", async () => {
      const found = async () => {
        const { stdout } = await by(["doctor", "--json"], environment);
        const { findings } = JSON.parse(stdout) as { findings: { check: string }[] };
        return findings.filter(({ check }) => check === "administrator");
      };
      expect(await found()).toEqual([
        {
          check: "administrator",
          status: "warning",
          message: "the password that the first start printed still works",
          fix: expect.stringContaining("Account") as string,
        },
      ]);
      const [email, password] = /(\S+@\S+), one-time password (\S+)/.exec(gateway.banner)!.slice(1);
      const post = (path: string, body: object, cookie = "") =>
        fetch(gateway.url + path, {
          method: "POST",
          headers: { "content-type": "application/json", origin: gateway.url, cookie },
          body: JSON.stringify(body),
        });
      const signedIn = await post("/auth/sign-in/email", { email, password });
      const cookie = signedIn.headers.getSetCookie()[0]!.split(";")[0]!;
      const words = { currentPassword: password, newPassword: "a password of my own" };
      expect((await post("/auth/change-password", words, cookie)).status).toBe(200);
      expect(await found()).toEqual([]);
    });

    it("ALLOW-01: keys create with an unknown model succeeds and notes it, with a suggestion", async () => {
      const args = ["keys", "create", "--name", "listed", "--models", "sandbox/chta,nope/nope"];
      const { code, stdout, stderr } = await by(args, environment);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^gw_live_\S+\n\n\S+ "listed" in \S+\n$/);
      expect(stderr).toBe(
        'note: there is no model "sandbox/chta" now: did you mean "sandbox/chat"?\n' +
          'note: there is no model "nope/nope" now: tollgate models lists them\n',
      );
    });

    it("KEY-04 KEY-08 KEY-10 KEY-11 KEY-12: each step of a key's life, from create to revoke, applies to the next call", async () => {
      const made = (await run("keys create --name ci --json", environment, by)) as KeyJson;
      expect(await call(gateway.url, made.key)).toBe("200 ok");
      await run(`keys disable ${made.id}`, environment, by);
      expect(await call(gateway.url, made.key)).toBe("401 api_key_disabled");
      await run(`keys enable ${made.id}`, environment, by);
      expect(await call(gateway.url, made.key)).toBe("200 ok");
      expect(await run(`keys reveal ${made.id}`, environment, by)).toBe(`${made.key}\n`);
      const rotated = (await run(
        `keys rotate ${made.id} --grace-seconds 600 --json`,
        environment,
        by,
      )) as KeyJson;
      expect(rotated).toMatchObject({ id: made.id, name: "ci", status: "active" });
      expect(await call(gateway.url, made.key)).toBe("200 ok");
      expect(await call(gateway.url, rotated.key)).toBe("200 ok");
      const again = (await run(`keys rotate ${made.id} --json`, environment, by)) as KeyJson;
      expect(await call(gateway.url, made.key)).toBe("401 invalid_api_key");
      expect(await call(gateway.url, rotated.key)).toBe("401 api_key_expired");
      expect(await call(gateway.url, again.key)).toBe("200 ok");
      await run(`keys revoke ${made.id}`, environment, by);
      expect(await call(gateway.url, again.key)).toBe("401 api_key_revoked");
      const refused = await by(["keys", "enable", made.id], environment);
      expect(refused).toMatchObject({ code: 1, stdout: "" });
      expect(refused.stderr).toBe("tollgate: The API key is revoked and cannot become active.\n");
      expect(await run("verify", environment, by)).toBe("no difference\n");
    });

    it("credits show has added credit at once; the same reference adds it once", async () => {
      const before = (await run("credits show --json", environment, by)) as { credits: string };
      // The answer of the API as it is, with the workspace that the balance is of.
      expect(before).toMatchObject({ object: "balance", workspace_name: "Default" });
      await run("credits add 2.50 --reference invoice-1 --json", environment, by);
      const again = "credits add 2.50 --reference invoice-1 --json".split(" ");
      const { code, stdout, stderr } = await by(again, environment);
      expect(code).toBe(0);
      expect(stderr).toContain('the reference "invoice-1" counted 2.5 USD before');
      const after = JSON.parse(stdout) as { credits: string };
      expect(Number(after.credits) - Number(before.credits)).toBe(2.5);
    });

    it("vendors, models and catalog list print their lists", async () => {
      const ids = async (words: string) =>
        ((await run(words, environment, by)) as { id: string }[]).map(({ id }) => id);
      expect(await ids("vendors --json")).toContain("openai");
      expect(await ids("models --json")).toContain("sandbox/chat");
      expect(await run("catalog list --json", environment, by)).toMatchObject([
        { version: 0, source: "shipped", in_force: true },
      ]);
    });

    it("migrate has nothing to do", async () => {
      expect(await run("migrate --json", environment, by)).toEqual({ applied: [] });
    });
  },
);

describe("the command line on the data of a stopped gateway", () => {
  let environment: Record<string, string>;
  beforeAll(async () => {
    const dataDir = await preparedDataDir(join(directory, "stopped"));
    environment = { TOLLGATE_DATA_DIR: dataDir, TOLLGATE_SANDBOX: "on" };
    await (await startTestGateway({ environment })).close();
  });

  it("creates a key with all settings and lists it, as a table and as JSON", async () => {
    const made = (await run(
      'keys create --name "night job" --total-cap 25 --daily-cap 1.50 --hard --models "sandbox/chat, acme/talk" --expires 2031-01-31T00:00:00Z --json',
      environment,
    )) as KeyJson;
    expect(made).toMatchObject({
      spend_caps: { total: "25", daily: "1.5", weekly: null, monthly: null, hard: true },
      model_allowlist: ["sandbox/chat", "acme/talk"],
      expires_at: "2031-01-31T00:00:00.000Z",
    });
    const list = (await run("keys list --json", environment)) as KeyJson[];
    expect(list.map(({ name }) => name)).toEqual(["night job", expect.any(String)]);
    expect(JSON.stringify(list)).not.toContain(made.key);
    const table = (await run("keys list", environment)) as string;
    expect(table).toMatch(/^ID +NAME +STATUS +KEY +WORKSPACE +CREATED\n/);
    expect(table).toContain(`...${made.key_last4}`);
    expect(table).not.toContain(made.key);
  });

  describe("while another process holds the data, so that no command starts the database", () => {
    let holder: Database;
    beforeAll(async () => {
      const dataDir = environment["TOLLGATE_DATA_DIR"]!;
      holder = await openDatabase({ dataDir, join: true, log: silentLog });
    });
    afterAll(() => holder.close());

    it.each([
      ["keys rotate key_unknown", 1, 'there is no key "key_unknown"; npx tollgate keys list'],
      [
        "keys create --name x --workspace nowhere",
        1,
        'there is no workspace "nowhere"; npx tollgate workspaces list',
      ],
      [
        "providers add openai",
        2,
        "`api_key` is missing; see https://platform.openai.com/docs/models. Here give it by --key-stdin",
      ],
      ["providers credentials remove nowhere x", 1, 'there is no provider "nowhere"; npx tollgate'],
      ["keys create --name x --daily-cap much", 2, '--daily-cap is "much"; it takes an amount'],
      ["keys create --name x --expires soon", 2, '--expires is "soon"; it takes a time'],
      ["keys rotate key_unknown --grace-seconds 99999999", 2, '--grace-seconds is "99999999"'],
    ])("%s: exit %i", async (words, code, message) => {
      const failed = await tollgateHere(words.split(" "), environment);
      expect(failed).toMatchObject({ code, stdout: "" });
      expect(failed.stderr).toContain(`tollgate: ${message}`);
      expect(failed.stderr.trimEnd().split("\n")).toHaveLength(1);
    });
  });

  it("verify exits with 1 and lists each difference when the ledger was tampered with", async () => {
    expect(await run("verify --json", environment)).toEqual({ differences: [] });
    const database = await openDatabase({
      dataDir: environment["TOLLGATE_DATA_DIR"]!,
      log: silentLog,
    });
    await database.query("update ledger_accounts set credits_nano = credits_nano + 7");
    await database.close();
    const verified = await tollgate(["verify", "--json"], environment);
    expect(verified.code).toBe(1);
    const { differences } = JSON.parse(verified.stdout) as { differences: { what: string }[] };
    expect(differences.map(({ what }) => what)).toContain("account credits");
    const text = await tollgateHere(["verify"], environment);
    expect(text.code).toBe(1);
    expect(text.stdout).toContain("account credits");
  });
});

describe("the command line on an empty database", () => {
  it("migrate creates the schema and prints what it applied; before, other commands create nothing", async () => {
    const environment = {
      DATABASE_URL: await postgres.createDatabase(),
      TOLLGATE_DATA_DIR: join(directory, "none"),
    };
    // Before, other commands create nothing: the database may be another program's.
    for (const words of ["keys list", "verify", "credits show", "rotate-master-key"])
      expect(await tollgateHere(words.split(" "), environment)).toMatchObject({
        code: 2,
        stdout: "",
        stderr: expect.stringContaining("no gateway has run on the database of DATABASE_URL"),
      });
    expect((await tollgateHere(["vendors"], environment)).code).toBe(0);
    // Nothing is wrong before the first start.
    const doctor = await tollgateHere(["doctor"], environment);
    expect(doctor).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ok +master key: none yet: the first start makes it$/m),
    });
    const { applied } = (await run("migrate --json", environment)) as { applied: string[] };
    expect(applied.slice(0, 2)).toEqual(["baseline", "0042_master_keys.sql"]);
    expect(await run("migrate", environment)).toBe("the schema is up to date\n");
    expect(await run("keys list --json", environment)).toEqual([]);
  });

  it("a schema older than the baseline is refused in one line, and doctor says how to upgrade it", async () => {
    const url = await postgres.createMigrated();
    const database = await openDatabase({ url, log: silentLog });
    await database.query("delete from schema_migrations where name like '0041%'");
    await database.close();
    const environment = { DATABASE_URL: url, TOLLGATE_DATA_DIR: join(directory, "older") };
    const problem =
      "The database's schema is too old for this version: it lacks 0041_request_tags.sql. Nothing was changed.";
    const fix = /^Start Tollgate at commit \w{7} on it once \(or run its "tollgate migrate"\)/;
    for (const words of ["migrate", "keys list"]) {
      const refused = await tollgateHere(words.split(" "), environment);
      expect(refused).toMatchObject({ code: 1, stdout: "" });
      expect(refused.stderr).toMatch(/^[^\n]+\n$/);
      expect(refused.stderr).toContain(`tollgate: ${problem} Start Tollgate at commit`);
    }
    const { stdout } = await tollgateHere(["doctor", "--json"], environment);
    const { findings } = JSON.parse(stdout) as { findings: { check: string }[] };
    const schema = findings.find(({ check }) => check === "schema");
    expect(schema).toMatchObject({ status: "failed", message: problem });
    expect(schema).toMatchObject({ fix: expect.stringMatching(fix) as string });
  });
});

describe("tollgate config", () => {
  it("schema prints a JSON Schema, print masks secrets in YAML and JSON, and check finds no mistake", async () => {
    const environment = {
      OPENAI_API_KEY: "sk-openai-0123456789abcdef",
      TOLLGATE_CONFIG: "",
      TOLLGATE_DATA_DIR: join(directory, "none"),
    };
    expect(JSON.parse((await run("config schema", environment)) as string)).toMatchObject({
      type: "object",
    });
    expect(await run("config schema --json", environment)).toMatchObject({ type: "object" });
    const yaml = (await run("config print", environment)) as string;
    expect(yaml).toContain("id: openai");
    expect(yaml).not.toContain("0123456789");
    const json = (await run("config print --json", environment)) as { providers: { id: string }[] };
    expect(json.providers.map(({ id }) => id)).toContain("openai");
    expect(await run("config check --json", environment)).toEqual({ mistakes: [], warnings: [] });
  });
});
