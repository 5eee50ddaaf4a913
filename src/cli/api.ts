/**
 * The management API as commands use it: of the gateway that runs, else the same routes on the database itself.
 * docs/cli.md.
 */
import type { Command } from "commander";
import { visibleValue } from "../base/visible.ts";
import { knownToken, possibleAddresses } from "./address.ts";
import type { Needs } from "./direct-api.ts";
import { readEnvironment, UsageError, type Environment } from "./environment.ts";
import { printJson } from "./print.ts";
import { remoteApi, type Api, type Json } from "./remote-api.ts";

/** The options that every command over the management API has. */
export interface ApiOptions {
  readonly url?: string;
  readonly json?: boolean;
}

/** What a command over the API does with its arguments and options, which come in commander's order. */
interface OverApi<Given extends readonly unknown[]> {
  readonly needs?: Needs;
  /** Checks what was given, and returns what asks the API. `--json` prints what that answers. */
  readonly ask: (...given: Given) => (api: Api) => Promise<Json>;
  /** Prints the answer for people. */
  readonly show: (answer: Json, ...given: Given) => void;
}

/** Makes a command one over the API. */
export const overApi = <Given extends readonly unknown[]>(
  command: Command,
  { needs, ask, show }: OverApi<Given>,
): Command =>
  addApiOptions(command).action(async (...all: unknown[]) => {
    // Last of all commander hands over the command itself.
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
    .option("--url <address>", "the gateway to ask (the one that runs on the data directory)")
    .option("--json", "print JSON");

/** The most that a page may have. */
const pageLimit = "100";

/** Every record of a list, page by page. A list that comes whole takes no limit, so that only one with a second page is given one. */
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
 * Runs a command's work over the API: at `--url`, else of the gateway that runs here, else directly on the database.
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
  // The gateway's own parts take most of a command's time, and a running gateway needs none of them here.
  const { withDirectApi } = await import("./direct-api.ts");
  return withDirectApi(environment, asked, needs);
}

/** Its answers for people: what is in them is printed. */
const readable = (api: Api): Api => ({
  csv: (call) => api.csv(call),
  call: async (call) => visibleValue(await api.call(call)),
  async once(call) {
    const { body, isReplay } = await api.once(call);
    return { body: visibleValue(body), isReplay };
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

/** A gateway that answers here and takes our token; undefined where there is none. */
async function runningApi(environment: Environment): Promise<Api | undefined> {
  const token = knownToken(environment);
  if (token === undefined) return undefined;
  for (const url of possibleAddresses(environment)) {
    const api = remoteApi(url, token);
    try {
      await api.call({ method: "GET", path: "/me" });
      return api;
    } catch {
      // Gone, or another one that took its port since.
    }
  }
  return undefined;
}
