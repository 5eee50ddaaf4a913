/** The request log over the management API. docs/management.md. */
import { Type } from "../../base/json-schema.ts";
import { getRequest, listRequests, visibilityOf } from "../../admin/index.ts";
import { chargeLines } from "../../calls/index.ts";
import { orNull, timestamp, usd } from "../shapes/schema.ts";
import { route } from "./route.ts";
import {
  pageOfQuery,
  pageQuery,
  pageSchema,
  renderPage,
  strict,
  timeBody,
  timeOf,
  words,
} from "./schemas.ts";

const anything = (description: string) => Type.Unsafe<object>({ type: "object", description });

const attempt = anything(
  "One try at a provider: `provider`, `started_ms` and `duration_ms` (or `started_at` for tasks), `status`, `outcome`; for organization admins also `credential`, `upstream_model` and the upstream's own `message`.",
);

const row = Type.Object({
  id: Type.String({ description: "The `x-request-id` of the call, or the id of the task." }),
  created_at: timestamp("When it began."),
  workspace_id: Type.String(),
  key_id: orNull(Type.String()),
  model: orNull(Type.String()),
  provider: orNull(Type.String({ description: "Who answered; null where nobody did." })),
  protocol: orNull(Type.String({ description: "What the caller spoke." })),
  upstream_protocol: orNull(Type.String({ description: "What the provider was spoken to in." })),
  status: orNull(
    Type.String({
      examples: ["succeeded", "failed", "client_closed", "expired", "canceled"],
    }),
  ),
  http_status: orNull(Type.Integer()),
  usage: orNull(anything("The counts it was billed by, such as `input_tokens`.")),
  usage_source: orNull(Type.String({ examples: ["upstream", "estimated"] })),
  cost: usd("What it was charged."),
  duration_ms: orNull(Type.Integer()),
  first_token_ms: orNull(Type.Integer()),
  dropped: Type.Array(Type.String(), { description: "Parameters that were dropped or changed." }),
  notes: Type.Array(Type.String()),
  attempts: Type.Array(attempt),
  explanation: orNull(anything("The plan: which providers, in which order, and why.")),
});

const priceLine = Type.Object({
  name: Type.String({
    examples: ["input_tokens", "cache_read_tokens", "output_images", "requests", "rounding"],
  }),
  quantity: Type.String({ description: "Tokens, images, seconds or requests." }),
  unit_price: usd("For one `per`."),
  per: words("million_tokens", "image", "second", "request"),
  amount: usd("Exact: up to 15 decimals."),
});

const detail = Type.Object({
  ...row.properties,
  stream: orNull(
    Type.Boolean({ description: "Whether a stream was asked for; null: a task, or an old row." }),
  ),
  error: orNull(
    Type.Object(
      {
        type: orNull(Type.String()),
        code: Type.String(),
        message: orNull(Type.String({ description: "null: a row of before messages were kept." })),
      },
      { description: "What the caller was answered, where it failed." },
    ),
  ),
  reserved: orNull(usd("What was set aside before anybody was asked; null: nothing was.")),
  ledger_entry_id: orNull(Type.String({ description: "The entry that charged or released it." })),
  changes: Type.Array(
    Type.Object({
      param: Type.String({ description: "The caller's own name of the field." }),
      action: words("dropped", "ignored", "rewritten"),
      note: orNull(Type.String({ description: "Why." })),
    }),
    { description: "What was changed in the request: `dropped` and `notes`, together." },
  ),
  price_lines: orNull(
    Type.Array(priceLine, {
      description:
        "How the cost came about; the amounts add up to `cost` exactly, with what rounding added as the line `rounding`. null: the price of then is not known any more.",
    }),
  ),
});

const list = route({
  method: "GET",
  path: "/requests",
  operationId: "listRequests",
  summary: "The request log, newest first",
  description:
    "Every call and every task that ended, up to a second or so behind. Workspace admins see their workspaces, members what their own keys did. `from` counts, `to` does not.",
  action: "request.read",
  query: strict({
    workspace_id: Type.Optional(Type.String()),
    key_id: Type.Optional(Type.String()),
    model: Type.Optional(Type.String()),
    provider: Type.Optional(Type.String()),
    status: Type.Optional(Type.String()),
    from: Type.Optional(timeBody),
    to: Type.Optional(timeBody),
    ...pageQuery,
  }),
  answer: { name: "RequestRows", schema: pageSchema(row) },
  csv: [
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
  ],
  async handle({ services, actor, query }) {
    const { key_id, model, provider, status } = query;
    await services.logWritten();
    const page = await listRequests(services.database, {
      ...pageOfQuery(query),
      visibility: visibilityOf(actor, "request.read"),
      workspaceId: query.workspace_id,
      from: timeOf(query.from, "from"),
      to: timeOf(query.to, "to"),
      equal: { key_id, model, provider, status },
    });
    return { body: renderPage(page, page.records) };
  },
});

const read = route({
  method: "GET",
  path: "/requests/{id}",
  operationId: "getRequest",
  summary: "One row of the request log",
  action: "request.read",
  description:
    "With what the list leaves out: the error, what was reserved, the price line by line, what was changed.",
  answer: { name: "RequestRow", schema: detail },
  errors: ["not_found"],
  async handle({ services, actor, params }) {
    await services.logWritten();
    const visibility = visibilityOf(actor, "request.read");
    const { record, charged } = await getRequest(services, params["id"]!, visibility);
    return { body: { ...record, price_lines: chargeLines(services.catalog(), charged) } };
  },
});

export const requestRoutes = [list, read];
