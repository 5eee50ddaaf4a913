/**
 * The one outcome table: what an upstream's answer or failure means for the caller, for the next attempt and for health.
 * design.md section 7; spec "Errors" 3; decisions.md. A failed attempt moves on before the first byte only.
 */
import { GatewayError } from "../base/errors.ts";
import type { WireError } from "../protocols/index.ts";
import { ExchangeError } from "./exchange.ts";

/** What to do after an attempt that did not succeed. */
export interface Outcome {
  /** `caller`: the request itself was refused, and every provider would refuse it. `provider`: another one may answer. */
  readonly blame: "caller" | "provider";
  /** True when the same provider may be asked once more, after a short pause. */
  readonly retrySame: boolean;
  readonly hurtsHealth: boolean;
  /** What the caller is told when this attempt was the last. */
  readonly error: GatewayError;
}

type Row = Omit<Outcome, "error"> & {
  readonly code:
    | "upstream_rejected"
    | "upstream_error"
    | "rate_limit_exceeded"
    | "no_provider_available"
    | "upstream_timeout";
};

const callerMistake: Row = {
  blame: "caller",
  retrySame: false,
  hurtsHealth: false,
  code: "upstream_rejected",
};
const providerFault: Row = {
  blame: "provider",
  retrySame: true,
  hurtsHealth: true,
  code: "upstream_error",
};
/** The vendor asks to come again later, and its word for when reaches the caller. */
const overloaded: Row = { ...providerFault, code: "no_provider_available" };
/** Our credential, our account or our configuration at this provider is wrong: asking it again is useless. */
const ourSetup: Row = {
  blame: "provider",
  retrySame: false,
  hurtsHealth: true,
  code: "upstream_error",
};

const rows: Readonly<Record<number, Row>> = {
  400: callerMistake,
  401: ourSetup,
  402: ourSetup,
  403: ourSetup,
  404: ourSetup,
  405: ourSetup,
  408: providerFault,
  409: providerFault,
  413: callerMistake,
  415: callerMistake,
  422: callerMistake,
  425: providerFault,
  429: { blame: "provider", retrySame: true, hurtsHealth: false, code: "rate_limit_exceeded" },
  503: overloaded,
  504: { blame: "provider", retrySame: false, hurtsHealth: true, code: "upstream_timeout" },
  // Anthropic's own number for an overload.
  529: overloaded,
};

/** What vendors call a wrong credential where the status does not say so. */
const credentialCodes = new Set(["invalid_api_key", "API_KEY_INVALID"]);

const retryAfterSecondsDefault = 5;

/**
 * Reads an upstream's refusal. `wire` is its error body as the protocol's `decodeError` understood it,
 * `retryAfter` its header. Statuses without a row of their own: below 500 the caller's, from 500 up the provider's.
 */
export function outcomeOfStatus(
  status: number,
  wire: WireError,
  retryAfter: string | undefined,
): Outcome {
  // Google refuses a wrong key with 400; it is ours, not the caller's.
  const row =
    wire.code !== undefined && credentialCodes.has(wire.code)
      ? ourSetup
      : (rows[status] ?? (status >= 500 || status < 400 ? providerFault : callerMistake));
  return { ...row, error: errorOf(row, status, wire, secondsOf(retryAfter, wire)) };
}

function errorOf(
  row: Row,
  status: number,
  wire: WireError,
  retryAfterSeconds: number,
): GatewayError {
  switch (row.code) {
    case "upstream_rejected":
      return new GatewayError("upstream_rejected", wire.message, { status, param: wire.param });
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
      return new GatewayError("upstream_error", `The provider failed with status ${status}.`);
  }
}

/** The header's word, else the body's, within reason. */
function secondsOf(retryAfter: string | undefined, wire: WireError): number {
  const seconds = Number(retryAfter ?? wire.retryAfterSeconds);
  return Number.isFinite(seconds) && seconds > 0
    ? Math.min(Math.ceil(seconds), 3600)
    : retryAfterSecondsDefault;
}

/** Reads a failure without an HTTP status. */
export function outcomeOfFailure(error: unknown): Outcome {
  const failure = error instanceof ExchangeError ? error.failure : "broken";
  const timedOut =
    failure === "first_byte_timeout" || failure === "idle_timeout" || failure === "total_timeout";
  return {
    blame: "provider",
    retrySame: failure === "connect" || failure === "broken",
    hurtsHealth: failure !== "aborted",
    error: timedOut
      ? new GatewayError("upstream_timeout", "The provider did not answer in time.", {
          cause: error,
        })
      : new GatewayError("upstream_error", "The connection to the provider failed.", {
          cause: error,
        }),
  };
}
