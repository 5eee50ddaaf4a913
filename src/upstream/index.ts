/** One HTTP attempt at an upstream: where it goes, the exchange itself, and what its outcome means. */
export { countTarget, textTarget, type CallerHeaders } from "./dialects.ts";
export { openExchange, ExchangeError, type Exchange } from "./exchange.ts";
export { outcomeOfFailure, outcomeOfStatus, type Outcome } from "./outcome.ts";
export { pickCredential } from "./credential.ts";
export { createPools, type Pools } from "./pools.ts";
export * from "./media/index.ts";
