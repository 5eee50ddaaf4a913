/**
 * The one outcome table: what an upstream's answer or failure means for the caller, for the next attempt and for health.
 * docs/routing.md; Requirements: ERR; docs/decisions.md "Client disconnect". A failed attempt moves on before the first byte only.
 */
import { GatewayError, overloaded as gatewayOverloaded } from "../base/errors.ts";
import type { WireError } from "../protocols/index.ts";
import { BadAnswerError } from "./bad-answer.ts";
import { ExchangeError, type ExchangeFailure } from "./exchange-error.ts";
import { moderationWords } from "./moderation.ts";
import { isOverRate, overRateWords } from "./over-rate.ts";
import { rowOf, type Refusal, type Row } from "./outcome-rows.ts";
import { retryAfterMsOf } from "./retry-after.ts";
import { toldStatus } from "./told-status.ts";
import { isTooLong, tooLong } from "./too-long.ts";

/** What a refusal says of the credential an attempt was made with. */
interface RefusedCredential {
  /** `credential`: it works for no model. `model`: not for this one now, such as a limited rate. */
  readonly of: "credential" | "model";
  /** How long the vendor asks to be left alone; absent where it names no time. */
  readonly retryAfterMs?: number | undefined;
}

/** What to do after an attempt that did not succeed. */
export interface Outcome {
  /**
   * `caller`: the request itself was refused, and every provider would refuse it. `gateway`: we are short of what every
   * attempt needs. `provider`: another one may answer.
   */
  readonly fault: "caller" | "gateway" | "provider";
  /** True when the same provider may be asked once more, after a short pause. */
  readonly retrySame: boolean;
  readonly hurtsHealth: boolean;
  /** The provider let its caller wait for nothing. */
  readonly silent: boolean;
  /** Present where it was the credential that was refused: another one may do. */
  readonly credential?: RefusedCredential | undefined;
  /** Another account of the same provider may answer: its credential is as good as before. */
  readonly ofAccount?: boolean | undefined;
  /** What the caller gets when this attempt was the last. */
  readonly error: GatewayError;
}

/** What a caller is told of a provider that names no time. */
export const retryAfterSecondsDefault = 5;
const retryAfterSecondsMax = 3600;

/**
 * Reads an upstream's refusal. Statuses without a row of their own: below 500 the caller's, from 500 up the provider's.
 * `nowMs` is what a date in `Retry-After` is compared with.
 */
export function outcomeOfStatus(refusal: Refusal, nowMs: number): Outcome & Pick<Row, "fault"> {
  const { status, wire, headers } = refusal;
  const row = rowOf(refusal);
  const { fault, retrySame, hurtsHealth, refused, ofAccount } = row;
  const retryAfterMs = retryAfterMsOf(headers, nowMs) ?? retryAfterInBody(wire);
  return {
    fault,
    retrySame,
    hurtsHealth,
    silent: false,
    credential: refused && { of: refused, retryAfterMs },
    ofAccount,
    error: errorOf(row, status, wire, secondsOf(retryAfterMs)),
  };
}

function retryAfterInBody({ retryAfterSeconds }: WireError): number | undefined {
  return retryAfterSeconds === undefined || !(retryAfterSeconds > 0)
    ? undefined
    : retryAfterSeconds * 1000;
}

function errorOf(
  row: Row,
  status: number,
  wire: WireError,
  retryAfterSeconds: number,
): GatewayError {
  switch (row.code) {
    case "upstream_rejected":
      if (isTooLong(wire)) return tooLong(wire, status);
      if (isOverRate(wire.message)) return overRate(wire);
      return new GatewayError("upstream_rejected", moderationWords(wire.message), {
        status,
        param: wire.param,
      });
    case "rate_limit_exceeded":
      return new GatewayError(
        "rate_limit_exceeded",
        "Every provider of this model limits its rate now.",
        { retryAfterSeconds },
      );
    case "no_provider_available":
      return new GatewayError(row.code, "Every provider of this model is overloaded now.", {
        retryAfterSeconds,
      });
    case "upstream_timeout":
      return new GatewayError(
        "upstream_timeout",
        `The provider answered ${status}: it gave up waiting.`,
      );
    case "upstream_error":
      // The provider's own text may name our account or key: it goes to the request log, not to the caller.
      return new GatewayError("upstream_error", failedWith(status));
  }
}

/** Whatever its vendor's status: 429 would say that waiting helps. */
const overRate = ({ message, param }: WireError): GatewayError =>
  new GatewayError("upstream_rejected", overRateWords(message), { status: 413, param });

/** What a caller reads of a provider that failed. Our refused key must not look like theirs. */
export const failedWith = (status: number): string =>
  `The provider failed with status ${status}.` +
  (status === 401 || status === 403
    ? " It refused this gateway's own key, not yours: whoever runs the gateway sees why."
    : "");

/** The vendor's word for the caller, within reason. */
const secondsOf = (retryAfterMs: number | undefined): number =>
  retryAfterMs === undefined
    ? retryAfterSecondsDefault
    : Math.min(Math.ceil(retryAfterMs / 1000), retryAfterSecondsMax);

/** Reads a failure without an HTTP status, or an answer that cannot be used. */
export function outcomeOfFailure(error: unknown): Outcome {
  const failure = error instanceof ExchangeError ? error.failure : "broken";
  if (failure === "shortage") return ourShortage(error);
  if (failure === "upload") return ourStorage(error);
  if (failure === "unauthorized") return noCredential(error);
  const told = error instanceof BadAnswerError ? toldInAnswer(error) : undefined;
  if (told) return told;
  const timedOut =
    failure === "first_byte_timeout" || failure === "idle_timeout" || failure === "total_timeout";
  const unusable = reasonUnusable(error);
  return {
    fault: "provider",
    // A vendor that answered has done its work: it is not asked to do it twice.
    retrySame: unusable === undefined && mayPass(failure),
    // Whoever sends a request that a model stumbles over must not take the provider from others.
    hurtsHealth: failure !== "aborted" && !(error instanceof BadAnswerError && error.isModels),
    silent: timedOut,
    error: timedOut
      ? new GatewayError("upstream_timeout", "The provider did not answer in time.", {
          cause: error,
        })
      : new GatewayError("upstream_error", unusable ?? "The connection to the provider failed.", {
          cause: error,
        }),
  };
}

/** The outcome of an answer that holds a refusal, or an error that its status would have told; undefined for any other. */
function toldInAnswer({ refusal, told }: BadAnswerError): Outcome | undefined {
  if (refusal) return refusedInAnswer(refusal);
  const status = told && toldStatus(told);
  return told && status ? outcomeOfStatus({ status, wire: told, headers: {} }, 0) : undefined;
}

/** Whether it may be gone a moment later. A certificate does not change so soon, and a name that does not exist neither. */
const mayPass = (failure: ExchangeFailure): boolean =>
  failure === "connect" || failure === "broken" || failure === "proxy";

/** What a caller reads about an answer that came and cannot be used; undefined where none came. */
function reasonUnusable(error: unknown): string | undefined {
  if (error instanceof BadAnswerError) return unusableAnswer(error.reason);
  if (!(error instanceof ExchangeError)) return undefined;
  const { failure, message } = error;
  return failure === "unreadable" || failure === "too_large" ? unusableAnswer(message) : undefined;
}

/** The sentence for it. */
export const unusableAnswer = (reason: string): string =>
  `The provider's answer cannot be used: ${reason}.`;

/** It says nothing of the provider, and the same would follow if it were asked again at once. */
const nothingOfProvider = { retrySame: false, hurtsHealth: false, silent: false } as const;

/** The vendor refused the request in what looked like an answer. */
const refusedInAnswer = (error: GatewayError): Outcome => ({
  fault: "caller",
  ...nothingOfProvider,
  error,
});

/** No token to be had: the provider is well, and asking at once again is useless. */
const noCredential = (cause: unknown): Outcome => ({
  fault: "provider",
  ...nothingOfProvider,
  credential: { of: "credential" },
  error: new GatewayError("upstream_error", "The gateway has no credential for the provider now.", {
    cause,
  }),
});

/** Every provider would be sent half a request. */
const ourStorage = (cause: unknown): Outcome => ({
  fault: "gateway",
  ...nothingOfProvider,
  error: new GatewayError("internal_error", "The gateway could not read a file of this request.", {
    cause,
  }),
});

/** The provider was never reached: asking another one would only make the shortage worse. */
const ourShortage = (cause: unknown): Outcome => ({
  fault: "gateway",
  ...nothingOfProvider,
  error: gatewayOverloaded("The gateway has no connection to a provider left now.", cause),
});
