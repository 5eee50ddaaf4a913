/** `tollgate usage`: requests, tokens and cost, by period and by what used them. docs/cli.md. */
import type { Command } from "commander";
import { granularities, usageGroups } from "../base/management.ts";
import { defined, timeOf, wordOf, workspaceOf } from "./fields.ts";
import { overList, type ListOptions } from "./over-list.ts";
import { printTable } from "./print.ts";
import type { Json } from "./remote-api.ts";

interface UsageOptions extends ListOptions {
  readonly from?: string;
  readonly to?: string;
  readonly granularity: string;
  readonly by?: string;
  readonly workspace?: string;
  readonly key?: string;
  readonly tag?: string;
}

/** Makes the command. */
export function addUsageCommand(program: Command): void {
  const command = program
    .command("usage")
    .description("what was used and what it cost; costs are the ledger's charges")
    .option("--from <time>", "the first moment that counts (30 days before the end)")
    .option("--to <time>", "the first moment that does not (now)")
    .option("--granularity <period>", granularities.join(", "), "total")
    .option("--by <group>", `rows by ${usageGroups.join(", ")}, or tag:NAME`)
    .option("--tag <name:value>", "of calls with this tag only")
    .option("--workspace <id or name>", "of one workspace only")
    .option("--key <id>", "of one key only");
  overList(command, {
    list(options: UsageOptions) {
      const fields = {
        from: timeOf(options.from, "--from"),
        to: timeOf(options.to, "--to"),
        granularity: wordOf(options.granularity, "--granularity", granularities),
        group_by: options.by === undefined ? undefined : groupOf(options.by),
        key_id: options.key,
        tag: options.tag,
      };
      return async (api) => {
        const { workspace } = options;
        const workspace_id =
          workspace === undefined ? undefined : await workspaceOf(api, workspace);
        const query = defined({ ...fields, workspace_id }) as Record<string, string>;
        return { path: "/usage", query };
      };
    },
    show: ({ data }, options: UsageOptions) =>
      print(data as Json[], { withStart: options.granularity !== "total", by: options.by }),
  });
}

const tagGroup = /^tag:.+$/;

/** A group of usage, or a tag, by whose name the API knows whether it is summed. @throws UsageError */
const groupOf = (by: string): string => (tagGroup.test(by) ? by : wordOf(by, "--by", usageGroups));

function print(rows: Json[], { withStart, by }: { withStart: boolean; by: string | undefined }) {
  const isId = by === "key" || by === "member" || by === "workspace";
  const group = isId ? `${by}_id` : (by ?? "").replace(/^tag:.*/, "tag");
  const emails = by === "member" ? [["email", "member_email"] as const] : [];
  const columns = [
    ...(withStart ? [["start", "start"] as const] : []),
    ...(by === undefined ? [] : [[by, group] as const]),
    ...emails,
    ["requests", "requests"] as const,
    ["input", "input_tokens"] as const,
    ["cached", "cache_read_tokens"] as const,
    ["output", "output_tokens"] as const,
    ["images", "output_images"] as const,
    ["video seconds", "output_video_seconds"] as const,
    ["cost", "cost"] as const,
  ];
  printTable(
    columns.map(([title]) => title),
    rows.map((row) =>
      columns.map(([, name]) =>
        name === "tag" && row["untagged"] ? "(untagged)" : String(row[name] ?? "-"),
      ),
    ),
  );
}
