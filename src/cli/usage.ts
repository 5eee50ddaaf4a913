/** `tollgate usage`: requests, tokens and cost, by period and by group. docs/cli.md. */
import type { Command } from "commander";
import { granularities, usageGroups } from "../base/management.ts";
import { isTimeZone } from "../base/time-zones.ts";
import { UsageError } from "./usage-error.ts";
import { timeOf, wordOf, inWorkspaceOf } from "./fields.ts";
import { listCommand, type ListOptions } from "./list-command.ts";
import { printTable } from "./print.ts";
import type { Json } from "./remote-api.ts";

interface UsageOptions extends ListOptions {
  readonly from?: string;
  readonly to?: string;
  readonly granularity: string;
  readonly by?: string;
  readonly workspace?: string;
  readonly key?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly member?: string;
  readonly tag?: string;
  readonly timeZone?: string;
}

export function addUsageCommand(program: Command): void {
  const command = program
    .command("usage")
    .description("usage and its cost; costs are the ledger's charges")
    .option("--from <time>", "start of the period, included (30 days before the end)")
    .option("--to <time>", "end of the period, not included (now)")
    .option("--granularity <period>", granularities.join(", "), "total")
    .option("--by <group>", `rows by ${usageGroups.join(", ")}, or tag:NAME`)
    .option("--tag <name:value>", "only calls with this tag")
    .option("--workspace <id or name>", "of one workspace only")
    .option("--key <id>", "of one key only")
    .option("--member <id>", "of one member's keys only")
    .option("--model <id>", "of one model only")
    .option("--provider <id>", "only calls that one provider answered")
    .option("--time-zone <name>", "the time zone of days and months, such as Europe/Berlin (UTC)");
  listCommand(command, {
    list(options: UsageOptions) {
      const timeZone = zoneOf(options.timeZone);
      const granularity = wordOf(options.granularity, "--granularity", granularities);
      // Hours and totals are the same in every time zone. Sums by tags support none: the API refuses the time zone with an error.
      const isOfPlace = granularity === "day" || granularity === "month" || isByTag(options);
      const fields = {
        from: timeOf(options.from, "--from", timeZone),
        to: timeOf(options.to, "--to", timeZone),
        granularity,
        group_by: options.by === undefined ? undefined : groupOf(options.by),
        key_id: options.key,
        member_id: options.member,
        model: options.model,
        provider: options.provider,
        tag: options.tag,
        ...(isOfPlace && { time_zone: timeZone }),
      };
      return async (api) => {
        const query = await inWorkspaceOf(api, options.workspace, fields);
        return { path: "/usage", query };
      };
    },
    show: ({ data }, options: UsageOptions) =>
      print(data as Json[], { withStart: options.granularity !== "total", by: options.by }),
  });
}

const tagGroup = /^tag:.+$/;
const isByTag = ({ by, tag }: UsageOptions): boolean =>
  tag !== undefined || (by !== undefined && tagGroup.test(by));

/** Checks a time zone's name. @throws UsageError */
function zoneOf(name: string | undefined): string | undefined {
  if (name === undefined || isTimeZone(name)) return name;
  throw new UsageError(`--time-zone is "${name}"; it takes a name such as Europe/Berlin`);
}

/** Returns the group to sum by. Whether a tag is summed is checked by the API. @throws UsageError */
const groupOf = (by: string): string =>
  tagGroup.test(by) ? by : wordOf(by, "--by", [...usageGroups, "tag:NAME"]);

/** For groups whose rows have ids: the title and the field of the column with the readable name. */
const names: Readonly<Record<string, readonly [title: string, field: string]>> = {
  key: ["name", "key_name"],
  member: ["email", "member_email"],
  workspace: ["name", "workspace_name"],
};

/** Counts that only some models have; shown as columns if a row has more than 0. */
const particulars: readonly (readonly [title: string, field: string])[] = [
  ["cache writes", "cache_write_tokens"],
  ["for an hour", "cache_write_1h_tokens"],
  ["reasoning", "reasoning_tokens"],
  ["sound in", "audio_input_tokens"],
  ["sound cached", "audio_cache_read_tokens"],
  ["sound out", "audio_output_tokens"],
  ["images in", "input_images"],
  ["image tokens in", "image_input_tokens"],
  ["image tokens out", "image_output_tokens"],
  ["video tokens", "output_video_tokens"],
  ["searches", "web_searches"],
  ["answers with searches", "web_search_answers"],
  ["file searches", "file_searches"],
  ["map searches", "map_searches"],
  ["answers with maps", "map_answers"],
  ["attachment searches", "attachment_searches"],
  ["code runs", "code_runs"],
  ["X posts", "x_posts"],
  ["X profiles", "x_profiles"],
  ["image tool: text in", "image_tool_text_tokens"],
  ["image tool: images in", "image_tool_image_tokens"],
  ["image tool: out", "image_tool_output_tokens"],
];

function print(rows: Json[], { withStart, by }: { withStart: boolean; by: string | undefined }) {
  const named = names[by ?? ""];
  const group = named === undefined ? (by ?? "").replace(/^tag:.*/, "tag") : `${by}_id`;
  const columns = [
    ...(withStart ? [["start", "start"] as const] : []),
    ...(by === undefined ? [] : [[by, group] as const]),
    ...(named === undefined ? [] : [named]),
    ["requests", "requests"] as const,
    ["input", "input_tokens"] as const,
    ["cached", "cache_read_tokens"] as const,
    ["output", "output_tokens"] as const,
    ["images", "output_images"] as const,
    ["video seconds", "output_video_seconds"] as const,
    ...particulars.filter(([, name]) => rows.some((row) => Number(row[name]) > 0)),
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
