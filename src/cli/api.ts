/** The management API for commands: of the running gateway, else the same routes directly on the database. docs/cli.md. */
import type { Command } from "commander";
import { printableValue } from "../base/printable.ts";
import { knownToken, possibleAddresses } from "./address.ts";
import type { Needs } from "./direct-api.ts";
import { readEnvironment, type Environment } from "./environment.ts";
import { UsageError } from "./usage-error.ts";
import { printJson } from "./print.ts";
import { remoteApi, type Api, type Json } from "./remote-api.ts";

/** The options that every command over the management API has. */
export interface ApiOptions {
  readonly url?: string;
  readonly json?: boolean;
}

/** A command over the API. Its functions get the arguments and options in commander's order. */
interface ApiCommand<Given extends readonly unknown[]> {
  readonly needs?: Needs;
  /** Checks the input, and returns the function that calls the API. `--json` prints its result. */
  readonly ask: (...given: Given) => (api: Api) => Promise<Json>;
  /** Prints the answer for people. */
  readonly show: (answer: Json, ...given: Given) => void;
}

/** Turns a command into one over the API. */
export const apiCommand = <Given extends readonly unknown[]>(
  command: Command,
  { needs, ask, show }: ApiCommand<Given>,
): Command =>
  addApiOptions(command).action(async (...all: unknown[]) => {
    // Commander passes the command itself as the last argument.
    const given = all.slice(0, -1) as unknown as Given;
    const options = given.at(-1) as ApiOptions;
    const asking = ask(...given);
    const work = async (api: Api): Promise<void> => {
      const answer = await asking(api);
      if (options.json) printJson(answer);
      else show(answer, ...given);
    };
    await withApi(options, work, needs);
  });

export const addApiOptions = (command: Command): Command =>
  command
    .option("--url <address>", "the gateway to ask (the one that uses the data directory)")
    .option("--json", "print JSON");

/** The API's largest page size. */
const pageLimit = "100";

/** Returns every record of a list, page by page. Sends no limit with the first page: lists without pages refuse one. */
export async function listAll(
  api: Api,
  path: string,
  query: Readonly<Record<string, string>> = {},
): Promise<Json[]> {
  const records: Json[] = [];
  let cursor: string | null = null;
  do {
    const page: Json = await api.call({
      method: "GET",
      path,
      query: { ...query, ...(cursor !== null && { cursor, limit: pageLimit }) },
    });
    records.push(...(page.data as Json[]));
    cursor = page.next_cursor as string | null;
  } while (cursor !== null);
  return records;
}

/**
 * Runs a command's work over the API: at `--url`, else on the gateway that runs here, else directly on the database.
 * @throws UsageError, RefusedError, and what opening the database throws
 */
export async function withApi(
  options: ApiOptions,
  work: (api: Api) => Promise<void>,
  needs: Needs = {},
): Promise<void> {
  const environment = readEnvironment(process.env);
  const asked = (api: Api): Promise<void> => work(options.json ? api : readable(api));
  const running =
    options.url === undefined
      ? await runningApi(environment)
      : named(options.url, knownToken(environment));
  if (running) return asked(running);
  // Importing the gateway's parts takes most of a command's time. With a running gateway none are needed.
  const { withDirectApi } = await import("./direct-api.ts");
  return withDirectApi(environment, asked, needs);
}

/** Wraps an API so that invisible characters in its answers are shown; for output to people. */
const readable = (api: Api): Api => ({
  csv: (call) => api.csv(call),
  call: async (call) => printableValue(await api.call(call)),
  async once(call) {
    const { body, isReplay } = await api.once(call);
    return { body: printableValue(body), isReplay };
  },
});

function named(url: string, token: string | undefined): Api {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new UsageError(`--url is "${url}"; it takes an address such as http://127.0.0.1:8080`);
  if (token === undefined)
    throw new UsageError(
      "no token for the gateway: set TOLLGATE_ADMIN_TOKEN, or TOLLGATE_DATA_DIR to its data directory",
    );
  return remoteApi(url, token);
}

/** Returns a gateway that answers here and accepts our token; undefined if there is none. */
async function runningApi(environment: Environment): Promise<Api | undefined> {
  const token = knownToken(environment);
  if (token === undefined) return undefined;
  for (const url of possibleAddresses(environment)) {
    const api = remoteApi(url, token);
    try {
      await api.call({ method: "GET", path: "/me" });
      return api;
    } catch {
      // The gateway has stopped, or another server uses its port now.
    }
  }
  return undefined;
}
