/** Rates: limits of requests and tokens a minute and of calls at once, for all gateways together. docs/limits.md. */
export { openRates, sweepRates } from "./open.ts";
export type { RateLimiter, RateUse } from "./limiter.ts";
