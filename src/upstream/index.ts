/** One HTTP attempt at an upstream: its target, the exchange, and the meaning of its outcome. */
export { answerBytesMax } from "./decoding.ts";
export { askModels, inspectAddress, inspectProvider } from "./ask-models.ts";
export type { Inspected } from "./dial/inspect.ts";
export { askCount, askText, textBody, type TextRequest } from "./ask-text.ts";
export { answeredError, BadAnswerError } from "./bad-answer.ts";
export { openExchange, type Exchange } from "./exchange.ts";
export { agentsThrough, fetchBy, fetchThrough } from "./dial/agents.ts";
export { loadClouds } from "./load-clouds.ts";
export { ExchangeError } from "./exchange-error.ts";
export { retryAfterMsOf } from "./retry-after.ts";
export { guardedRequest, NotSentError, type GuardedRequest } from "./guarded.ts";
export {
  checkAddress,
  checkAllAddresses,
  type Resolve,
  type ResolvedAddress,
} from "./guarded-address.ts";
export { download, DownloadError, type DownloadRequest } from "./guarded-download.ts";
export { maskError, withoutCredentials } from "./masking.ts";
export { namesStoredObject } from "./not-found.ts";
export {
  outcomeOfFailure,
  outcomeOfStatus,
  retryAfterSecondsDefault,
  unusableAnswer,
} from "./outcome.ts";
export { createPools, type Pools } from "./pools.ts";
export { readRefusal } from "./refusal-body.ts";
export { acceptedHeaders, fitHostedClaude } from "./vendors/hosted-claude.ts";
export type { CallerHeaders } from "./vendors/types.ts";
export * from "./media/index.ts";
