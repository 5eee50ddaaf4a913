/** Schemas of fields that several bodies of the management API share, and their conversion to the values of `tenancy`. */
import { camelCased } from "../../base/casing.ts";
import { hasDay, existingTime } from "../../base/days.ts";
import { Type, type Static, type TSchema } from "../../base/json-schema.ts";
import { invalidValue } from "../../base/errors.ts";
import { formatUsd, parseUsd } from "../../base/money.ts";
import { modelNameMax } from "../../base/text.ts";
import {
  cacheSecondsMax,
  capNanoMax,
  lineNanoMax,
  type Page,
  type RateLimitsPatch,
  type ResponseCachePatch,
  type RoutingPatch,
  type SpendCapsPatch,
} from "../../tenancy/index.ts";

/** An object that refuses unknown fields: an ignored field would look saved (T71). */
export const strict = <Properties extends Record<string, TSchema>>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });

const optional = <Schema extends TSchema>(schema: Schema) => Type.Optional(schema);
export const nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);

/** A closed set of words. */
export const words = <Word extends string>(...all: readonly Word[]) =>
  Type.Unsafe<Word>({ type: "string", enum: all });

const cap = optional(
  nullable(
    Type.String({
      pattern: String.raw`^\d{1,10}(\.\d{1,9})?$`,
      description: `A decimal amount of USD from 0 to ${formatUsd(capNanoMax)}; null: no limit; absent: unchanged.`,
      examples: ["25.00"],
    }),
  ),
);

export const spendCapsBody = nullable(
  strict({
    total: cap,
    daily: cap,
    weekly: cap,
    monthly: cap,
    hard: optional(Type.Boolean({ description: "True: reservations count too." })),
  }),
);

/** The amount that a workspace may spend beyond its credits. */
export const creditLine = Type.String({
  pattern: String.raw`^(\d{1,10}(\.\d{1,9})?|unlimited)$`,
  description:
    `The amount that it may spend beyond its credits: decimal USD up to ${formatUsd(lineNanoMax)}, or "unlimited" for a workspace that is not prepaid, ` +
    "so that only caps stop its calls.",
  examples: ["500.00", "unlimited"],
});

const usd = (text: string | null | undefined) => (typeof text === "string" ? parseUsd(text) : text);

/** Converts the caps of a body to a patch. */
export function spendCapsOf(
  body: Static<typeof spendCapsBody> | undefined,
): SpendCapsPatch | null | undefined {
  if (body === undefined || body === null) return body;
  return {
    totalNano: usd(body.total),
    dailyNano: usd(body.daily),
    weeklyNano: usd(body.weekly),
    monthlyNano: usd(body.monthly),
    hard: body.hard,
  };
}

const nameList = nullable(
  Type.Array(Type.String({ minLength: 1, maxLength: 300 }), { maxItems: 10_000 }),
);

export const allowlistBody = nullable(
  Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
    maxItems: 10_000,
    description: "Model ids. Empty or null: this layer adds no restriction.",
  }),
);

export const routingBody = nullable(
  strict({
    mode: optional(words("follow", "custom")),
    sort: optional(nullable(words("price", "latency", "throughput", "balanced"))),
    supply_tiers: optional(nullable(Type.Array(words("official", "partner", "community")))),
    pinned_providers: optional(nameList),
    preferred_providers: optional(nameList),
  }),
);

/** Converts the routing of a body to a patch. */
export const routingOf = (
  body: Static<typeof routingBody> | undefined,
): RoutingPatch | null | undefined => body && camelCased(body);

const limit = optional(nullable(Type.Integer({ minimum: 1 })));

export const rateLimitsBody = nullable(
  strict({ requests_per_minute: limit, tokens_per_minute: limit, concurrency: limit }),
);

/** Converts the rate limits of a body to a patch. */
export const rateLimitsOf = (
  body: Static<typeof rateLimitsBody> | undefined,
): RateLimitsPatch | null | undefined => body && camelCased(body);

export const responseCacheBody = nullable(
  strict({
    ttl_seconds: optional(Type.Integer({ minimum: 1, maximum: cacheSecondsMax })),
    charge_percent: optional(Type.Integer({ minimum: 0, maximum: 100 })),
  }),
);

/** Converts the response cache of a body to a patch. */
export const responseCacheOf = (
  body: Static<typeof responseCacheBody> | undefined,
): ResponseCachePatch | null | undefined => body && camelCased(body);

export const timeBody = Type.String({
  minLength: 10,
  maxLength: 40,
  description: "A time in RFC 3339, such as 2027-01-31T00:00:00Z.",
  examples: ["2027-01-31T00:00:00Z"],
});

const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/i;

/** Parses a time of a body or a query. @throws GatewayError `invalid_value` */
export function timeOf<Absent extends null | undefined>(
  text: string | Absent,
  param: string,
): Date | Absent {
  if (typeof text !== "string") return text;
  const time = existingTime(text);
  if (time !== undefined && rfc3339.test(text)) return time;
  throw invalidValue(param, timeFault(text));
}

/** The fault of a text that is no time. A plus in an address is a space, so an offset of local time arrives with one. */
function timeFault(text: string): string {
  const isDay = hasDay(text);
  if (isDay && /T[\d:.]+ \d{2}:\d{2}$/i.test(text))
    return "has a space before the offset: in an address, write + as %2B";
  if (isDay && /^.{10}(T[\d:.]+)?$/i.test(text))
    return `needs ${text.length === 10 ? "a time of day and its" : "a"} zone, such as ${text.slice(0, 10)}T00:00:00Z or ${text.slice(0, 10)}T00:00:00+02:00`;
  return "must be an existing time, such as 2027-01-31T00:00:00Z";
}

/** The query parameters of a list by time. */
export const periodQuery = { from: optional(timeBody), to: optional(timeBody) };

/**
 * Parses the period of a query: `from` is included, `to` is not. @throws GatewayError `invalid_value`, also where it ends before it
 * begins
 */
export function periodOf(query: {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}) {
  const [from, to] = [timeOf(query.from, "from"), timeOf(query.to, "to")];
  if (from !== undefined && to !== undefined && from > to)
    throw invalidValue("from", "must not be after `to`");
  return { from, to };
}

/** A filter by a whole text, such as an id. An empty one, as of a variable that is not set, would match nothing and look like an answer. */
export const filterText = optional(Type.String({ minLength: 1, maxLength: modelNameMax }));

/** A search text. Unlike an empty filter, an empty one finds everything: a cleared search field sends it. */
export const searchText = (description: string) =>
  optional(Type.String({ maxLength: 100, description }));

/** The query parameters of every list. */
export const pageQuery = {
  limit: optional(
    Type.String({ pattern: String.raw`^\d{1,3}$`, description: "1 to 100; 20 if absent." }),
  ),
  cursor: optional(
    Type.String({ maxLength: 100, description: "`next_cursor` of the page before." }),
  ),
};

/** Parses the page of a query. */
export const pageOfQuery = (query: {
  readonly limit?: string | undefined;
  readonly cursor?: string | undefined;
}) => ({
  limit: query.limit === undefined ? undefined : Number(query.limit),
  cursor: query.cursor,
});

/** Renders a list on the wire: `{data, has_more, next_cursor}`. */
export function renderPage(
  page: Pick<Page<unknown>, "nextCursor">,
  data: readonly object[],
): { data: readonly object[]; has_more: boolean; next_cursor: string | null } {
  return { data, has_more: page.nextCursor !== null, next_cursor: page.nextCursor };
}

/** The schema of a list of objects of one schema. */
export const pageSchema = (item: TSchema) =>
  Type.Object({
    data: Type.Array(item),
    has_more: Type.Boolean(),
    next_cursor: nullable(Type.String({ description: "For the next page." })),
  });

/** The schema of a list without pages. */
export const fullListSchema = <Item extends Parameters<typeof Type.Array>[0]>(item: Item) =>
  Type.Object({ data: Type.Array(item), has_more: Type.Literal(false), next_cursor: Type.Null() });
/** The answer of a list without pages. */
export const fullList = (data: readonly object[]) => ({
  body: { data, has_more: false, next_cursor: null },
});
