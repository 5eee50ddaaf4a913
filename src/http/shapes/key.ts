/** The schema of an API key in answers, without its secret. */
import { Type, type TSchema } from "../../base/json-schema.ts";
import { oneOf, orNull, timestamp, usd } from "./schema.ts";

const windows = (schema: TSchema) => ({
  total: schema,
  daily: schema,
  weekly: schema,
  monthly: schema,
});

/** The answer of `GET /v1/key`, and of the management API for each key. */
export const apiKeySchema = Type.Object({
  id: Type.String(),
  object: Type.Literal("api_key"),
  name: Type.String(),
  status: oneOf("active", "disabled", "revoked"),
  key_prefix: Type.String(),
  key_last4: Type.String(),
  revealable: Type.Boolean({ description: "False for keys that are stored only as a prefix." }),
  workspace_id: Type.String(),
  created_by: orNull(
    Type.String({ description: "The owner: the user who made it, or for whom an admin made it." }),
  ),
  created_at: timestamp("When it was created."),
  updated_at: timestamp("When it was last changed."),
  last_used_at: orNull(timestamp("About a minute behind at most.")),
  revoked_at: orNull(timestamp("When it was revoked.")),
  expires_at: orNull(timestamp("When it stops working.")),
  spend_caps: Type.Object(
    {
      ...windows(orNull(usd("null: no limit."))),
      hard: Type.Boolean({ description: "True: reservations count too." }),
    },
    { description: "When one is reached, further calls are refused. Periods are in UTC." },
  ),
  spend: Type.Object(windows(usd("Charged so far in this period."))),
  remaining: Type.Object(windows(orNull(usd("null: no limit.")))),
  resets_at: Type.Object({
    daily: timestamp("The next UTC midnight."),
    weekly: timestamp("The next Monday, 00:00 UTC."),
    monthly: timestamp("The first of the next month, 00:00 UTC."),
  }),
  model_allowlist: Type.Array(Type.String(), { description: "Empty: every model." }),
  routing: Type.Object({
    mode: oneOf("follow", "custom"),
    sort: orNull(oneOf("price", "latency", "throughput", "balanced")),
    supply_tiers: Type.Array(Type.String()),
    pinned_providers: Type.Array(Type.String()),
    preferred_providers: Type.Array(Type.String()),
  }),
  allow_request_override: Type.Boolean({
    description: "True: requests may set a strategy although the key has its own routing.",
  }),
  rate_limits: orNull(
    Type.Object(
      {
        requests_per_minute: orNull(Type.Integer()),
        tokens_per_minute: orNull(Type.Integer()),
        concurrency: orNull(Type.Integer({ description: "Concurrent calls." })),
      },
      { description: "For all gateways together; null: no limit." },
    ),
  ),
  response_cache: orNull(
    Type.Object(
      {
        ttl_seconds: Type.Integer({ description: "The maximum age of an answer." }),
        charge_percent: Type.Integer({
          description: "The price of a repeat, in percent of the first answer's charge.",
        }),
      },
      {
        description: "Response cache: the same request gets the same answer again. null: no cache.",
      },
    ),
  ),
});
