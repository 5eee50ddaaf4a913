/** What the response cache of keys needs from the running gateway. */
import type { AnswerCache } from "./cached-answers.ts";
import type { CacheOutcome } from "./record.ts";

export interface CacheServices {
  readonly answers: AnswerCache;
  /** Hears of each call of a key that has a cache. */
  looked(outcome: CacheOutcome): void;
}
