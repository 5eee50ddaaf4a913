/** Attempts at providers: candidates, credentials, failures, records and failover. */
export {
  mediaCandidate,
  mediaPool,
  nextAfter,
  trustedUrl,
  type Candidate,
  type MediaCandidate,
  type KeyedCandidate,
  type ProviderAttempts,
} from "./candidates.ts";
export { AttemptFailure, badAnswer, callersFault, failureOf, type Failure } from "./failure.ts";
export { Failover } from "./failover.ts";
export { expectedBytes, PictureRoom } from "./picture-bytes.ts";
export { logFailedAttempt, reportFailure, type Attempt, type AttemptNote } from "./record.ts";
export { providerAttributes } from "./trace.ts";
