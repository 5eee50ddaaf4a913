/**
 * The sums of calls, by column (storage/baseline/11_usage.sql), and how they are read from the log. Calls whose rows differ only in numbers
 * are first added up, number by number, and then read once: such a group is called `alike`.
 */

/** Counts of a stored usage `u`, by their names on the wire. */
const mainCounts = {
  input_tokens: `coalesce(u."inputTokens", 0) + coalesce(u."inputTextTokens", 0) + coalesce(u."inputImageTokens", 0)`,
  cache_read_tokens: `coalesce(u."cacheReadTokens", 0)`,
  cache_write_tokens: `coalesce(u."cacheWriteTokens", 0)`,
  output_tokens: `coalesce(u."outputTokens", 0) + coalesce(u."outputTextTokens", 0) + coalesce(u."outputImageTokens", 0)`,
  reasoning_tokens: `coalesce(u."reasoningTokens", 0)`,
  output_images: `coalesce(u."outputImages", 0)`,
  output_video_seconds: `coalesce(u."seconds", 0)`,
  output_video_tokens: `coalesce(u."tokens", 0)`,
} as const;

/** Counts calls. Either all similar calls have such uses, or none has: a usage without them does not name them. */
const answersWith = (count: string): string =>
  `case when u."${count}" > 0 then case when g.counted then g.n else 1 end else 0 end`;

/** Further counts that may have a rate of their own. Sums from before 0054_kept_prices.sql and 0057_vendor_tools.sql lack them. */
const otherCounts = {
  cache_write_1h_tokens: `coalesce(u."cacheWrite1hTokens", 0)`,
  audio_input_tokens: `coalesce(u."audioInputTokens", 0)`,
  audio_cache_read_tokens: `coalesce(u."audioCacheReadTokens", 0)`,
  audio_output_tokens: `coalesce(u."audioOutputTokens", 0)`,
  image_input_tokens: `coalesce(u."imageInputTokens", 0) + coalesce(u."inputImageTokens", 0)`,
  image_output_tokens: `coalesce(u."imageOutputTokens", 0) + coalesce(u."outputImageTokens", 0)`,
  input_images: `coalesce(u."inputImages", 0)`,
  web_searches: `coalesce(u."webSearches", 0)`,
  web_search_answers: answersWith("webSearches"),
  image_tool_text_tokens: `coalesce(u."imageToolTextTokens", 0)`,
  image_tool_image_tokens: `coalesce(u."imageToolImageTokens", 0)`,
  image_tool_output_tokens: `coalesce(u."imageToolOutputTokens", 0)`,
  file_searches: `coalesce(u."fileSearches", 0)`,
  map_searches: `coalesce(u."mapSearches", 0)`,
  map_answers: answersWith("mapSearches"),
  attachment_searches: `coalesce(u."attachmentSearches", 0)`,
  code_runs: `coalesce(u."codeRuns", 0)`,
  x_posts: `coalesce(u."xPosts", 0)`,
  x_profiles: `coalesce(u."xProfiles", 0)`,
} as const;

const counts = { ...mainCounts, ...otherCounts };
export type CountName = keyof typeof counts;
const namesOf = <Name extends string>(of: Readonly<Record<Name, string>>) =>
  Object.keys(of) as Name[];
export const mainCountNames = namesOf(mainCounts);
export const otherCountNames = namesOf(otherCounts);
export const countNames = namesOf(counts);

/** A number that no call can have must not stop the sums for ever. */
const countMax = "1e12";
/** The count of similar calls, `g` of {@link alikeSql}: their numbers added up, or the same usage for each. Only seconds have fractions. */
const countOf = (name: CountName): string => {
  const times = "case when g.counted then 1 else g.n end";
  if (name === "output_video_seconds") return `(${times}) * (${counts[name]})`;
  return `least((${times}) * (${counts[name]}), ${countMax} * g.n)::bigint`;
};

/** The fields of stored usages; each is a number. */
const usageFields = [
  ...new Set(
    Object.values(counts).flatMap((count) =>
      [...count.matchAll(/u\.("\w+")/g)].map(([, name]) => `${name!} numeric`),
    ),
  ),
];

/** The columns of `usage_hours` by which calls are summed; '' if there is no value. */
export const dimensions = [
  "workspace_id",
  "key_id",
  "member_id",
  "model",
  "provider",
  "protocol",
  "status",
  "error_code",
] as const;
export type Dimension = (typeof dimensions)[number];

/** The columns that are sums, in the same order everywhere. */
export const sumColumns = [
  "requests",
  "errors",
  "client_closed",
  "cost_nano",
  ...countNames,
  "duration",
  "first_token",
] as const;

export type SumColumn = (typeof sumColumns)[number];

/** The counts that a table of costs needs: each further count takes time over many days and groups. */
export const fewCountNames = ["input_tokens", "output_tokens"] as const satisfies CountName[];
export const fewColumns: readonly SumColumn[] = [
  "requests",
  "errors",
  "client_closed",
  "cost_nano",
  ...fewCountNames,
];

/** The most counted numbers in a usage. */
const numbersMax = 24;
/** Fill up the arguments of format(), for a usage with more numbers. */
const zeros = "array_fill('0'::text, '{100}')";
const numberPlaces = Array.from({ length: numbersMax }, (_, place) => place + 1);

interface LogColumn {
  readonly type: string;
  /** The expression for it, on a row of the log `r`. */
  readonly of: string;
}

/** Columns of log rows in which calls must agree to be added up before they are read. Most are empty if the row has a head. */
const likeColumns: Readonly<Record<string, LogColumn>> = {
  head: { type: "uuid", of: "r.head" },
  is_task: { type: "boolean", of: "r.id like 'task\\_%'" },
  counted: { type: "boolean", of: "r.usage_counts is not null" },
  usage: { type: "text", of: "case when r.usage_counts is null then r.usage::text end" },
  log_key: { type: "text", of: "r.key_id" },
  model: { type: "text", of: "r.model" },
  provider: { type: "text", of: "r.provider" },
  protocol: { type: "text", of: "r.protocol" },
  status: { type: "text", of: "r.status" },
  explanation: { type: "text", of: "r.explanation::text" },
};

/** The same for sums by tags: the callers' tags. */
const tagColumns: Readonly<Record<string, LogColumn>> = {
  tags: { type: "text", of: "r.tags::text" },
  end_user: { type: "text", of: "r.end_user" },
};

/** Columns of log rows that are added up. */
const addedColumns: Readonly<Record<string, LogColumn>> = {
  numbers: { type: "numeric[]", of: `('{' || r.usage_counts || '}')::numeric[]` },
  duration_ms: { type: "integer", of: "r.duration_ms" },
  first_token_ms: { type: "integer", of: "r.first_token_ms" },
};

const likes = (tagged: boolean) => ({ ...likeColumns, ...(tagged && tagColumns) });
const logColumns = (tagged: boolean) => ({ ...likes(tagged), ...addedColumns });

/** The log columns from which calls are read, as named expressions; {@link logNames} has the names only. */
export const logList = (tagged: boolean): string =>
  Object.entries(logColumns(tagged))
    .map(([name, { of }]) => `${of} as ${name}`)
    .join(", ");

export const logNames = (tagged: boolean): string => Object.keys(logColumns(tagged)).join(", ");

/**
 * Adds up similar rows of `from`, each a call with the columns `keys`, {@link logNames} and its `cost`: `n` calls, and the columns of
 * {@link alikeNames}.
 */
export const alikeSql = (from: string, keys: string, tagged: boolean): string => {
  const like = `${keys}, ${Object.keys(likes(tagged)).join(", ")}`;
  const numbers = numberPlaces.map((place) => `sum(x.numbers[${place}])`);
  return `
    select ${like}, count(*) as n, sum(x.cost)::bigint as cost, array[${numbers.join(", ")}]::text[] as numbers,
      sum(usage_histogram(x.duration_ms)) as duration, sum(usage_histogram(x.first_token_ms)) as first_token
    from (${from}) x group by ${like}`;
};

const alikeColumns = (tagged: boolean): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(Object.entries(likes(tagged)).map(([name, { type }]) => [name, type])),
  numbers: "text[]",
  duration: "numeric",
  first_token: "numeric",
});

/** The log columns of a table of {@link alikeSql}. */
export const alikeNames = (tagged: boolean): string => Object.keys(alikeColumns(tagged)).join(", ");

/** The same for a call without a log row. */
export const noAlikeList = (tagged: boolean): string =>
  Object.entries(alikeColumns(tagged))
    .map(([name, type]) => `${type === "numeric" ? "0" : "null"}::${type} as ${name}`)
    .join(", ");

/** Texts are cut to this length: they are keys of an index, and its entries are bounded. */
const textMax = 256;
const shortened = (text: string): string => `left(coalesce(${text}, ''), ${textMax})`;
/** Returns a wanted text in the form that the sums have. */
export const asSummed = (text: string): string => Array.from(text).slice(0, textMax).join("");

/** A row has its own value only if its head has none (storage/baseline/09_request_log.sql). */
const explanation = "coalesce(g.explanation::json, h.explanation)";
const provider = "coalesce(g.provider, h.provider)";
const status = "coalesce(g.status, h.status)";
const logKey = "coalesce(g.log_key, h.key_id)";

/**
 * The caller's tags of a call as one object of texts. The name end_user stands for the end user, and never for a tag of that name. Tags
 * that jsonb cannot hold count as none, because they must not stop the sums; no gateway writes such tags.
 */
const said = `case when g.tags is not null or g.end_user is not null then
    (coalesce(case when g.tags !~* '(^|[^\\\\])(\\\\\\\\)*\\\\u(0000|d[89a-f])' then g.tags::jsonb end, '{}') - 'end_user')
      || case when g.end_user is null then '{}' else jsonb_build_object('end_user', g.end_user) end end`;

/**
 * The additions of similar calls, `g` of {@link alikeSql}, to the sums: columns of calls (calls.ts). A model without a plan and without a
 * provider is only the caller's text, of which there may be any number: it counts as none.
 */
const callList = (tagged: boolean): string => `
  g.workspace_id, g.hour,
  case when g.is_free then coalesce(${logKey}, '') else g.key_id end as key_id,
  case when g.is_free then coalesce(k.created_by, '') else g.member_id end as member_id,
  case when ${provider} is null and g.is_task is not true and ${explanation} -> 'plan' is null then ''
    else ${shortened("coalesce(g.model, h.model)")} end as model,
  ${shortened(provider)} as provider, ${shortened("coalesce(g.protocol, h.protocol)")} as protocol,
  ${shortened(status)} as status,
  case when ${status} = 'succeeded' then '' else ${shortened(`${explanation} ->> 'error'`)} end as error_code,
  g.sign * g.n as requests,
  case when ${status} in ('failed', 'expired') then g.sign * g.n else 0 end as errors,
  case when ${status} = 'client_closed' then g.sign * g.n else 0 end as client_closed,
  g.sign * g.cost as cost_nano,
  ${countNames.map((name) => `g.sign * ${countOf(name)} as ${name}`).join(", ")},
  g.sign * g.duration as duration, g.sign * g.first_token as first_token, ${tagged ? said : "null::jsonb"} as said`;

/**
 * Reads calls from tables of {@link alikeSql}, each added to the sums (`sign` 1) or taken out (-1). `is_free`: they belong to the key that
 * the log names, and its owner.
 */
export const readAlikeSql = (from: string, tagged: boolean): string => `
  select ${callList(tagged)}
  from (${from}) g
  left join lateral (
    select * from request_heads h where h.workspace_id = g.workspace_id and h.id = g.head offset 0) h on true
  left join lateral json_to_record(case when g.counted then format(h.usage_format, variadic g.numbers || ${zeros})::json
    else g.usage::json end) as u (${usageFields.join(", ")}) on true
  left join api_keys k on g.is_free and k.workspace_id = g.workspace_id and k.id = ${logKey}`;

/** The value of the tag `name`, an expression, in a row of calls `c`; '' if it has none. */
export const tagOf = (name: string): string => shortened(`c.said ->> ${name}::text`);

/** The cast to a sum's type, because sums of whole numbers are numeric. */
const sumType = (name: string): string =>
  ["output_video_seconds", "duration", "first_token"].includes(name) ? "" : "::bigint";

/** The sums of the rows of a table that has them as columns, as rows of calls do. */
export const sumsOf = (table: string, columns: readonly SumColumn[] = sumColumns): string =>
  columns.map((name) => `sum(${table}.${name})${sumType(name)} as ${name}`).join(", ");
