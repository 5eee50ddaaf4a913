/** What is summed of calls, by column of the sums (storage/baseline/11_usage.sql), and how a call's part of it is read from the log. */

import type { LogIds } from "./log-bounds.ts";

/** Counts of a stored usage `u`, by their names on the wire. */
const counts = {
  input_tokens: `coalesce(u."inputTokens", 0) + coalesce(u."inputTextTokens", 0) + coalesce(u."inputImageTokens", 0)`,
  cache_read_tokens: `coalesce(u."cacheReadTokens", 0)`,
  cache_write_tokens: `coalesce(u."cacheWriteTokens", 0)`,
  output_tokens: `coalesce(u."outputTokens", 0) + coalesce(u."outputTextTokens", 0) + coalesce(u."outputImageTokens", 0)`,
  reasoning_tokens: `coalesce(u."reasoningTokens", 0)`,
  output_images: `coalesce(u."outputImages", 0)`,
  output_video_seconds: `coalesce(u."seconds", 0)`,
  output_video_tokens: `coalesce(u."tokens", 0)`,
} as const;
export type CountName = keyof typeof counts;
export const countNames = Object.keys(counts) as CountName[];

/** Only seconds have fractions. A count that no call can have must not stop the sums for ever. */
const countMax = "1e12";
const bounded = (name: CountName): string =>
  name === "output_video_seconds" ? counts[name] : `least(${counts[name]}, ${countMax})::bigint`;

/** Fields of stored usages, each of them a number. */
const usageFields = Object.values(counts).flatMap((count) =>
  [...count.matchAll(/u\.("\w+")/g)].map(([, name]) => `${name!} numeric`),
);

/** What a call is summed by, as columns of `usage_hours`; '' where there is nothing. */
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

/** The columns that are sums, in one order everywhere. */
export const sumColumns = [
  "requests",
  "errors",
  "client_closed",
  "cost_nano",
  ...countNames,
  "duration",
  "first_token",
] as const;

/** Texts are keys of an index, whose entries are bounded: longer ones are cut. */
const textMax = 256;
const short = (text: string): string => `left(coalesce(${text}, ''), ${textMax})`;

/**
 * A row of the log `r` and its head `h`, as the view `request_log` joins them (storage/baseline/09_request_log.sql). The view itself under an outer
 * join would have to be made first: all of it, for one hour's calls.
 */
const logKey = "coalesce(r.key_id, h.key_id)";
const headJoin = `left join lateral (
    select * from request_heads h where h.workspace_id = r.workspace_id and h.id = r.head offset 0) h on true`;

const explanation = "coalesce(r.explanation, h.explanation)";
const provider = "coalesce(r.provider, h.provider)";
const status = "coalesce(r.status, h.status)";

/**
 * What the caller said of a call, as one object of texts; the end user by the name end_user. Tags that jsonb cannot hold, which no
 * writer writes, count as none: they must not stop the sums.
 */
const said = `case when r.tags is not null or r.end_user is not null then
    coalesce(case when r.tags::text !~* '(^|[^\\\\])(\\\\\\\\)*\\\\u(0000|d[89a-f])' then r.tags::jsonb end, '{}')
      || case when r.end_user is null then '{}' else jsonb_build_object('end_user', r.end_user) end end`;

/**
 * What the log tells of a call, as columns. A model that no plan was made for and nobody was asked for is the caller's text, of which
 * there may be any number: it counts as none.
 */
const told = `
  case when ${provider} is null and r.id not like 'task\\_%' and ${explanation} -> 'plan' is null then ''
    else ${short("coalesce(r.model, h.model)")} end as model,
  ${short(provider)} as provider, ${short("coalesce(r.protocol, h.protocol)")} as protocol,
  ${short(status)} as status,
  case when ${status} = 'succeeded' then '' else ${short(`${explanation} ->> 'error'`)} end as error_code,
  (${status} in ('failed', 'expired'))::integer as errors, (${status} = 'client_closed')::integer as client_closed,
  ${countNames.map((name) => `${bounded(name)} as ${name}`).join(", ")},
  usage_histogram(r.duration_ms) as duration, usage_histogram(r.first_token_ms) as first_token, ${said} as said`;

/**
 * The row of the log with workspace `workspace` and id `id`, expressions, and what it tells; one look by the key for each.
 * `log` says of ids which may be meant (log-bounds.ts): then the plan has no other parts of the log.
 */
export const toldOf = (workspace: string, id: string, log: LogIds): string => `(
  select r.id as log_id, r.created_at, r.cost_nano, ${logKey} as log_key, ${told}
  from requests r ${headJoin}
  left join lateral json_to_record(case when r.usage_counts is null then r.usage
    else format(h.usage_format, variadic string_to_array(r.usage_counts, ','))::json end) as u (${usageFields.join(", ")}) on true
  where r.workspace_id = ${workspace} and r.id = ${id} and ${log("r.id")} offset 0)`;

/** Columns that only the log tells, and what they are without it. */
const toldColumns: Readonly<Record<string, string>> = {
  model: "''",
  provider: "''",
  protocol: "''",
  status: "''",
  error_code: "''",
  errors: "0",
  client_closed: "0",
  ...Object.fromEntries(countNames.map((name) => [name, "0"])),
  duration: "0",
  first_token: "0",
  said: "null::jsonb",
};

/** The list of those columns of `l`; a missing row's are nothing. */
export const toldList = (): string =>
  Object.entries(toldColumns)
    .map(([name, none]) => `coalesce(l.${name}, ${none}) as ${name}`)
    .join(", ");

/** The same without a row. */
export const untoldList = (): string =>
  Object.entries(toldColumns)
    .map(([name, none]) => `${none} as ${name}`)
    .join(", ");

/** The value of the tag `name`, an expression, of a row of calls `c`; '' where it has none. */
export const tagOf = (name: string): string => short(`c.said ->> ${name}::text`);

/** The columns of a row of calls (calls.ts), in their order. */
export const callColumns = [
  "workspace_id",
  "key_id",
  "member_id",
  "at",
  "sign",
  "cost",
  ...Object.keys(toldColumns),
].join(", ");

/** The type of a sum, as a cast: sums of whole numbers come as numeric. */
export const sumType = (name: string): string =>
  ["output_video_seconds", "duration", "first_token"].includes(name) ? "" : "::bigint";

/** The sums of rows of calls `c`. */
export const sumsOfCalls = sumColumns
  .map((name) => {
    if (name === "requests") return "sum(c.sign)::bigint as requests";
    if (name === "cost_nano") return "sum(c.sign * c.cost)::bigint as cost_nano";
    return `sum(c.sign * c.${name})${sumType(name)} as ${name}`;
  })
  .join(", ");
