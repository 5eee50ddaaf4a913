/** Secrets in files: `NAME_FILE` and systemd's credentials count as the variable. Errors name the variable, never the content. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readEnvironment } from "../../src/cli/environment.ts";
import { UsageError } from "../../src/cli/usage-error.ts";
import { isSecretVariable } from "../../src/base/secret-variables.ts";
import { temporaryDirectory } from "../support/postgres.ts";
import { tollgate } from "../support/process.ts";

const folder = temporaryDirectory();
let count = 0;

/** Writes a new file with this content; returns its path. */
function fileOf(content: string | Buffer): string {
  const path = join(folder, `secret-${(count += 1)}`);
  writeFileSync(path, content);
  return path;
}

const reasonOf = (variables: Record<string, string>): string => {
  try {
    readEnvironment(variables);
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return (error as Error).message;
  }
  throw new Error("it was accepted");
};

it("every secret variable can be read from a file; one line end is removed", () => {
  const url = "postgres://tollgate:sesame@db.internal/tollgate";
  const environment = readEnvironment({
    DATABASE_URL_FILE: fileOf(`${url}\n`),
    DATABASE_READ_URL_FILE: fileOf(`${url}2\n`),
    TOLLGATE_MASTER_KEY_FILE: fileOf("bWFzdGVy\r\n"),
    TOLLGATE_ADMIN_TOKEN_FILE: fileOf("admin"),
    TOLLGATE_METRICS_TOKEN_FILE: fileOf("metrics\n"),
    HTTPS_PROXY_FILE: fileOf("http://user:password@proxy:3128\n"),
    OPENAI_API_KEY_FILE: fileOf("sk-one\n\n"),
    HOUSE_PASSWORD_FILE: fileOf("two words\n"),
    AWS_WEB_IDENTITY_TOKEN_FILE: "/var/run/not-there",
    AWS_SHARED_CREDENTIALS_FILE: "/var/run/not-there",
    MY_LOG_FILE: "/var/log/not-there",
    TOLLGATE_CONFIG: "",
  });
  expect([
    environment.databaseUrl,
    environment.databaseReadUrl,
    environment.masterKey,
    environment.adminToken,
    environment.metrics.token,
  ]).toEqual([url, `${url}2`, "bWFzdGVy", "admin", "metrics"]);
  const { variables } = environment;
  expect([variables["HTTPS_PROXY"], variables["HOUSE_PASSWORD"]]).toEqual([
    "http://user:password@proxy:3128",
    "two words",
  ]);
  // One line end is the editor's; the other one is part of the value.
  expect(variables["OPENAI_API_KEY"]).toBe("sk-one\n");
});

it("the variable of every vendor counts as a secret that can be read from a file", () => {
  const lines = readFileSync(new URL("../../catalog/vendors.jsonl", import.meta.url), "utf8");
  const names = [...lines.matchAll(/"variables":\[([^\]]*)\]/g)].flatMap(
    ([, list]) => JSON.parse(`[${list}]`) as string[],
  );
  expect(names.length).toBeGreaterThan(100);
  expect(names.filter((name) => !isSecretVariable(name))).toEqual([]);
  expect(["TOLLGATE_CONFIG", "TOLLGATE_LOG", "PORT"].filter(isSecretVariable)).toEqual([]);
});

it("systemd's credentials count as the variables of the same name", () => {
  const directory = join(folder, "credentials");
  mkdirSync(directory);
  writeFileSync(join(directory, "TOLLGATE_MASTER_KEY"), "from systemd\n");
  writeFileSync(join(directory, "HOUSE_PIN"), "1234");
  writeFileSync(join(directory, "something-else"), "\0");
  const variables = { CREDENTIALS_DIRECTORY: directory };
  expect(readEnvironment(variables).masterKey).toBe("from systemd");
  expect(readEnvironment(variables).variables["HOUSE_PIN"]).toBe("1234");
  expect(reasonOf({ ...variables, TOLLGATE_MASTER_KEY: "another" })).toBe(
    "TOLLGATE_MASTER_KEY and the credential TOLLGATE_MASTER_KEY are both set; leave one of them out",
  );
  expect(reasonOf({ ...variables, TOLLGATE_MASTER_KEY_FILE: fileOf("a third") })).toBe(
    "TOLLGATE_MASTER_KEY_FILE and the credential TOLLGATE_MASTER_KEY are both set; leave one of them out",
  );
  expect(reasonOf({ CREDENTIALS_DIRECTORY: join(folder, "nowhere") })).toMatch(
    /^CREDENTIALS_DIRECTORY: .*nowhere does not exist$/,
  );
});

it("a secret that is set twice or whose file is unusable is refused by name, without its content", () => {
  const path = fileOf("sesame");
  expect(reasonOf({ DATABASE_URL: "postgres://a/b", DATABASE_URL_FILE: path })).toBe(
    "DATABASE_URL and DATABASE_URL_FILE are both set; leave one of them out",
  );
  expect(readEnvironment({ DATABASE_URL: "", OPENAI_API_KEY_FILE: path }).variables).toMatchObject({
    OPENAI_API_KEY: "sesame",
  });
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  for (const [file, reason] of [
    [join(folder, "absent"), "does not exist"],
    [folder, "is no file"],
    ["/dev/zero", "is no file"],
    [pipe, "is no file"],
    [fileOf("x".repeat(65_537)), "is larger than 64 kB: it is no secret"],
    [fileOf(Buffer.of(0, 1, 2)), "is no text"],
    [fileOf("\n"), "is empty"],
  ] as const)
    expect(reasonOf({ OPENAI_API_KEY_FILE: file })).toBe(`OPENAI_API_KEY_FILE: ${file} ${reason}`);
  // A file's content is checked like the variable, and errors name the variable: a wrong URL is not repeated.
  expect(reasonOf({ DATABASE_URL_FILE: fileOf("sesame://db") })).toMatch(/^DATABASE_URL is not a/);
});

it("commands report an unusable secret file in one line, and the configuration reads the same variables", async () => {
  const wrong = await tollgate(["doctor"], { TOLLGATE_MASTER_KEY_FILE: join(folder, "absent") });
  expect(wrong).toEqual({
    code: 2,
    stdout: "",
    stderr: `tollgate: TOLLGATE_MASTER_KEY_FILE: ${join(folder, "absent")} does not exist\n`,
  });
  const config = join(folder, "tollgate.yaml");
  writeFileSync(
    config,
    "providers:\n  - { id: house, dialect: openai, base_url: 'https://h.example/v1', api_key: '${HOUSE_KEY}' }\n",
  );
  const right = await tollgate(["config", "print", "--config", config], {
    HOUSE_KEY_FILE: fileOf("sk-very-secret\n"),
  });
  expect(right.code).toBe(0);
  expect(right.stdout).toContain("api_key: ${HOUSE_KEY}");
  expect(right.stdout + right.stderr).not.toContain("sk-very");
});
