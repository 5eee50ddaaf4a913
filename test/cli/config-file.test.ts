/** A configuration file with a wrong or similar name: the error is one line that names the right one. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { unreadFiles } from "../../src/cli/config-file.ts";
import { tollgateHere } from "../support/command.ts";
import { temporaryDirectory } from "../support/postgres.ts";
import { tollgate } from "../support/process.ts";

const directory = temporaryDirectory();
const empty = { TOLLGATE_CONFIG: "" };

beforeAll(() => {
  mkdirSync(join(directory, "folder"));
  writeFileSync(join(directory, "gateway.yaml"), "providers: []\n");
  writeFileSync(join(directory, "wrong.yaml"), "providers: []\ncolour: blue\n");
});

it.each([
  [
    "gatway.yaml",
    /^tollgate: there is no configuration file .*gatway\.yaml; did you mean "gateway\.yaml"\?\n$/,
  ],
  [
    "other.conf",
    /other\.conf; correct the name, or begin with what tollgate config example prints\n$/,
  ],
  ["nowhere/gateway.yaml", /nowhere\/gateway\.yaml: its directory does not exist\n$/],
  ["folder", /folder is a directory; name the configuration file in it\n$/],
])("%s as a configuration file: exit 2, with the full path and what to do", async (name, line) => {
  const path = join(directory, name);
  const named = await tollgateHere(["config", "check", path], empty);
  expect(named).toMatchObject({ code: 2, stdout: "" });
  expect(named.stderr).toMatch(line);
  for (const words of [
    ["check", "--config", path],
    ["print", path],
  ])
    expect(await tollgateHere(["config", ...words], empty)).toEqual(named);
  expect(await tollgateHere(["config", "check"], { TOLLGATE_CONFIG: path })).toEqual(named);
});

it("config check and print take the file with or without --config, but not two files", async () => {
  const good = join(directory, "gateway.yaml");
  expect(await tollgateHere(["config", "check", good], empty)).toEqual({
    code: 0,
    stdout: `${good}: 0 providers, 0 models, no mistake\n`,
    stderr: "",
  });
  expect((await tollgateHere(["config", "print", good], empty)).stdout).toContain("providers: []");
  const wrong = await tollgateHere(["config", "check", join(directory, "wrong.yaml")], empty);
  expect(wrong).toMatchObject({ code: 2 });
  expect(wrong.stderr).toContain("wrong.yaml:2:1 colour: unknown key");
  const two = await tollgateHere(["config", "check", good, "--config", "other.yaml"], empty);
  expect(two).toMatchObject({ code: 2 });
  expect(two.stderr).toBe(`tollgate: two files are named: ${good} and other.yaml\n`);
});

it("a file that is not UTF-8 is refused where it matters: a name or a key would be read as another", async () => {
  const path = join(directory, "latin1.yaml");
  const text =
    "# Gr\u00f6\u00dfe\nproviders:\n  - id: a\n    dialect: openai\n" +
    "    base_url: https://api.example.com/v1\n    api_key: none\n    tier: community\n    request: { add: { user: S\u00fcd } }\n";
  writeFileSync(path, Buffer.from(text, "latin1"));
  const { code, stderr } = await tollgateHere(["config", "check", path], empty);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr:
      "the configuration has one mistake:\n" +
      "latin1.yaml:8:29 providers[0].request.add.user: has characters that are not UTF-8; save the file as UTF-8\n",
  });
});

it("a file in UTF-16, such as PowerShell writes, is read like any other", async () => {
  const text = Buffer.from("\ufeffproviders: []\nmodels: []\n# Größe\n", "utf16le");
  for (const [name, bytes] of [
    ["le.yaml", text],
    ["be.yaml", Buffer.from(text).swap16()],
    ["cut.yaml", Buffer.concat([text, Buffer.of(0x0d)])],
  ] as const) {
    const path = join(directory, name);
    writeFileSync(path, bytes);
    expect(await tollgateHere(["config", "check", path], empty)).toEqual({
      code: 0,
      stdout: `${path}: 0 providers, 0 models, no mistake\n`,
      stderr: "",
    });
  }
});

it("check and doctor warn of prices that match no model or lack a rate that the catalog has", async () => {
  const path = join(directory, "prices.yaml");
  writeFileSync(
    path,
    'prices: { openai/gpt-4o: { input: "2", output: "9" }, openai/gpt-4: { input: "2" } }\n',
  );
  const keys = { ...empty, OPENAI_API_KEY: "k" };
  const checked = await tollgateHere(["config", "check", path], keys);
  expect(checked).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("no mistake") as string,
  });
  expect(checked.stderr.split("\n")).toEqual([
    expect.stringMatching(/^tollgate: warning: prices .* fit no model .*: openai\/gpt-4$/),
    expect.stringMatching(/^tollgate: warning: prices .* no cache_read: .*: openai\/gpt-4o$/),
    "",
  ]);
  const { stdout } = await tollgateHere(["config", "check", path, "--json"], keys);
  const json: unknown = JSON.parse(stdout);
  expect(json).toMatchObject({
    mistakes: [],
    warnings: [{ models: ["openai/gpt-4"] }, { models: ["openai/gpt-4o"] }],
  });
  const told = await tollgateHere(["doctor", "--config", path], {
    ...keys,
    OPENAI_BASE_URL: "http://127.0.0.1:9/v1",
    TOLLGATE_DATA_DIR: join(directory, "data"),
  });
  expect(told.stdout).toMatch(/^warning +prices: openai\/gpt-4o: .*no cache_read/m);
});

it("check and doctor warn of an offer that a model lists twice", async () => {
  const path = join(directory, "twice.yaml");
  const offer = (model: string) =>
    `{ provider: a, protocol: chat, upstream_model: ${model}, price: { input: "1", output: "2" } }`;
  const model = (id: string, offers: readonly string[]) =>
    `  - { id: ${id}, kind: text, context_length: 9000, max_output_tokens: 100, endpoints: [chat_completions], offers: [${offers.join(", ")}] }`;
  writeFileSync(
    path,
    [
      'providers: [{ id: a, dialect: openai-compatible, base_url: "http://127.0.0.1:9/v1", api_key: k }]',
      "models:",
      model("acme/twice", [offer("up"), offer("other"), offer("up")]),
      model("acme/once", [offer("up"), offer("other")]),
    ].join("\n"),
  );
  const checked = await tollgateHere(["config", "check", path], empty);
  expect(checked).toMatchObject({
    code: 0,
    stdout: `${path}: 1 provider, 2 models, no mistake\n`,
    stderr: expect.stringMatching(
      /^tollgate: warning: an offer .* is listed twice, .* remove one of them.*: acme\/twice\n$/,
    ) as string,
  });
  const told = await tollgateHere(["doctor", "--config", path], {
    ...empty,
    TOLLGATE_DATA_DIR: join(directory, "data"),
  });
  expect(told.stdout).toMatch(/^warning +offers: acme\/twice: .*is listed twice/m);
});

it("check and doctor warn of a later price that ends hours or tiers", async () => {
  const path = join(directory, "later.yaml");
  const price = 'price: { input: "1", output: "2" }';
  const hours = `price_hours: [{ hours_utc: ["01:00-02:00"], ${price} }]`;
  const tiers = `price_above: { input_tokens: 9, ${price} }`;
  const model = (id: string, first: string, later: string) =>
    `  - { id: ${id}, kind: text, context_length: 9000, max_output_tokens: 100, endpoints: [chat_completions], offers: [
        { provider: a, protocol: chat, upstream_model: up, ${price}, ${first}, later_prices: [{ from: 2027-01-01, ${price}${later} }] }] }`;
  writeFileSync(
    path,
    [
      'providers: [{ id: a, dialect: openai-compatible, base_url: "http://127.0.0.1:9/v1", api_key: k }]',
      "models:",
      model("acme/hours", hours, ""),
      model("acme/tiers", tiers, ""),
      model("acme/kept", hours, `, ${hours}`),
      model("acme/kept-tiers", tiers, `, ${tiers}`),
    ].join("\n"),
  );
  const checked = await tollgateHere(["config", "check", path], empty);
  expect(checked).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(
      /^tollgate: warning: a later price .* no price_hours, .*: acme\/hours\ntollgate: warning: a later price .* no tiers, .*: acme\/tiers\n$/,
    ) as string,
  });
  const told = await tollgateHere(["doctor", "--config", path], {
    ...empty,
    TOLLGATE_DATA_DIR: join(directory, "data"),
  });
  expect(told.stdout).toMatch(/^warning +offers: acme\/hours: a later price .*no price_hours/m);
  expect(told.stdout).toMatch(/^warning +offers: acme\/tiers: a later price .*no tiers/m);
});

it("check, doctor and the start's log report a tollgate.yml that is not read", async () => {
  const beside = join(directory, "beside");
  mkdirSync(beside);
  const file = join(beside, "tollgate.yml");
  writeFileSync(file, "providers: []\n");
  const told = `${file} is not read: the file is called tollgate.yaml, unless TOLLGATE_CONFIG names another`;
  expect(unreadFiles({ configPath: undefined }, beside)).toEqual([told]);
  expect(unreadFiles({ configPath: "x.yaml" }, beside)).toEqual([]);
  const environment = { ...empty, TOLLGATE_DATA_DIR: join(directory, "data") };
  const checked = await tollgate(["config", "check"], environment, beside);
  expect(checked).toMatchObject({ code: 0, stderr: `tollgate: ${told}\n` });
  const { stdout } = await tollgate(["doctor", "--json"], environment, beside);
  expect((JSON.parse(stdout) as { findings: unknown[] }).findings).toContainEqual({
    check: "configuration",
    status: "warning",
    message: told,
    fix: "rename the file, or set TOLLGATE_CONFIG",
  });
  const nobody = { ...environment, DATABASE_URL: "postgres://tollgate@127.0.0.1:9/books" };
  expect((await tollgate(["serve"], nobody, beside)).stderr).toContain(`"msg":"${told}"`);
  writeFileSync(join(beside, "tollgate.yaml"), "providers: []\n");
  expect(unreadFiles({ configPath: undefined }, beside)).toEqual([]);
});
