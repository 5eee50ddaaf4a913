/** Rate limits between a form and the API: a number or nothing in each field, null where there is no limit. docs/limits.md. */

export const limitNames = ["requests_per_minute", "tokens_per_minute", "concurrency"] as const;
export type LimitName = (typeof limitNames)[number];

export type RateLimits = Readonly<Record<LimitName, number | null>>;

/** What a number field holds: text while it is typed. */
export type LimitFields = Readonly<Record<LimitName, number | string>>;

/** Of an object that may have no limits at all. */
export const limitFieldsOf = (limits: RateLimits | null): LimitFields => ({
  requests_per_minute: limits?.requests_per_minute ?? "",
  tokens_per_minute: limits?.tokens_per_minute ?? "",
  concurrency: limits?.concurrency ?? "",
});

const countOf = (value: number | string): number | null => (value === "" ? null : Number(value));

export const limitsOf = (fields: LimitFields): RateLimits => ({
  requests_per_minute: countOf(fields.requests_per_minute),
  tokens_per_minute: countOf(fields.tokens_per_minute),
  concurrency: countOf(fields.concurrency),
});
