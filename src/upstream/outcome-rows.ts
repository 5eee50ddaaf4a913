/**
 * The rows of the outcome table: the meaning of each upstream status, and of refusals whose text overrides their status. docs/routing.md;
 * Requirements: ERR.
 */
import type { WireError } from "../protocols/index.ts";
import {
  hasSpentAll,
  hasSpentBudget,
  isAboutAccount,
  lacksAccess,
  lacksModel,
  lacksMoney,
} from "./account.ts";
import { isForeignProof } from "./foreign-proof.ts";
import { isModelsMistake } from "./models-mistake.ts";
import { isModerated } from "./moderation.ts";
import { isAboutStoredObject, isAboutModel } from "./not-found.ts";
import { isOverRate } from "./over-rate.ts";
import type { retryAfterMsOf } from "./retry-after.ts";
import { isTooLong } from "./too-long.ts";

/** The meaning of a status; `Outcome` describes each member. */
export interface Row {
  readonly fault: "caller" | "provider";
  readonly retrySame: boolean;
  readonly hurtsHealth: boolean;
  /** Present if the credential was refused: for all models, or for this one. */
  readonly refused?: "credential" | "model";
  /** Present if another account of the same provider may answer: its other credentials are tried first. */
  readonly otherAccountMayAnswer?: true;
  /** Present if the vendor may answer the same request without the earlier reasoning that another vendor or account made. */
  readonly refusesProof?: true;
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
/** Does not count against the provider, and another one may answer: the conversation began there, or its model makes no such mistake. */
const otherProvidersMayAnswer: Row = { ...callerMistake, fault: "provider" };
/** As `otherProvidersMayAnswer`. Another account of this provider may have made the proof, or may have a higher rate. */
const otherAccountsMayAnswer: Row = { ...otherProvidersMayAnswer, otherAccountMayAnswer: true };
const foreignProof: Row = { ...otherAccountsMayAnswer, refusesProof: true };
const providerFault: Row = {
  fault: "provider",
  retrySame: true,
  hurtsHealth: true,
  code: "upstream_error",
};
/** The vendor asks to retry later; its wait is passed on to the caller. */
const overloaded: Row = { ...providerFault, code: "no_provider_available" };
/** A service tier that the request names is full: the provider's others are not. */
const fullTier: Row = { ...overloaded, hurtsHealth: false };
/** The operator's configuration of this provider is wrong: a retry is useless. */
const ourSetup: Row = {
  fault: "provider",
  retrySame: false,
  hurtsHealth: true,
  code: "upstream_error",
};
/** The operator's credential is wrong, or its account has no money. The provider is healthy, and another credential may work. */
const ourCredential: Row = { ...ourSetup, hurtsHealth: false, refused: "credential" };
/** Often about the model alone: an account may lack some models, and some are free. */
const ourCredentialHere: Row = { ...ourCredential, refused: "model" };
/** The credential's rate for this model is used up for now. */
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
  // About the HTTP of the request, which the gateway writes: the caller has no part in it.
  406: ourSetup,
  407: ourSetup,
  408: providerFault,
  409: providerFault,
  // NVIDIA's status for a retired model.
  410: ourSetup,
  411: ourSetup,
  // Fireworks' status for a suspended account.
  412: ourCredential,
  413: callerMistake,
  415: callerMistake,
  417: ourSetup,
  421: ourSetup,
  422: callerMistake,
  // Amazon's status for a model that failed.
  424: providerFault,
  425: providerFault,
  426: ourSetup,
  429: limited,
  431: ourSetup,
  // Groq's status for a flex tier without capacity.
  498: fullTier,
  // Google cancels calls under load. This client is still there, whatever the status says.
  499: providerFault,
  503: overloaded,
  504: { fault: "provider", retrySame: false, hurtsHealth: true, code: "upstream_timeout" },
  // Anthropic's own status for an overload.
  529: overloaded,
};

/** Vendors' codes for a wrong credential, if the status does not show it. */
const credentialCodes = new Set(["invalid_api_key", "API_KEY_INVALID"]);

/** The parts of an upstream's answer that decide its outcome. */
export interface Refusal {
  readonly status: number;
  /** The error body, as the protocol's `decodeError` read it. */
  readonly wire: WireError;
  /** The headers; `Retry-After`, `retry-after-ms`, `x-should-retry` and `x-amzn-errortype` are read. */
  readonly headers: Parameters<typeof retryAfterMsOf>[0];
  /** True if the request names an object that the vendor stores, such as a file; called only if the refusal does not say. */
  readonly namesStoredObject?: (() => boolean) | undefined;
}

/** Returns the row of a refusal. */
export function rowOf({ status, wire, headers, namesStoredObject = () => false }: Refusal): Row {
  // Google refuses a wrong key with 400; it is the operator's key, not the caller's.
  const { code = "" } = wire;
  if (credentialCodes.has(code) || hasSpentAll(wire)) return ourCredential;
  if (isModerated(wire.message)) return callerMistake;
  if (isOverRate(wire.message)) return otherAccountsMayAnswer;
  if (isAboutStoredObject(status, wire, namesStoredObject)) return callerMistake;
  const notTheirs = status === 400 ? rowOfBadRequest(wire, headers) : undefined;
  if (notTheirs) return notTheirs;
  const row = rows[status] ?? (status >= 500 || status < 400 ? providerFault : callerMistake);
  return rowByWords(row, wire) ?? row;
}

/** Amazon names the class of an error only in a header. Those of limits may come with 400. */
const amazonLimit = /^(?:ServiceQuotaExceeded|Throttling)Exception\b/;

/** nginx and Go answer so to `http://` at a port for TLS. Anchored, because a message may quote a prompt. */
const plainHttp =
  /^(?:400 (?:bad request )?the plain HTTP request was sent to HTTPS port|client sent an HTTP request to an HTTPS server)/i;

/** The row of a 400 that is not about the request; undefined for any other. */
function rowOfBadRequest(wire: WireError, headers: Refusal["headers"]): Row | undefined {
  if (amazonLimit.test(String(headers["x-amzn-errortype"]))) return limited;
  if (isAboutModel(wire) || plainHttp.test(wire.message)) return ourSetup;
  if (lacksAccess(wire.message)) return ourCredentialHere;
  if (isForeignProof(wire)) return foreignProof;
  return isModelsMistake(wire) ? otherProvidersMayAnswer : undefined;
}

/** The row of a refusal whose words say more than its status; undefined if they do not. */
function rowByWords(row: Row, wire: WireError): Row | undefined {
  const { code = "", message } = wire;
  if (row === ourCredential) return lacksModel(wire) ? ourCredentialHere : undefined;
  if ((row === callerMistake || row === limited) && hasSpentBudget(wire)) return ourCredentialHere;
  if (row === callerMistake) return isAboutAccount(code, message) ? ourCredential : undefined;
  if (row !== limited && row !== providerFault) return undefined;
  if (lacksMoney(message)) return ourCredentialHere;
  // LocalAI and older llama.cpp fail so, and gateways before other vendors. One prompt must not take the provider from other callers.
  return row === providerFault && isTooLong(wire) ? otherProvidersMayAnswer : undefined;
}
