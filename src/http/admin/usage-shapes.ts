/** The schemas of usage: its query, its answer, and the columns of its CSV. */
import { Type } from "../../base/json-schema.ts";
import { granularities, usageGroups } from "../../base/management.ts";
import {
  fewCountNames,
  mainCountNames,
  otherCountNames,
  usageColumns,
  usageRowsMax,
  type CountName,
} from "../../usage/index.ts";
import { oneOf, orNull, timestamp, usd } from "../shapes/schema.ts";
import { requestStatuses } from "./request-filters.ts";
import { filterText, fullListSchema, periodQuery, strict, words } from "./schemas.ts";
import { tagFilterPattern, tagGroupPattern } from "./usage-tags.ts";
import { zoneQuery } from "./usage-zone.ts";

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
export const filterNames = Object.keys(filters) as (keyof typeof filters)[];

const oneGroup = `(?:${usageGroups.join("|")})`;

export const usageQuery = strict({
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
});

export const usageAnswer = Type.Object({
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
});

/** The columns of CSV. New ones come last, so that programs that count columns go on working. */
export const usageCsv = [
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
];
