/** `tollgate requests`: the request log, and the reasons for a call's result. docs/cli.md. */
import type { Command } from "commander";
import { apiCommand } from "./api.ts";
import { UsageError } from "./usage-error.ts";
import { timeOf, inWorkspaceOf } from "./fields.ts";
import { listCommand, type ListOptions } from "./list-command.ts";
import { printTable } from "./print.ts";
import { RefusedError, isMissing, type Api, type Json } from "./remote-api.ts";
import { requestLines } from "./request-lines.ts";

interface RequestsOptions extends ListOptions {
  readonly workspace?: string;
  readonly key?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly status?: string;
  readonly code?: string;
  readonly tag?: string;
  readonly endUser?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit?: string;
}

export function addRequestCommands(program: Command): void {
  const requests = program
    .command("requests")
    .description("the request log, and why a call failed: list, show");
  addList(requests.command("list"));
  apiCommand(
    requests
      .command("show <id>")
      .description("explain one call or task: its error, the providers asked and why, its price"),
    { ask: (id: string) => (api) => readRequest(api, id), show: (record) => print(record) },
  );
}

function addList(list: Command): void {
  list
    .description("calls and tasks, newest first")
    .option("--workspace <id or name>", "of one workspace only")
    .option("--key <id>", "of one key only")
    .option("--model <id>", "of one model only")
    .option("--provider <id>", "only calls that one provider answered")
    .option(
      "--status <statuses>",
      "succeeded, failed, client_closed, expired or canceled; several separated by commas",
    )
    .option("--code <code>", "only calls with this error code, such as insufficient_balance")
    .option("--tag <name:value>", "only calls with this tag")
    .option("--end-user <id>", "of one end user only")
    .option("--from <time>", "start of the period, included")
    .option("--to <time>", "end of the period, not included (now)")
    .option("--limit <number>", "how many, up to 100 (20)");
  listCommand(list, {
    list(options: RequestsOptions) {
      const fields = {
        key_id: options.key,
        model: options.model,
        provider: options.provider,
        status: options.status,
        error_code: options.code,
        tag: options.tag,
        end_user: options.endUser,
        from: timeOf(options.from, "--from"),
        to: timeOf(options.to, "--to"),
        // CSV has every row and column; view and limit are for pages.
        ...(!options.csv && { view: "list", limit: limitOf(options.limit) }),
      };
      return async (api) => {
        const query = await inWorkspaceOf(api, options.workspace, fields);
        return { path: "/requests", query };
      };
    },
    show: ({ data }) =>
      printTable(
        ["time", "id", "key", "model", "provider", "status", "http", "error", "cost", "ms"],
        (data as Json[]).map((row) =>
          [
            row.created_at,
            row.id,
            row.key_name ?? row.key_id,
            row.model,
            row.provider,
            row.status,
            row.http_status,
            row.error,
            row.cost,
            row.duration_ms,
          ].map((cell) => String(cell ?? "-")),
        ),
      ),
  });
}

const limitMax = 100;

/** @throws UsageError */
function limitOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= limitMax) return text;
  throw new UsageError(`--limit is "${text}"; it takes a number from 1 to ${limitMax}`);
}

async function readRequest(api: Api, id: string): Promise<Json> {
  try {
    return await api.call({ method: "GET", path: `/requests/${encodeURIComponent(id)}` });
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new RefusedError(
      404,
      `there is no call "${id}" in the request log: ${error.message} Its id is the answer's x-request-id. ` +
        "Calls that were refused before their key was known have no row (401).",
    );
  }
}

function print(record: Json): void {
  for (const line of requestLines(record)) console.log(line);
}
