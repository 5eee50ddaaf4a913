/** `tollgate catalog` manages the list of models behind the vendors' presets: update it, list its versions, roll back. docs/models.md. */
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { addApiOptions, listAll, apiCommand, withApi, type ApiOptions } from "./api.ts";
import { readEnvironment } from "./environment.ts";
import { UsageError } from "./usage-error.ts";
import { printJson, printTable } from "./print.ts";
import type { Json } from "./remote-api.ts";

interface UpdateOptions extends ApiOptions {
  readonly from: string;
  readonly yes?: boolean;
  readonly all?: boolean;
}

const publicList = "https://models.dev/api.json";

export function addCatalogCommands(catalog: Command): void {
  addApiOptions(
    catalog
      .command("update")
      .description(
        "fetch the current list of models, show the changes, and apply them after a confirmation",
      )
      .option("--from <address or file>", "the list, in the format of models.dev", publicList)
      .option("--yes", "apply the changes without asking")
      .option("--all", "show every change instead of the first of each kind"),
  )
    .addHelpText(
      "after",
      "\nA list with a price that is wrong, half missing, negative or absurd is refused as a whole, by line.\n" +
        "With --json nothing is asked: without --yes it only tells what would change.",
    )
    .action(update);
  addList(catalog.command("list"));
  addRollback(catalog.command("rollback <version>"));
}

async function update(options: UpdateOptions): Promise<void> {
  const text = await read(options.from);
  await withApi(options, async (api) => {
    const body = { source: options.from, list: text };
    const send = (dryRun: boolean): Promise<Json> =>
      api.call({ method: "POST", path: "/catalog", body: { ...body, dry_run: dryRun } });
    if (options.json) return printJson(await send(options.yes !== true));
    const change = await send(true);
    printChange(change, options.all === true);
    if (countOf(change) === 0) return console.log("Nothing changes.");
    if (options.yes !== true && !(await confirmed())) return console.log("Nothing was changed.");
    console.log(`List ${(await send(false)).version} is in force.`);
  });
}

const answerMsMax = 60_000;

/** Reads the list's text from the web or a file. @throws UsageError */
async function read(from: string): Promise<string> {
  try {
    if (!/^https?:\/\//.test(from)) return await readFile(from, "utf8");
    const [{ fetchBy }, { environmentProxies }] = await Promise.all([
      import("../upstream/index.ts"),
      import("./proxies.ts"),
    ]);
    const proxies = environmentProxies(readEnvironment(process.env));
    const response = await fetchBy(proxies, from, AbortSignal.timeout(answerMsMax));
    if (response.ok) return await response.text();
    throw new Error(`it answers ${response.status}`);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`${from} cannot be read: ${why}. Name another place with --from`);
  }
}

const kinds = ["added", "gone", "dearer", "cheaper"] as const;
const countOf = (change: Json): number =>
  change.changed.length + kinds.reduce((sum, kind) => sum + change[kind].length, 0);
const headings = { added: "New", gone: "Gone", dearer: "Dearer", cheaper: "Cheaper" } as const;
const shownMax = 15;

function printChange(change: Json, all: boolean): void {
  for (const kind of kinds) {
    const rows = change[kind] as Json[];
    if (rows.length === 0) continue;
    console.log(`${headings[kind]}: ${rows.length}`);
    const shown = all ? rows : rows.slice(0, shownMax);
    for (const { model, before, after } of shown)
      console.log(
        `  ${model}  ${[before, after]
          .filter((one) => one !== null)
          .map(rates)
          .join("  ->  ")}`,
      );
    if (shown.length < rows.length) console.log(`  and ${rows.length - shown.length} more (--all)`);
  }
  if (change.changed.length > 0) console.log(`Otherwise changed: ${change.changed.length}`);
}

/** Returns a price as `input / output`, followed by its other fields. */
function rates({ input, output, above, ...others }: Json): string {
  const more = Object.entries(others).map(([name, value]) => `${name} ${String(value)}`);
  const tiers = ((above ?? []) as Json[]).map(
    ({ tokens, ...tier }) => `above ${tokens}: ${rates(tier)}`,
  );
  return [`${input} / ${output}`, ...more, ...tiers].join(", ");
}

async function confirmed(): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new UsageError("nobody is there to confirm this: add --yes to take the list over");
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    // Ctrl-C and Ctrl-D end the question and count as no.
    const said = await lines.question("Take it over? [y/N] ").catch(() => console.log());
    return /^y(es)?$/i.test(said?.trim() ?? "");
  } finally {
    lines.close();
  }
}

const addList = (list: Command): Command =>
  apiCommand(list.description("the earlier lists that can be restored; 0 is the shipped one"), {
    ask: () => (api) => listAll(api, "/catalog"),
    show: (rows) =>
      printTable(
        ["version", "in force", "models", "taken over", "source"],
        rows.map((row: Json) => [
          String(row.version),
          row.in_force ? "yes" : "",
          String(row.models),
          row.created_at ?? "",
          row.source,
        ]),
      ),
  });

const addRollback = (rollback: Command): Command =>
  apiCommand(rollback.description("restore an earlier list (0: the shipped one)"), {
    ask(text: string) {
      if (!/^\d{1,9}$/.test(text))
        throw new UsageError(`"${text}" is no version; tollgate catalog list names them`);
      const body = { version: Number(text) };
      return (api) => api.call({ method: "POST", path: "/catalog/rollback", body });
    },
    show(change) {
      printChange(change, false);
      console.log(`List ${change.version} is in force.`);
    },
  });
