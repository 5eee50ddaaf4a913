/** Commands that print a list of the management API: a table for people, JSON for programs, CSV for spreadsheets. docs/cli.md. */
import type { Command } from "commander";
import { dayMs } from "../base/durations.ts";
import { addApiOptions, withApi, type ApiOptions } from "./api.ts";
import { UsageError } from "./usage-error.ts";
import { printJson } from "./print.ts";
import type { Api, Json } from "./remote-api.ts";
import { writeOut } from "./standard-output.ts";

/** Options of a list that can also be printed as CSV. */
export interface ListOptions extends ApiOptions {
  readonly csv?: boolean;
}

/** The request for a list. */
interface ListRequest {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

/** A command that prints a list. */
interface ListCommand<Options extends ListOptions> {
  /** Checks the options, and returns a function that builds the request. */
  readonly list: (options: Options) => (api: Api) => Promise<ListRequest>;
  readonly show: (answer: Json, options: Options) => void;
}

const daysDefault = 30;

/** CSV covers a period; the default is the last 30 days. */
function withPeriod(query: ListRequest["query"]): ListRequest["query"] {
  const to = query["to"] ?? new Date().toISOString();
  const from = query["from"] ?? new Date(Date.parse(to) - daysDefault * dayMs).toISOString();
  return { ...query, from, to };
}

/** Turns a command into one that prints a list of the API: a table, JSON, or the API's CSV. */
export const listCommand = <Options extends ListOptions>(
  command: Command,
  { list, show }: ListCommand<Options>,
): Command =>
  addApiOptions(command)
    .option("--csv", "print CSV, with every column and up to 100,000 rows")
    .action(async (options: Options) => {
      if (options.csv && options.json) throw new UsageError("name one of --csv and --json");
      const listing = list(options);
      await withApi(options, async (api) => {
        const { path, query } = await listing(api);
        if (options.csv) {
          const rows = await api.csv({ method: "GET", path, query: withPeriod(query) });
          return writeOut(rows);
        }
        const answer = await api.call({ method: "GET", path, query });
        if (options.json) printJson(answer);
        else show(answer, options);
      });
    });
