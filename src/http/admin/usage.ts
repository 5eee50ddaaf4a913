/** Usage and its cost, over the management API. docs/management.md. */
import { dayMs, hourMs } from "../../base/durations.ts";
import { Type } from "../../base/json-schema.ts";
import { visibilityOf } from "../../admin/index.ts";
import { GatewayError, invalidValue } from "../../base/errors.ts";
import { granularities, usageGroups, type UsageGroup } from "../../base/management.ts";
import {
  fewCountNames,
  mainCountNames,
  otherCountNames,
  readUsageBy,
  usageColumns,
  usageRowsMax,
  type AlsoBy,
  type CountName,
  type UsageFilter,
} from "../../usage/index.ts";
import { oneOf, orNull, timestamp, usd } from "../shapes/schema.ts";
import { requestStatuses } from "./request-filters.ts";
import { route } from "./route.ts";
import {
  filterText,
  fullListSchema,
  strict,
  periodOf,
  periodQuery,
  fullList,
  words,
} from "./schemas.ts";
import { byDays, groupOf, tagFilterPattern, tagGroupPattern } from "./usage-tags.ts";
import { zoneDaysMax, zoneOf, zoneParam, zoneQuery } from "./usage-zone.ts";

const daysDefault = 30;

const group = (description: string) => Type.Optional(orNull(Type.String({ description })));

const times = (what: string) =>
  orNull(
    Type.Object(
      { p50: Type.Integer(), p95: Type.Integer() },
      { description: `${what}: median and 95th percentile in milliseconds, within 12 %.` },
    ),
  );

/** The meaning of each count, for comparison with a vendor's invoice. */
const countMeanings: Readonly<Record<CountName, string>> = {
  input_tokens: "All input tokens of texts and images, including cached ones.",
  cache_read_tokens: "Part of `input_tokens`: read from a prompt cache.",
  cache_write_tokens: "Part of `input_tokens`: written to a prompt cache.",
  output_tokens: "All output tokens of texts and images, including reasoning.",
  reasoning_tokens: "Part of `output_tokens`: reasoning.",
  output_images: "Images made by models with a price for each.",
  output_video_seconds: "Seconds of video, to the microsecond.",
  output_video_tokens: "Video tokens of models with a price for them.",
  cache_write_1h_tokens: "Part of `cache_write_tokens`: cached for an hour.",
  audio_input_tokens: "Part of `input_tokens`: audio.",
  audio_cache_read_tokens:
    "Part of `audio_input_tokens` and `cache_read_tokens`: audio read from a cache.",
  audio_output_tokens: "Part of `output_tokens`: audio.",
  image_input_tokens: "Part of `input_tokens`: images.",
  image_output_tokens: "Part of `output_tokens`: images.",
  input_images: "Input images of models with a price for each.",
  web_searches: "Web searches that ran at the vendor.",
  web_search_answers: "Answers for which the vendor searched the web, however often.",
  image_tool_text_tokens: "Input text tokens of the vendor's own image tool.",
  image_tool_image_tokens: "Input image tokens of the vendor's own image tool.",
  image_tool_output_tokens: "Output tokens of the vendor's own image tool.",
  file_searches: "Searches in files that the vendor keeps.",
  map_searches: "Searches in Google Maps that ran at the vendor.",
  map_answers: "Answers for which the vendor searched Google Maps, however often.",
  attachment_searches: "Searches in the files of a request.",
  code_runs: "Runs of code at vendors that report them.",
  x_posts: "Posts that searches in X fetched.",
  x_profiles: "Profiles that searches in X fetched.",
};
const counts = Object.fromEntries(
  Object.entries(countMeanings).map(([name, description]) => [name, Type.Number({ description })]),
);

const row = Type.Object({
  start: timestamp("The start of the row's period; `from` if there is only one period."),
  model: group(
    "With `group_by=model`. null: refused before a model was chosen, or no longer known.",
  ),
  key_id: group("With `group_by=key`."),
  key_name: group("With `group_by=key`: its name."),
  key_last4: group(
    "With `group_by=key`: the end of its value, because several keys can have the same name.",
  ),
  provider: group("With `group_by=provider`. null: no provider answered."),
  member_id: group("With `group_by=member`: the owner of the key."),
  member_email: group(
    "With `group_by=member`: their e-mail address. null: keys of the admin token.",
  ),
  workspace_id: group("With `group_by=workspace`."),
  workspace_name: group("With `group_by=workspace`: its name."),
  protocol: group("With `group_by=protocol`: the callers' protocol."),
  status: group("With `group_by=status`."),
  error_code: group("With `group_by=error_code`. null: no error."),
  tag: group(
    "With `group_by=tag:<name>`: its value. `other` also counts values beyond 1,000 a day. null: none.",
  ),
  untagged: Type.Optional(
    Type.Boolean({
      description: "With `group_by=tag:<name>`: true for the row of the calls without the tag.",
    }),
  ),
  other: Type.Optional(
    Type.Boolean({
      description:
        "With `top`: true for the row of all groups beyond the first few, whose name is null.",
    }),
  ),
  requests: Type.Integer({ description: "Calls and tasks, including failed ones." }),
  errors: Type.Integer({ description: "Calls and tasks that failed or expired." }),
  client_closed: Type.Integer({ description: "Calls whose caller disconnected." }),
  ...counts,
  duration: times("From the call to the end of its answer"),
  first_token: times("From the call to the first token of a stream"),
  cost: usd("The charges of the ledger in the period."),
});

/** A row of `also`: its group and the few sums, without the counts that no table needs. */
const fewCounts: readonly string[] = fewCountNames;
const { duration: _duration, first_token: _firstToken, ...sums } = row.properties;
const shortRow = Type.Object(
  Object.fromEntries(
    Object.entries(sums).filter(([name]) => !(name in countMeanings) || fewCounts.includes(name)),
  ),
);

/** Filters with one value each: only calls that match all of them count. */
const filters = {
  workspace_id: filterText,
  key_id: filterText,
  member_id: filterText,
  model: filterText,
  provider: filterText,
  protocol: filterText,
  // An unknown status is refused: an empty answer would look as if nothing had failed.
  status: Type.Optional(words(...requestStatuses)),
};
const filterNames = Object.keys(filters) as (keyof typeof filters)[];

const oneGroup = `(?:${usageGroups.join("|")})`;

/** Splits a list of groups at its commas; each group once. */
const groupsIn = (list: string | undefined): readonly UsageGroup[] =>
  list === undefined ? [] : [...new Set(list.split(",") as UsageGroup[])];

/** @throws GatewayError `invalid_value` */
function checkFilter({ from, to, groupBy, alsoBy, tag, top, timeZone }: UsageFilter): void {
  const isGrouped = groupBy !== undefined || tag?.grouped === true || (alsoBy?.length ?? 0) > 0;
  if (top !== undefined && !isGrouped) {
    throw invalidValue("top", "needs `group_by` or `also_by`");
  }
  if (timeZone === undefined) return;
  const param = zoneParam(timeZone);
  // A month in which daylight saving time ends is an hour longer.
  if (to.getTime() - from.getTime() > zoneDaysMax * dayMs + hourMs) {
    throw new GatewayError(
      "invalid_value",
      `With \`${param}\`, a period has at most ${zoneDaysMax} days. Leave it out for a longer period, in UTC.`,
      { param },
    );
  }
}

const renderAlso = ({ group, rows, isCut }: AlsoBy) => ({
  group_by: group,
  data: rows,
  has_more: isCut,
});

const usage = route({
  method: "GET",
  path: "/usage",
  operationId: "getUsage",
  summary: "Requests, tokens and cost, by period and group",
  description: `Costs are the sums of the ledger's charges in each period, so they add up to the ledger to the last nano-dollar. A call counts when it was charged; free calls count at their start time. Model, provider, tokens and times come from the request log: if it lost a row, the cost has a null model. Sums are current, whatever the age of the log. Without \`from\` the ${daysDefault} days before \`to\`; periods are in UTC. At most ${usageRowsMax} rows.`,
  action: "usage.read",
  query: strict({
    ...periodQuery,
    granularity: Type.Optional(words(...granularities)),
    group_by: Type.Optional(
      Type.Unsafe<string>({
        anyOf: [
          { type: "string", enum: [...usageGroups] },
          {
            type: "string",
            pattern: tagGroupPattern,
            description: `${usageGroups.join(", ")}, or tag:<name>.`,
          },
        ],
        description:
          "`tag:<name>` is for names in `tags.usage` of the configuration: whole days in UTC. `tag:end_user` is the end user.",
      }),
    ),
    also_by: Type.Optional(
      Type.String({
        maxLength: 100,
        pattern: `^${oneGroup}(?:,${oneGroup})*$`,
        description:
          "Further groups, separated by commas, by which the same calls are summed. `also` has the rows of each. All sums are from one moment.",
        examples: ["model,key"],
      }),
    ),
    ...filters,
    tag: Type.Optional(
      Type.String({
        pattern: tagFilterPattern,
        description: "A tag and its value, `team:search`, of a name in `tags.usage`.",
      }),
    ),
    top: Type.Optional(
      Type.String({
        pattern: String.raw`^([1-9]|[1-4]\d|50)$`,
        description:
          "1 to 50: this number of groups, with the highest cost in the whole period, and one row for all others.",
      }),
    ),
    ...zoneQuery,
  }),
  answer: {
    name: "Usage",
    schema: Type.Object({
      from: timestamp("Start of the period, inclusive."),
      to: timestamp("End of the period, exclusive."),
      granularity: oneOf(...granularities),
      group_by: orNull(Type.String()),
      ...fullListSchema(row).properties,
      also: Type.Optional(
        Type.Array(
          Type.Object({
            group_by: oneOf(...usageGroups),
            data: Type.Array(shortRow),
            has_more: Type.Boolean({
              description: `True if it has more than ${usageRowsMax} rows, and is cut.`,
            }),
          }),
          {
            description:
              "With `also_by`: the rows by each group, in the requested order. Of the counts they have only the tokens.",
          },
        ),
      ),
    }),
  },
  csv: [
    "start",
    ...Object.values(usageColumns),
    "tag",
    "untagged",
    "key_name",
    "member_email",
    "other",
    "requests",
    "errors",
    "client_closed",
    ...mainCountNames,
    "duration.p50",
    "duration.p95",
    "first_token.p50",
    "first_token.p95",
    "cost",
    "key_last4",
    "workspace_name",
    ...otherCountNames,
  ],
  async handle({ services, actor, query }) {
    const period = periodOf(query);
    const to = period.to ?? new Date(services.clock.now() + 1);
    const from = period.from ?? new Date(to.getTime() - daysDefault * dayMs);
    if (from >= to) {
      throw invalidValue("from", "must be before `to`");
    }
    const granularity = query.granularity ?? "total";
    const asked = byDays({
      visibility: visibilityOf(actor, "usage.read"),
      from,
      to,
      granularity,
      ...groupOf(query, services.usageTags),
      equal: Object.fromEntries(filterNames.map((name) => [name, query[name]])),
      alsoBy: groupsIn(query.also_by),
      top: query.top === undefined ? undefined : Number(query.top),
      timeZone: zoneOf(query),
    });
    checkFilter(asked);
    await services.logWritten();
    const { rows, also } = await services.reads.read((database) => readUsageBy(database, asked));
    const head = { from: asked.from.toISOString(), to: asked.to.toISOString(), granularity };
    const others = query.also_by !== undefined && { also: also.map(renderAlso) };
    return {
      body: { ...head, group_by: query.group_by ?? null, ...fullList(rows).body, ...others },
    };
  },
});

export const usageRoutes = [usage];
