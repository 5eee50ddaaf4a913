/** The schemas of the request log's rows, and the columns of its CSV. */
import { Type } from "../../base/json-schema.ts";
import { orNull, timestamp, usd } from "../shapes/schema.ts";
import { requestStatuses } from "./request-filters.ts";
import { priceMembers } from "./request-price.ts";
import { words } from "./schemas.ts";

const anything = (description: string) => Type.Unsafe<object>({ type: "object", description });

const attempt = anything(
  "One attempt at a provider: `provider`, `started_ms` and `duration_ms` (or `started_at` for tasks), `status`, `outcome`, and `fault: caller` if a call's request itself was refused; for organization admins also `credential`, `upstream_model` and the upstream's own `message`.",
);

const row = Type.Object({
  id: Type.String({ description: "The `x-request-id` of the call, or the id of the task." }),
  created_at: timestamp("When it began."),
  workspace_id: Type.String(),
  key_id: orNull(Type.String()),
  model: orNull(Type.String()),
  provider: orNull(Type.String({ description: "The provider that answered; null: none did." })),
  protocol: orNull(Type.String({ description: "The caller's protocol." })),
  upstream_protocol: orNull(Type.String({ description: "The provider's protocol." })),
  status: orNull(
    Type.String({
      examples: requestStatuses,
    }),
  ),
  http_status: orNull(Type.Integer()),
  usage: orNull(
    anything(
      "The counts it was billed by, such as `input_tokens`. With `explicit_cache: 1` its cache reads are of a cache that markers in the request made. With `unbilled: 1` its vendor bills none of them.",
    ),
  ),
  usage_source: orNull(Type.String({ examples: ["upstream", "estimated"] })),
  cost: usd("The charge."),
  duration_ms: orNull(Type.Integer()),
  first_token_ms: orNull(Type.Integer()),
  dropped: Type.Array(Type.String(), { description: "Parameters that were dropped or changed." }),
  notes: Type.Array(Type.String()),
  attempts: Type.Array(attempt),
  explanation: orNull(
    anything(
      "`plan`: the providers in order, with reasons. `hooks`: the result of each of the operator's hooks (`hook`, `outcome`, and `code` of a refusal). `cache`: the result of the key's response cache.",
    ),
  ),
  tags: orNull(
    Type.Record(Type.String(), Type.String(), {
      description: "The caller's tags; null: none.",
    }),
  ),
  end_user: orNull(Type.String({ description: "The end user, as sent by the caller." })),
});

/** One row with everything about its call. */
export const requestDetail = Type.Object({
  ...row.properties,
  workspace_name: Type.String({ description: "The workspace's current name." }),
  key_name: orNull(Type.String({ description: "The key's current name." })),
  key_last4: orNull(Type.String()),
  stream: orNull(
    Type.Boolean({ description: "Whether a stream was requested; null: a task, or an old row." }),
  ),
  error: orNull(
    Type.Object(
      {
        type: orNull(Type.String()),
        code: Type.String(),
        message: orNull(
          Type.String({ description: "null: an old row, from before messages were stored." }),
        ),
        meaning: orNull(
          Type.String({
            description:
              "The meaning of the code, as in docs/errors.md; null: not a code of this version.",
          }),
        ),
      },
      { description: "The error that the caller got, if the call failed." },
    ),
  ),
  reserved: orNull(usd("The amount reserved before the first attempt; null: none.")),
  ledger_entry_id: orNull(Type.String({ description: "The entry that charged or released it." })),
  changes: Type.Array(
    Type.Object({
      param: Type.String({ description: "The caller's own name of the field." }),
      action: words("dropped", "ignored", "rewritten"),
      note: orNull(Type.String({ description: "Why." })),
    }),
    { description: "Changes in the request: `dropped` and `notes` together." },
  ),
  ...priceMembers,
});

const {
  upstream_protocol: upstreamProtocol,
  usage_source: usageSource,
  dropped,
  notes,
  attempts,
  explanation,
  ...headline
} = row.properties;

/** A row of either view: fields that one of them leaves out are optional. */
export const listedRequest = Type.Object({
  ...headline,
  upstream_protocol: Type.Optional(upstreamProtocol),
  usage_source: Type.Optional(usageSource),
  dropped: Type.Optional(dropped),
  notes: Type.Optional(notes),
  attempts: Type.Optional(attempts),
  explanation: Type.Optional(explanation),
  price_lines: Type.Optional(priceMembers.price_lines),
  price_lines_from: Type.Optional(priceMembers.price_lines_from),
  key_name: Type.Optional(orNull(Type.String({ description: "With `view=list`." }))),
  error: Type.Optional(orNull(Type.String({ description: "With `view=list`: the error's code." }))),
  cache: Type.Optional(
    orNull(
      Type.String({
        description:
          "With `view=list`: the result of the key's response cache, `hit`, `miss` or `bypass`; null: the key has none.",
      }),
    ),
  ),
  stream: Type.Optional(orNull(Type.Boolean({ description: "With `view=list`." }))),
  attempts_count: Type.Optional(Type.Integer({ description: "With `view=list`." })),
  dropped_count: Type.Optional(Type.Integer({ description: "With `view=list`." })),
});

/** The other counts that texts, pictures and videos are billed by. A CSV file has them all, so that costs can be recomputed. */
const otherCounts = [
  "cache_write_tokens",
  "cache_write_1h_tokens",
  "reasoning_tokens",
  "unit",
  "input_text_tokens",
  "input_image_tokens",
  "output_text_tokens",
  "output_image_tokens",
  "input_images",
  "output_images",
  "quality",
  "image_size",
  "seconds",
  "resolution",
  "tokens",
  "audio_input_tokens",
  "audio_cache_read_tokens",
  "image_input_tokens",
  "audio_output_tokens",
  "image_output_tokens",
  "web_searches",
  "image_tool_text_tokens",
  "image_tool_image_tokens",
  "image_tool_output_tokens",
] as const;
/** The same: programs read files by position too, so new columns stand after all earlier ones. */
const laterCounts = [
  "unbilled",
  "file_searches",
  "map_searches",
  "attachment_searches",
  "code_runs",
  "x_posts",
  "x_profiles",
  "explicit_cache",
] as const;

export const requestCsv = [
  "id",
  "created_at",
  "workspace_id",
  "key_id",
  "model",
  "provider",
  "protocol",
  "upstream_protocol",
  "status",
  "http_status",
  "usage.input_tokens",
  "usage.cache_read_tokens",
  "usage.output_tokens",
  "usage_source",
  "cost",
  "duration_ms",
  "first_token_ms",
  "dropped",
  "notes",
  ...otherCounts.map((name) => `usage.${name}`),
  "explanation.error",
  "tags",
  "end_user",
  "price_lines",
  "price_lines_from",
  ...laterCounts.map((name) => `usage.${name}`),
];
