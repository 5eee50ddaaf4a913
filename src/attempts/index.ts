/** Attempts at providers: who may be asked, with which key, why it failed, what is kept of it, and who is asked next. */
export {
  hasAnotherKey,
  mediaCandidate,
  mediaPool,
  type Candidate,
  type MediaCandidate,
  type Target,
} from "./candidates.ts";
export { AttemptFailure, failureOf } from "./failure.ts";
export { Failover } from "./failover.ts";
export { countBeyond, expectedBytes } from "./picture-bytes.ts";
export { logFailedAttempt, type Attempt, type AttemptNote } from "./record.ts";
