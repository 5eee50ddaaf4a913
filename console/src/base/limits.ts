/** Converts rate limits between form and API: an empty field means no limit, null in the API. docs/limits.md. */

export const limitNames = ["requests_per_minute", "tokens_per_minute", "concurrency"] as const;
export type LimitName = (typeof limitNames)[number];

export type RateLimits = Readonly<Record<LimitName, number | null>>;

/** Values of number fields: text while the reader types. */
export type LimitFields = Readonly<Record<LimitName, number | string>>;

/** The field values of an object's limits; null: no limits at all. */
export const limitFieldsOf = (limits: RateLimits | null): LimitFields => ({
  requests_per_minute: limits?.requests_per_minute ?? "",
  tokens_per_minute: limits?.tokens_per_minute ?? "",
  concurrency: limits?.concurrency ?? "",
});

const countOf = (value: number | string): number | null => (value === "" ? null : Number(value));

/** The API's limits of these fields; the API keeps the others. */
export const limitsOf = (fields: Partial<LimitFields>): Partial<RateLimits> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, countOf(value)]));
