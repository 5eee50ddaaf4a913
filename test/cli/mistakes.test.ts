/** Errors that prevent a start: one line that says what to do, never a stack trace. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkAddresses } from "../../src/cli/doctor/machine.ts";
import { publicAddressProblem, readEnvironment } from "../../src/cli/environment.ts";
import { UsageError } from "../../src/cli/usage-error.ts";
import { misspeltVariables } from "../../src/cli/misspelt-variables.ts";
import { tollgateHere } from "../support/command.ts";
import { startTestGateway } from "../support/gateway.ts";
import { isLong } from "../support/long.ts";
import { preparedDataDir, sharedPostgres } from "../support/postgres.ts";
import { spawnGateway, tollgate, type GatewayProcess } from "../support/process.ts";

let directory: string;
let running: GatewayProcess;
let taken: Server;
let takenPort: string;
let used: string;
/** A data directory that is already set up: making one takes seconds. */
let ready: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "tollgate-mistakes-"));
  used = join(directory, "data");
  ready = join(directory, "ready");
  await preparedDataDir(ready);
  await (await startTestGateway({ environment: { TOLLGATE_DATA_DIR: ready } })).close();
  cpSync(ready, used, { recursive: true });
  running = await spawnGateway({ TOLLGATE_DATA_DIR: used });
  taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const address = taken.address();
  takenPort = String(typeof address === "object" ? address?.port : 0);
});
afterAll(async () => {
  await running.stop();
  taken.close();
  rmSync(directory, { recursive: true, force: true });
});

/** In the long form `serve` and `sandbox` run as processes of their own, with workers; in the short form only if a test requires it. */
const runs = (words: readonly string[]) =>
  isLong && ["serve", "sandbox"].includes(words[0]!) ? tollgate : serveHere;

/** With workers it would start this process again. */
const serveHere: typeof tollgate = (words, environment) =>
  tollgateHere(words, { TOLLGATE_WORKERS: "1", ...environment });

/** Runs a command that must fail with one line and without a stack trace. */
async function failure(
  words: readonly string[],
  environment: Record<string, string>,
  run = runs(words),
): Promise<{ code: number; line: string }> {
  const { code, stdout, stderr } = await run(words, { PORT: "0", ...environment });
  expect(stdout).toBe("");
  expect(stderr).not.toMatch(/\n {4}at |node:internal/);
  return { code, line: stderr.trimEnd() };
}

const ownKey = { TOLLGATE_MASTER_KEY: Buffer.alloc(32, 7).toString("base64") };
const fresh = (): string => mkdtempSync(join(directory, "fresh-"));

describe("the data directory", () => {
  it("ends a start with exit 1 if another gateway uses it, naming that process", async () => {
    const { code, line } = await failure(["serve"], { TOLLGATE_DATA_DIR: used }, tollgate);
    expect(code).toBe(1);
    expect(line).toMatch(
      new RegExp(`^tollgate: The data directory .* is in use by process ${running.child.pid}`),
    );
    expect(line).toContain("DATABASE_URL");
  });

  it.each(["verify", "keys list", "workspaces list", "members list", "credits show", "usage"])(
    "ends %s with exit 2 if no gateway has run on it, and no database is created",
    async (words) => {
      const nowhere = join(directory, "nowhere");
      const { code, line } = await failure(words.split(" "), { TOLLGATE_DATA_DIR: nowhere });
      expect(code).toBe(2);
      expect(line).toMatch(
        /^tollgate: no gateway has run on the data directory .*nowhere: start it once \(npx tollgate\), or name .* DATABASE_URL$/,
      );
      expect(existsSync(nowhere)).toBe(false);
    },
  );

  it("a command with an unknown provider exits with 1, naming it and where ids are listed", async () => {
    for (const words of ["test nope", "pause nope", "resume nope", "remove nope"]) {
      const { code, line } = await failure(["providers", ...words.split(" ")], {
        TOLLGATE_DATA_DIR: used,
      });
      expect(code).toBe(1);
      expect(line).toBe(
        'tollgate: there is no provider "nope"; npx tollgate providers list shows their ids',
      );
    }
  });

  it("ends a start with exit 1 if it is a file", async () => {
    const file = join(directory, "file");
    writeFileSync(file, "");
    const { code, line } = await failure(["serve"], { TOLLGATE_DATA_DIR: file });
    expect(code).toBe(1);
    expect(line).toMatch(
      /^tollgate: The data directory .*file cannot be used: .*file is no directory\. .*TOLLGATE_DATA_DIR/,
    );
  });

  it.skipIf(process.platform !== "linux")(
    "ends a start at once if it is below /proc, with either database",
    async () => {
      const url = await (await sharedPostgres()).createMigrated();
      const environments: Record<string, string>[] = [
        {},
        { DATABASE_URL: url },
        { DATABASE_URL: url, ...ownKey },
      ];
      for (const environment of environments) {
        const { code, line } = await failure(["serve"], {
          TOLLGATE_DATA_DIR: "/proc/tollgate/data",
          ...environment,
        });
        expect(code).toBeGreaterThan(0);
        expect(line).toMatch(/^tollgate: .*\/proc\/tollgate.*TOLLGATE_DATA_DIR[^\n]*$/);
      }
    },
  );

  it.skipIf(process.getuid?.() === 0)(
    "ends a start with exit 1 if it cannot be written to",
    async () => {
      const parent = join(directory, "locked");
      mkdirSync(parent, { mode: 0o500 });
      const { code, line } = await failure(["serve"], { TOLLGATE_DATA_DIR: join(parent, "data") });
      expect(code).toBe(1);
      expect(line).toMatch(/^tollgate: The data directory .* cannot be used: EACCES/);
    },
  );
});

describe("the address to listen on", () => {
  it("ends a start with exit 1 if its port is in use, and the first start's secrets are not lost", async () => {
    const data = await preparedDataDir(fresh());
    const environment = { TOLLGATE_DATA_DIR: data, PORT: takenPort };
    const { code, line } = await failure(["serve"], environment, tollgate);
    expect(code).toBe(1);
    expect(line).toContain(`tollgate: port ${takenPort} on 127.0.0.1 is in use by another program`);
    const started = await spawnGateway({ TOLLGATE_DATA_DIR: data });
    expect(started.banner).toContain("one-time password");
    await started.stop();
  });

  it("ends the sandbox with exit 1 if its port is in use", async () => {
    const { code, line } = await failure(["sandbox", "--port", takenPort], {});
    expect(code).toBe(1);
    expect(line).toContain(`port ${takenPort} on 127.0.0.1 is in use`);
  });

  it.each([
    ["198.51.100.7", "198.51.100.7 is no address of this machine; set HOST or --host"],
    ["fe80::1", "fe80::1 cannot be listened on; a link-local address needs its interface"],
    ["no.such.host.invalid", 'the address "no.such.host.invalid" cannot be listened on'],
  ])("HOST=%s: exit 1", async (host, message) => {
    const { code, line } = await failure(["serve"], { TOLLGATE_DATA_DIR: ready, HOST: host });
    expect(code).toBe(1);
    expect(line).toContain(message);
  });
});

describe("environment variables: exit 2, naming the variable and what it takes", () => {
  it.each([
    ["PORT", "http", "a port from 0 to 65535"],
    ["PORT", "-1", "a port from 0 to 65535"],
    ["TOLLGATE_SANDBOX", "yes", "on, off"],
    ["TOLLGATE_LOG_LEVEL", "loud", "debug, info, warn, error, silent"],
    ["TOLLGATE_PUBLIC_URL", "gateway.example.com", "https://gateway.example.com"],
    ["DATABASE_URL", "localhost/tollgate", "postgres://user:password@host:5432/database"],
    [
      "DATABASE_URL",
      "mysql://root:hunter2@localhost/x",
      "postgres://user:password@host:5432/database",
    ],
    ["DATABASE_URL", '"postgres://root:hunter2@localhost/x"', "database; its quotes are taken"],
  ])("%s=%s", (name, value, takes) => {
    const read = (): unknown => readEnvironment({ [name]: value });
    expect(read).toThrow(UsageError);
    expect(read).toThrow(new RegExp(`^${name} is .*${takes}`));
    expect(read).not.toThrow(/hunter2/);
  });

  it.each([
    "https://host.example/?at=gw",
    "https://host.example/#gw",
    "https://root:hunter2@host.example",
  ])("TOLLGATE_PUBLIC_URL=%s is refused for its query, fragment or credentials", (value) => {
    const read = (): unknown => readEnvironment({ TOLLGATE_PUBLIC_URL: value });
    expect(read).toThrow(UsageError);
    expect(read).toThrow(/^TOLLGATE_PUBLIC_URL has a query.*such as https:/);
    expect(read).not.toThrow(/hunter2/);
  });

  it("TOLLGATE_PUBLIC_URL with a path is accepted, with a warning of what does not work there", async () => {
    for (const [value, words] of [
      ["https://host.example/gw", /console/],
      ["https://host.example/gw/", /console/],
      ["https://host.example//", /^$/],
    ] as const) {
      const environment = readEnvironment({ TOLLGATE_PUBLIC_URL: value });
      expect(environment.publicUrl).toBe(value);
      expect(publicAddressProblem(environment) ?? "").toMatch(words);
    }
    const environment = readEnvironment({ TOLLGATE_PUBLIC_URL: "https://host.example/gw" });
    const [finding] = await checkAddresses(environment);
    expect(finding).toMatchObject({ check: "public address", status: "warning" });
  });

  it.each(["https://Gateway.example.com", "https://gateway.example.com:8443//", "http://[::1]"])(
    "TOLLGATE_PUBLIC_URL=%s is accepted",
    (value) => {
      expect(readEnvironment({ TOLLGATE_PUBLIC_URL: value }).publicUrl).toBe(value);
    },
  );

  it.each(["TOLLGATE_ADMIN_TOKEN", "TOLLGATE_METRICS_TOKEN"])(
    "%s that no header can carry is refused, and not shown",
    (name) => {
      for (const token of ["hunter2 two", " ", "hunter2\n", "hünter2"]) {
        const read = (): unknown => readEnvironment({ [name]: token });
        expect(read).toThrow(UsageError);
        expect(read).toThrow(new RegExp(`^${name} cannot be sent .*openssl rand`));
        expect(read).not.toThrow(/h[uü]nter2/);
      }
      expect(() => readEnvironment({ [name]: "x".repeat(512) })).not.toThrow();
    },
  );

  it("an admin token has at most 512 characters; a metrics token may be longer", () => {
    const token = "x".repeat(513);
    expect(() => readEnvironment({ TOLLGATE_ADMIN_TOKEN: token })).toThrow(/takes at most 512 /);
    expect(readEnvironment({ TOLLGATE_METRICS_TOKEN: token }).metrics.token).toBe(token);
  });

  it("a misspelt variable is reported; variables that Kubernetes sets are not", () => {
    const all = {
      TOLLGATE_WORKES: "2",
      TOLLGATE_TRUSTED_PROXY: "loopback",
      TOLLGATE_MASTER_KEY_FILES: "x",
      TOLLGATE_PORT: "tcp://10.0.0.1:80",
      TOLLGATE_SERVICE_HOST: "10.0.0.1",
      TOLLGATE_WORKERS: "1",
      TOLLGATE_MASTER_KEY_FILE: "y",
      TOLLGATE_HOST: "0.0.0.0",
      TOLLGATE_CONFIG_FILE: "gateway.yaml",
      TOLLGATE_TEAM: "search",
      SOMETHING_ELSE: "z",
    };
    expect(misspeltVariables(all)).toEqual([
      'TOLLGATE_WORKES is not read; did you mean "TOLLGATE_WORKERS"?',
      'TOLLGATE_TRUSTED_PROXY is not read; did you mean "TOLLGATE_TRUSTED_PROXIES"?',
      'TOLLGATE_MASTER_KEY_FILES is not read; did you mean "TOLLGATE_MASTER_KEY_FILE"?',
      'TOLLGATE_HOST is not read; did you mean "HOST"?',
      'TOLLGATE_CONFIG_FILE is not read; did you mean "TOLLGATE_CONFIG"?',
    ]);
  });

  it("every variable that the gateway reads is known to the spelling check", () => {
    const read = readFileSync("src/cli/environment.ts", "utf8").match(/(?<=value\(")TOLLGATE_\w+/g);
    const named = Object.fromEntries(read!.map((name) => [`${name}X`, "1"]));
    expect(misspeltVariables(named)).toHaveLength(new Set(read).size);
  });

  it("a command prints the same in one line", async () => {
    expect(await failure(["serve"], { PORT: "http" }, tollgate)).toEqual({
      code: 2,
      line: 'tollgate: PORT is "http"; it takes a port from 0 to 65535',
    });
    const { code, line } = await failure(["serve"], {
      TOLLGATE_DATA_DIR: ready,
      TOLLGATE_MASTER_KEY: "hunter2",
    });
    expect(code).toBe(2);
    expect(line).toMatch(
      /^tollgate: TOLLGATE_MASTER_KEY is not a master key: it must be 32 bytes in base64/,
    );
    expect(line).not.toContain("hunter2");
    const quoted = await failure(["serve"], {
      TOLLGATE_DATA_DIR: ready,
      TOLLGATE_MASTER_KEY: `"${ownKey.TOLLGATE_MASTER_KEY}"`,
    });
    expect(quoted.line).toMatch(/prints; its quotes are taken as a part of it: leave them out\.$/);
    const address = await failure(["serve"], {
      TOLLGATE_DATA_DIR: ready,
      OPENAI_API_KEY: "sk-1",
      OPENAI_BASE_URL: "'http://127.0.0.1:1'",
    });
    expect(address.code).toBe(2);
    expect(address.line).toMatch(/^tollgate: OPENAI_BASE_URL is not .*leave them out$/);
  });
});

describe("the database", () => {
  it.each([["serve"], ["keys list"]])(
    "%s with an unreachable DATABASE_URL: exit 1, without the password",
    async (words) => {
      const { code, line } = await failure(words.split(" "), {
        TOLLGATE_DATA_DIR: fresh(),
        DATABASE_URL: "postgres://tollgate:hunter2@127.0.0.1:9/books",
      });
      expect(code).toBe(1);
      expect(line).toBe(
        "tollgate: the database 127.0.0.1:9/books of DATABASE_URL cannot be used: connect ECONNREFUSED 127.0.0.1:9; " +
          "check host and port, and that the server runs",
      );
    },
  );

  it("a database that does not exist: the error says to create it", async () => {
    const url = new URL(await (await sharedPostgres()).createMigrated());
    url.pathname = "/no_such_database";
    const { line } = await failure(["keys", "list"], { DATABASE_URL: url.href });
    expect(line).toMatch(/database "no_such_database" does not exist; make the database first/);
  });

  it("a master key that is not the database's: exit 2", async () => {
    const { code, line } = await failure(["serve"], {
      TOLLGATE_DATA_DIR: ready,
      TOLLGATE_MASTER_KEY: Buffer.alloc(32, 1).toString("base64"),
    });
    expect(code).toBe(2);
    expect(line).toContain("The master key is not the one this database was set up with");
  });
});

describe("the configuration file", () => {
  const wrong = `
providers:
  - { id: one, dialect: smoke-signals, base_url: "https://api.example.com", api_key: x, tier: official }
  - { id: one, dialect: openai, base_url: "not a url", api_key: "\${NO_SUCH_VARIABLE}", tier: official }
models:
  - id: acme/talk
    kind: text
    endpoints: [chat_completions]
    offers: [{ provider: nobody, protocol: chat, upstream_model: m, price: { input: "free", output: "1" } }]
colour: blue
`;
  const places = [/smoke-signals/, /not a url/, /NO_SUCH_VARIABLE/, /nobody/, /free/, /colour/];

  it.each([["serve"], ["config check"]])(
    "%s with mistakes: exit 2, with all of them and their lines",
    async (words) => {
      const file = join(fresh(), "tollgate.yaml");
      writeFileSync(file, wrong);
      const { code, line } = await failure([...words.split(" "), "--config", file], {
        TOLLGATE_DATA_DIR: fresh(),
      });
      expect(code).toBe(2);
      for (const place of places) expect(line).toMatch(place);
      const mistakeLines = line.split("\n").filter((one) => /:\d+/.test(one));
      expect(mistakeLines.length).toBeGreaterThanOrEqual(places.length);
    },
  );

  it.each([
    ["missing", (file: string) => file],
    [
      "a directory",
      (file: string) => {
        mkdirSync(file);
        return file;
      },
    ],
    [
      "not YAML",
      (file: string) => {
        writeFileSync(file, "providers: [}");
        return file;
      },
    ],
  ])("%s: exit 2", async (_what, make) => {
    const file = make(join(fresh(), "tollgate.yaml"));
    const { code, line } = await failure(["config", "check"], { TOLLGATE_CONFIG: file });
    expect(code).toBe(2);
    expect(line).toContain("tollgate.yaml");
  });
});
