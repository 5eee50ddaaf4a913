/** `tollgate providers`: list, add, change, remove, test, pause, resume, credentials. docs/models.md "Side by side". */
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { addApiOptions, listAll, withApi, type ApiOptions } from "./api.ts";
import { readEnvironment, UsageError } from "./environment.ts";
import { defined, timeOf } from "./fields.ts";
import { printJson, printTable } from "./print.ts";
import type { Api, Json } from "./remote-api.ts";

interface SettingOptions extends ApiOptions {
  readonly dialect?: string;
  readonly baseUrl?: string;
  readonly tier?: string;
  readonly from?: string;
  readonly keyStdin?: boolean;
  readonly test?: boolean;
}

interface AddOptions extends SettingOptions {
  readonly vendor?: string;
}

const needsSecrets = { secrets: true };

/** Adds the sub-commands to `providers`. */
export function addProviderCommands(providers: Command): void {
  addApiOptions(
    providers.command("list").description("every provider, where it is from and how it is doing"),
  ).action(list);
  addApiOptions(
    settingOptions(
      providers
        .command("add <id>")
        .description("add a provider: a vendor by its name, or any other by its address")
        .option("--vendor <vendor>", "the vendor, where the id is another name"),
    ),
  )
    .addHelpText(
      "after",
      "\nExamples:\n" +
        "  echo $KEY | tollgate providers add mistral --key-stdin --test\n" +
        "  tollgate providers add acme --from acme.yaml\n\n" +
        "A vendor of `tollgate vendors` brings its models and prices. The file of --from is a configuration file: the\n" +
        "provider of this id is taken, with its models; ${NAME} is looked up here. The key is stored encrypted and never shown.",
    )
    .action(add);
  addApiOptions(
    settingOptions(
      providers
        .command("change <id>")
        .description("change a provider that was added; what is not named stays"),
    ),
  ).action(change);
  addApiOptions(
    providers
      .command("remove <id>")
      .description("remove a provider that was added; calls under way end"),
  ).action(remove);
  addApiOptions(
    providers
      .command("test <id>")
      .description("ask a provider for a few tokens; exit 1 where it does not answer")
      .option("--model <id>", "the model to ask (the cheapest)")
      .option("--credential <id>", "the credential to ask with (the first)"),
  ).action(test);
  addApiOptions(
    providers
      .command("pause <id>")
      .description("send a provider no new calls for a while, whatever it is from")
      .option("--until <time>", "when it goes on, at most seven days from now (in an hour)"),
  ).action(pause);
  addApiOptions(
    providers.command("resume <id>").description("send a paused provider calls again"),
  ).action(resume);
  addCredentialCommands(
    providers.command("credentials").description("keys that share a provider's load: add, remove"),
  );
}

const settingOptions = (command: Command): Command =>
  command
    .option("--key-stdin", "read the vendor's key from standard input")
    .option("--dialect <dialect>", "how it is spoken to, where it is no known vendor")
    .option("--base-url <address>", "its address with its version segment")
    .option("--tier <tier>", "official, partner or community")
    .option("--from <file>", "take its settings and models from a configuration file")
    .option("--test", "then ask it for a few tokens");

function addCredentialCommands(credentials: Command): void {
  addApiOptions(
    credentials
      .command("add <provider> <id>")
      .description("add a key, read from standard input")
      .option("--weight <number>", "its share of the load", "1"),
  ).action(addKey);
  addApiOptions(
    credentials
      .command("remove <provider> <id>")
      .description("remove a key; calls under way keep it"),
  ).action(removeKey);
}

const pathOf = (id: string, rest = ""): string => `/providers/${encodeURIComponent(id)}${rest}`;

const list = (options: ApiOptions): Promise<void> =>
  withApi(
    options,
    async (api) => {
      const rows = await listAll(api, "/providers");
      if (options.json) return printJson(rows);
      printTable(
        ["provider", "source", "state", "models", "credentials", "address"],
        rows.map((row: Json) => [
          row.id,
          row.source_line === null ? row.source : `${row.source}, line ${row.source_line}`,
          stateOf(row),
          String(row.models.length),
          row.credentials.map(({ id }: Json) => id).join(", "),
          row.base_url,
        ]),
      );
    },
    needsSecrets,
  );

const stateOf = ({ paused_until: paused, health }: Json): string =>
  paused === null ? (health?.state ?? "not known here") : `paused until ${paused}`;

/** The key on standard input. @throws UsageError */
async function keyFromStdin(): Promise<string> {
  if (process.stdin.isTTY) console.error("Type the key, then Enter and Ctrl-D:");
  const key = (await text(process.stdin)).trim();
  if (key === "" || /\s/.test(key))
    throw new UsageError("standard input is to hold the key and nothing else");
  return key;
}

/** What the options say of a provider. @throws UsageError */
async function settingsOf(id: string, options: SettingOptions): Promise<object> {
  const named = { dialect: options.dialect, base_url: options.baseUrl, tier: options.tier };
  const api_key = options.keyStdin ? await keyFromStdin() : undefined;
  return { ...(await rowOf(id, options.from)), ...defined({ ...named, api_key }) };
}

/** The provider in a configuration file. @throws UsageError */
async function rowOf(id: string, file: string | undefined): Promise<object> {
  if (file === undefined) return {};
  // Most of the time that loading takes, and only this needs it.
  const { formatMistakes, providerRows } = await import("../catalog/index.ts");
  const content = await readFile(file, "utf8").catch((error: unknown) => {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  });
  const found = providerRows(content, id, {
    environment: readEnvironment(process.env).variables,
    file,
  });
  if ("mistakes" in found) throw new UsageError(formatMistakes(found.mistakes));
  if (found.row === undefined) throw new UsageError(`there is no provider "${id}" in ${file}`);
  return found.row;
}

const add = (id: string, options: AddOptions): Promise<void> =>
  withApi(
    options,
    async (api) => {
      const settings = await settingsOf(id, options);
      const isOther = "dialect" in settings;
      const vendor = options.vendor ?? (isOther ? undefined : id);
      const body = defined({ ...settings, id, vendor });
      const made = await api.call({ method: "POST", path: "/providers", body });
      await shown(api, made, options, "was added");
    },
    needsSecrets,
  );

const change = (id: string, options: SettingOptions): Promise<void> =>
  withApi(
    options,
    async (api) => {
      const { id: _same, ...body } = (await settingsOf(id, options)) as Json;
      const changed = await api.call({ method: "PATCH", path: pathOf(id), body });
      await shown(api, changed, options, "was changed");
    },
    needsSecrets,
  );

/** Prints the provider, and the test where one is wanted. */
async function shown(api: Api, row: Json, options: SettingOptions, what: string): Promise<void> {
  const trial = options.test ? await api.call(trialOf(row.id, {})) : undefined;
  if (options.json) printJson(trial === undefined ? row : { ...row, test: trial });
  else {
    console.log(`${row.id} ${what}`);
    if (trial) printTrial(row.id, trial);
  }
  if (trial?.ok === false) process.exitCode = 1;
}

const trialOf = (id: string, body: object) =>
  ({ method: "POST", path: pathOf(id, "/test"), body }) as const;

function printTrial(id: string, trial: Json): void {
  const status = trial.status === null ? "" : `, status ${trial.status}`;
  const result = trial.ok ? "answers" : "does not answer";
  console.log(`${id} ${result} (${trial.model}, ${trial.duration_ms} ms${status})`);
  if (!trial.ok) console.log(trial.message);
}

const remove = (id: string, options: ApiOptions): Promise<void> =>
  withApi(
    options,
    async (api) => {
      const removed = await api.call({ method: "DELETE", path: pathOf(id) });
      if (options.json) printJson(removed);
      else console.log(`${id} was removed`);
    },
    needsSecrets,
  );

const test = (
  id: string,
  options: ApiOptions & { readonly model?: string; readonly credential?: string },
): Promise<void> =>
  withApi(
    options,
    async (api) => {
      const { model, credential } = options;
      const trial = await api.call(trialOf(id, defined({ model, credential })));
      if (options.json) printJson(trial);
      else printTrial(id, trial);
      if (!trial.ok) process.exitCode = 1;
    },
    needsSecrets,
  );

const pause = (id: string, options: ApiOptions & { readonly until?: string }): Promise<void> =>
  withApi(
    options,
    async (api) => {
      const body = defined({ until: timeOf(options.until, "--until") });
      const row = await api.call({ method: "POST", path: pathOf(id, "/pause"), body });
      if (options.json) printJson(row);
      else console.log(`${id} is paused until ${row.paused_until}`);
    },
    needsSecrets,
  );

const resume = (id: string, options: ApiOptions): Promise<void> =>
  withApi(
    options,
    async (api) => {
      const row = await api.call({ method: "POST", path: pathOf(id, "/resume"), body: {} });
      if (options.json) printJson(row);
      else console.log(`${id} gets calls again`);
    },
    needsSecrets,
  );

const addKey = (
  provider: string,
  id: string,
  options: ApiOptions & { readonly weight: string },
): Promise<void> =>
  withApi(
    options,
    async (api) => {
      const weight = Number(options.weight);
      if (!(weight > 0)) throw new UsageError(`--weight is "${options.weight}"; it takes a number`);
      const body = { id, api_key: await keyFromStdin(), weight };
      const path = pathOf(provider, "/credentials");
      const row = await api.call({ method: "POST", path, body });
      if (options.json) printJson(row);
      else console.log(`${provider} has the credential ${id}`);
    },
    needsSecrets,
  );

const removeKey = (provider: string, id: string, options: ApiOptions): Promise<void> =>
  withApi(
    options,
    async (api) => {
      const path = pathOf(provider, `/credentials/${encodeURIComponent(id)}`);
      const row = await api.call({ method: "DELETE", path });
      if (options.json) printJson(row);
      else console.log(`${provider} no longer has the credential ${id}`);
    },
    needsSecrets,
  );
