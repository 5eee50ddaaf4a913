/**
 * The rows of the outcome table: what each status of an upstream means, and the refusals that say something else than their status.
 * docs/routing.md; Requirements: ERR.
 */
import type { WireError } from "../protocols/index.ts";
import { isAboutAccount, lacksMoney } from "./account.ts";
import { isForeignProof } from "./foreign-proof.ts";
import { isModelsMistake } from "./models-mistake.ts";
import { isModerated } from "./moderation.ts";
import { isAboutCallersThing, isAboutModel } from "./not-found.ts";
import { isOverRate } from "./over-rate.ts";
import type { retryAfterMsOf } from "./retry-after.ts";

/** What a status means; `Outcome` says what each member is. */
export interface Row {
  readonly fault: "caller" | "provider";
  readonly retrySame: boolean;
  readonly hurtsHealth: boolean;
  /** Whether it is the credential that is refused, and for what. */
  readonly refused?: "credential" | "model";
  /** Whether another account of the same provider may answer: its other credentials are asked first. */
  readonly ofAccount?: true;
  readonly code:
    | "upstream_rejected"
    | "upstream_error"
    | "rate_limit_exceeded"
    | "no_provider_available"
    | "upstream_timeout";
}

const callerMistake: Row = {
  fault: "caller",
  retrySame: false,
  hurtsHealth: false,
  code: "upstream_rejected",
};
/** Nobody is in trouble, and another provider may answer: the conversation began there, or its model makes no such mistake. */
const othersMay: Row = { ...callerMistake, fault: "provider" };
/** The same, and the account that gave the proof, or has the rate, may be another one of this provider's. */
const otherAccountsMay: Row = { ...othersMay, ofAccount: true };
const providerFault: Row = {
  fault: "provider",
  retrySame: true,
  hurtsHealth: true,
  code: "upstream_error",
};
/** The vendor asks to come again later, and its word for when reaches the caller. */
const overloaded: Row = { ...providerFault, code: "no_provider_available" };
/** Our configuration at this provider is wrong: asking it again is useless. */
const ourSetup: Row = {
  fault: "provider",
  retrySame: false,
  hurtsHealth: true,
  code: "upstream_error",
};
/** Our credential is wrong, or its account has no money: the provider is well, and may be asked with another one. */
const ourCredential: Row = { ...ourSetup, hurtsHealth: false, refused: "credential" };
/** Often of the model alone: an account may not have them all, and some are free. */
const ourCredentialHere: Row = { ...ourCredential, refused: "model" };
/** The credential has had its share of this model, for now. */
const limited: Row = {
  fault: "provider",
  retrySame: true,
  hurtsHealth: false,
  refused: "model",
  code: "rate_limit_exceeded",
};

const rows: Readonly<Record<number, Row>> = {
  400: callerMistake,
  401: ourCredential,
  402: ourCredential,
  403: ourCredentialHere,
  404: ourSetup,
  405: ourSetup,
  408: providerFault,
  409: providerFault,
  // Fireworks' number for an account that is suspended.
  412: ourCredential,
  413: callerMistake,
  415: callerMistake,
  422: callerMistake,
  // Amazon's number for a model that failed.
  424: providerFault,
  425: providerFault,
  429: limited,
  503: overloaded,
  504: { fault: "provider", retrySame: false, hurtsHealth: true, code: "upstream_timeout" },
  // Anthropic's own number for an overload.
  529: overloaded,
};

/** What vendors call a wrong credential or an account without money where the status does not say so. */
const credentialCodes = new Set(["invalid_api_key", "API_KEY_INVALID", "insufficient_quota"]);

/** What of an upstream's answer its outcome depends on. */
export interface Refusal {
  readonly status: number;
  /** Its error body as the protocol's `decodeError` understood it. */
  readonly wire: WireError;
  /** Of which `Retry-After` and `retry-after-ms` are read. */
  readonly headers: Parameters<typeof retryAfterMsOf>[0];
  /** Whether the request names anything that its vendor keeps, such as a file; asked where the refusal does not say. */
  readonly namesThing?: (() => boolean) | undefined;
}

/** The row of a refusal. */
export function rowOf({ status, wire, namesThing = () => false }: Refusal): Row {
  // Google refuses a wrong key with 400; it is ours, not the caller's.
  if (wire.code !== undefined && credentialCodes.has(wire.code)) return ourCredential;
  if (isModerated(wire.message)) return callerMistake;
  if (isOverRate(wire.message)) return otherAccountsMay;
  if (isAboutCallersThing(status, wire, namesThing)) return callerMistake;
  const said = status === 400 ? saidRow(wire) : undefined;
  if (said) return said;
  const row = rows[status] ?? (status >= 500 || status < 400 ? providerFault : callerMistake);
  return accountRow(row, wire) ?? row;
}

/** What a 400 says is wrong, where that is not the request. */
function saidRow(wire: WireError): Row | undefined {
  if (isAboutModel(wire)) return ourSetup;
  if (isForeignProof(wire)) return otherAccountsMay;
  return isModelsMistake(wire) ? othersMay : undefined;
}

/** The row of a refusal of our account under another status; undefined where it is none. */
function accountRow(row: Row, { code = "", message }: WireError): Row | undefined {
  if (row === callerMistake) return isAboutAccount(code, message) ? ourCredential : undefined;
  const isOther = row === limited || row === providerFault;
  return isOther && lacksMoney(message) ? ourCredentialHere : undefined;
}
