/** Rates: limits of requests and tokens per minute and of calls at once, shared by all gateways. docs/limits.md. */
export { openRates, sweepRates } from "./open.ts";
export type { RateLimiter, RateUse } from "./limiter.ts";
