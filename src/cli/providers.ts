/** `tollgate providers`: list, add, change, remove, test, pause, resume, credentials. docs/models.md "Side by side". */
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { defined } from "../base/defined.ts";
import { listAll, apiCommand, type ApiOptions } from "./api.ts";
import { readEnvironment } from "./environment.ts";
import { UsageError } from "./usage-error.ts";
import { changesOf, timeOf } from "./fields.ts";
import { printTable } from "./print.ts";
import { RefusedError, type Api, type Json } from "./remote-api.ts";

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

const needs = { secrets: true };

const pathOf = (id: string, rest = ""): string => `/providers/${encodeURIComponent(id)}${rest}`;

export function addProviderCommands(providers: Command): void {
  addList(providers.command("list"));
  addSettingCommands(providers);
  addTest(providers.command("test <id>"));
  addPauses(providers);
  addCredentialCommands(
    providers.command("credentials").description("keys that share a provider's load: add, remove"),
  );
}

function addList(list: Command): void {
  apiCommand(list.description("every provider, with its source and health"), {
    needs,
    ask: () => (api) => listAll(api, "/providers"),
    show: (rows) =>
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
      ),
  });
}

const stateOf = ({ paused_until: paused, health }: Json): string =>
  paused === null ? (health?.state ?? "not known here") : `paused until ${paused}`;

const settingOptions = (command: Command): Command =>
  command
    .option("--key-stdin", "read the vendor's key from standard input")
    .option("--dialect <dialect>", "the dialect of its API, if it is not a known vendor")
    .option("--base-url <address>", "its address including the version segment")
    .option("--tier <tier>", "official, partner or community")
    .option("--from <file>", "take its settings and models from a configuration file")
    .option("--test", "then test it with a call for a few tokens");

function addSettingCommands(providers: Command): void {
  const add = providers
    .command("add <id>")
    .description("add a provider: a vendor by its name, or any other by its address")
    .option("--vendor <vendor>", "the vendor, if the id is a different name");
  apiCommand(settingOptions(add), {
    needs,
    ask: (id: string, options: AddOptions) => async (api) => {
      const settings = await settingsOf(id, options);
      const isOther = "dialect" in settings;
      const vendor = options.vendor ?? (isOther ? undefined : id);
      const body = defined({ ...settings, id, vendor });
      const added = withKeyHint(id, api.call({ method: "POST", path: "/providers", body }));
      return tested(api, await added, options);
    },
    show: (row) => printTested(row, "was added"),
  }).addHelpText(
    "after",
    "\nExamples:\n" +
      "  echo $KEY | tollgate providers add mistral --key-stdin --test\n" +
      "  tollgate providers add acme --from acme.yaml\n\n" +
      "A vendor of `tollgate vendors` brings its models and prices. The file of --from is a configuration file: the\n" +
      "provider of this id is taken, with its models; ${NAME} is looked up here. The key is stored encrypted and never shown.",
  );
  const change = providers
    .command("change <id>")
    .description("change an added provider; other settings stay");
  apiCommand(settingOptions(change), {
    needs,
    ask(id: string, options: SettingOptions) {
      const { url: _url, json: _json, ...named } = options;
      changesOf(named, "--tier official");
      return async (api) => {
        const { id: _same, ...body } = (await settingsOf(id, options)) as Json;
        const changed = withNotFoundHint(id, api.call({ method: "PATCH", path: pathOf(id), body }));
        return tested(api, await changed, options);
      };
    },
    show: (row) => printTested(row, "was changed"),
  });
  const remove = providers
    .command("remove <id>")
    .description("remove an added provider; calls in flight complete");
  apiCommand(remove, {
    needs,
    ask: (id: string) => (api) =>
      withNotFoundHint(id, api.call({ method: "DELETE", path: pathOf(id) })),
    show: (_removed, id: string) => console.log(`${id} was removed`),
  });
}

/** Explains how to give a missing key on the command line. @throws RefusedError which says so */
async function withKeyHint(id: string, asked: Promise<Json>): Promise<Json> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith("`api_key` is missing")) throw error;
    const how = `give it by --key-stdin, such as: echo $KEY | npx tollgate providers add ${id} --key-stdin`;
    throw new RefusedError(400, `${error.message} Here ${how}`);
  }
}

/** Awaits the API's answer about one provider. @throws RefusedError which names it where there is none */
async function withNotFoundHint(id: string, asked: Promise<Json>): Promise<Json> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof Error) || error.message !== "No such provider.") throw error;
    const why = `there is no provider "${id}"; npx tollgate providers list shows their ids`;
    throw new RefusedError(404, why);
  }
}

/** Reads the key from standard input. @throws UsageError */
async function keyFromStdin(): Promise<string> {
  if (process.stdin.isTTY) console.error("Type the key, then Enter and Ctrl-D:");
  const key = (await text(process.stdin)).trim();
  if (key === "" || /\s/.test(key))
    throw new UsageError("standard input is to hold the key and nothing else");
  return key;
}

/** Returns the provider's settings from the options. @throws UsageError */
async function settingsOf(id: string, options: SettingOptions): Promise<object> {
  const named = { dialect: options.dialect, base_url: options.baseUrl, tier: options.tier };
  const api_key = options.keyStdin ? await keyFromStdin() : undefined;
  return { ...(await rowOf(id, options.from)), ...defined({ ...named, api_key }) };
}

/** Returns the provider's entry in a configuration file. @throws UsageError, RefusedError where it has none of that id */
async function rowOf(id: string, file: string | undefined): Promise<object> {
  if (file === undefined) return {};
  // Imported late: loading it is slow, and only this function needs it.
  const { formatMistakes, providerRows } = await import("../catalog/index.ts");
  const content = await readFile(file, "utf8").catch((error: unknown) => {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  });
  const found = providerRows(content, id, {
    environment: readEnvironment(process.env).variables,
    file,
  });
  if ("mistakes" in found) throw new UsageError(formatMistakes(found.mistakes));
  if (found.row === undefined)
    throw new RefusedError(404, `there is no provider "${id}" in ${file}`);
  return found.row;
}

/** Asks a provider for a few tokens; the command fails if it does not answer. */
async function testProvider(api: Api, id: string, body: object): Promise<Json> {
  const trial = await withNotFoundHint(
    id,
    api.call({ method: "POST", path: pathOf(id, "/test"), body }),
  );
  if (!trial.ok) process.exitCode = 1;
  return trial;
}

/** Returns the provider, with the result of a test if one was requested. */
const tested = async (api: Api, row: Json, { test }: SettingOptions): Promise<Json> =>
  test ? { ...row, test: await testProvider(api, row.id, {}) } : row;

function printTested(row: Json, what: string): void {
  console.log(`${row.id} ${what}`);
  if (row.test) printTrial(row.test, row.id);
}

function printTrial(trial: Json, id: string): void {
  const status = trial.status === null ? "" : `, status ${trial.status}`;
  const result = trial.ok ? "answers" : "does not answer";
  console.log(`${id} ${result} (${trial.model}, ${trial.duration_ms} ms${status})`);
  if (!trial.ok) console.log(trial.message);
}

interface TestOptions extends ApiOptions {
  readonly model?: string;
  readonly credential?: string;
}

const addTest = (test: Command): Command =>
  apiCommand(
    test
      .description("test a provider with a call for a few tokens; exit 1 if it does not answer")
      .option("--model <id>", "the model to test (the cheapest)")
      .option("--credential <id>", "the credential to test (the first)"),
    {
      needs,
      ask:
        (id: string, { model, credential }: TestOptions) =>
        (api) =>
          testProvider(api, id, defined({ model, credential })),
      show: (trial, id: string) => printTrial(trial, id),
    },
  );

function addPauses(providers: Command): void {
  const pause = providers
    .command("pause <id>")
    .description("send a provider no new calls for a while; works for every provider")
    .option("--until <time>", "when calls resume, at most seven days from now (in an hour)");
  apiCommand(pause, {
    needs,
    ask(id: string, options: ApiOptions & { readonly until?: string }) {
      const body = defined({ until: timeOf(options.until, "--until") });
      return (api) =>
        withNotFoundHint(id, api.call({ method: "POST", path: pathOf(id, "/pause"), body }));
    },
    show: (row, id: string) => console.log(`${id} is paused until ${row.paused_until}`),
  });
  apiCommand(providers.command("resume <id>").description("send a paused provider calls again"), {
    needs,
    ask: (id: string) => (api) =>
      withNotFoundHint(id, api.call({ method: "POST", path: pathOf(id, "/resume"), body: {} })),
    show: (_row, id: string) => console.log(`${id} gets calls again`),
  });
}

function addCredentialCommands(credentials: Command): void {
  const add = credentials
    .command("add <provider> <id>")
    .description("add a key, read from standard input")
    .option("--weight <number>", "its share of the load", "1");
  apiCommand(add, {
    needs,
    ask(provider: string, id: string, options: ApiOptions & { readonly weight: string }) {
      const weight = Number(options.weight);
      if (!(weight > 0))
        throw new UsageError(`--weight is "${options.weight}"; it takes a number above 0`);
      return async (api) => {
        const body = { id, api_key: await keyFromStdin(), weight };
        const path = pathOf(provider, "/credentials");
        return withNotFoundHint(provider, api.call({ method: "POST", path, body }));
      };
    },
    show: (_row, provider: string, id: string) =>
      console.log(`${provider} has the credential ${id}`),
  });
  const remove = credentials
    .command("remove <provider> <id>")
    .description("remove a key; calls in flight continue to use it");
  apiCommand(remove, {
    needs,
    ask: (provider: string, id: string) => (api) => {
      const path = pathOf(provider, `/credentials/${encodeURIComponent(id)}`);
      return withNotFoundHint(provider, api.call({ method: "DELETE", path }));
    },
    show: (_row, provider: string, id: string) =>
      console.log(`${provider} no longer has the credential ${id}`),
  });
}
