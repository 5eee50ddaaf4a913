/** `tollgate erase`: erases personal data of an end user, or of a person with an account. docs/data.md "Erasing a person". */
import type { Command } from "commander";
import { apiCommand, type ApiOptions } from "./api.ts";
import { UsageError } from "./usage-error.ts";
import { workspaceOf } from "./fields.ts";
import type { Api, Json } from "./remote-api.ts";

interface EraseOptions extends ApiOptions {
  readonly workspace?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

type Counts = Record<string, number>;

/** Repeats the request until everything is erased, and sums the counts. Data of finished requests stays erased if a later one fails. */
async function eraseAll(api: Api, body: object): Promise<Json> {
  const erased: Counts = {};
  let last: Json;
  do {
    const { continue: continuation } = (last ?? {}) as { continue?: string };
    last = await api.call({
      method: "POST",
      path: "/erasures",
      body: { ...body, ...(continuation && { continue: continuation }) },
    });
    for (const [name, count] of Object.entries(last.erased as Counts))
      erased[name] = (erased[name] ?? 0) + count;
  } while (last.continue !== null);
  return { ...last, erased };
}

function printErased({ dry_run: dryRun, token, erased, not_reached: notReached }: Json): void {
  const counts = Object.entries(erased as Counts).filter(([, count]) => count > 0);
  const said = counts.map(([name, count]) => `${name.replaceAll("_", " ")}: ${count}`);
  console.log(
    `${dryRun ? "would be erased" : "erased"}: ${said.join(", ") || "nothing was found"}`,
  );
  if (dryRun) return;
  console.log(`in their place stands ${token}`);
  if (erased.tasks_under_way > 0)
    console.log("tasks are under way: run it again when they have ended");
  console.log(`not reached: ${(notReached as string[]).join("; ")}`);
}

function bodyOf(options: EraseOptions): { readonly dry_run: boolean } {
  if (!options.dryRun && !options.yes)
    throw new UsageError("nothing brings it back: look with --dry-run, then say --yes");
  return { dry_run: options.dryRun === true };
}

export function addEraseCommands(erase: Command): void {
  const common = (command: Command): Command =>
    command
      .option("--dry-run", "print the counts, and change nothing")
      .option("--yes", "erase; this cannot be undone");
  apiCommand(
    common(
      erase
        .command("end-user <id>")
        .description("erase the stored data of an end user's calls, by the id that callers send")
        .option("--workspace <name>", "only in this workspace, by id or name (all)"),
    ),
    {
      ask(endUser: string, options: EraseOptions) {
        const body = { ...bodyOf(options), end_user: endUser };
        return async (api) => {
          const { workspace } = options;
          if (workspace === undefined) return eraseAll(api, body);
          return eraseAll(api, { ...body, workspace_id: await workspaceOf(api, workspace) });
        };
      },
      show: (answer) => printErased(answer),
    },
  );
  apiCommand(
    common(
      erase
        .command("person <user>")
        .description("erase a person with an account, by e-mail address or user id"),
    ),
    {
      ask(person: string, options: EraseOptions) {
        const body = { ...bodyOf(options), person };
        return (api) => eraseAll(api, body);
      },
      show: (answer) => printErased(answer),
    },
  );
}
