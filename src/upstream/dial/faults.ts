/**
 * The one table of connection errors: codes of DNS, TCP, TLS and proxies, with their meaning and the remedy. The texts are for operators,
 * in the log, the records of attempts and `tollgate doctor`; callers never read them.
 */
import type { DialRoute } from "./dial-route.ts";

/**
 * The step at which a connection failed. `dns`: the name has no address. `tls`: one side refused the other's certificate, or it does not
 * speak TLS. `proxy`: the proxy cannot be reached, or refuses.
 */
export type FaultKind = "dns" | "connect" | "tls" | "proxy";

export interface Fault {
  readonly kind: FaultKind;
  /** Such as `ENOTFOUND` or `CERT_HAS_EXPIRED`. */
  readonly code: string;
  /** The meaning, in words. */
  readonly meaning: string;
  /** The remedy for the operator. */
  readonly hint: string;
}

type Row = readonly [kind: FaultKind, meaning: string, hint: string];

const network = "check the network, the firewall, and whether a proxy is needed (HTTPS_PROXY)";
const resolver = "check the name in base_url, and the machine's resolver";
const authority =
  "name the authority's certificate in the provider's tls.ca, or in NODE_EXTRA_CA_CERTS for all (NODE_USE_SYSTEM_CA=1: the system's)";
const clock = "check the machine's clock, and tell whoever runs the server";
const client = "give the provider tls.cert and tls.key, and check that the server trusts them";
const versions = "check that base_url and its port are those of an HTTPS server";

const otherNames = "check the name in base_url, or set the provider's tls.server_name";
const proxyAddress =
  "check the proxy's address (HTTPS_PROXY, or the provider's proxy), and NO_PROXY";

/** Replaces hints that name a provider's settings, for other servers: buckets, collectors, the public list of models. */
const hintsElsewhere: ReadonlyMap<string, string> = new Map([
  [resolver, "check the name in the address, and the machine's resolver"],
  [
    authority,
    "name the authority's certificate in NODE_EXTRA_CA_CERTS (NODE_USE_SYSTEM_CA=1: the system's)",
  ],
  [client, "check that the server takes clients without a certificate"],
  [versions, "check that the address and its port are those of an HTTPS server"],
  [otherNames, "check the name in the address"],
  [proxyAddress, "check the proxy's address (HTTPS_PROXY), and NO_PROXY"],
]);

const rows: Readonly<Record<string, Row>> = {
  ENOTFOUND: ["dns", "the name does not exist", resolver],
  ENODATA: ["dns", "the name has no address", resolver],
  EAI_NONAME: ["dns", "the name does not exist", resolver],
  EAI_NODATA: ["dns", "the name has no address", resolver],
  EAI_AGAIN: ["dns", "the resolver does not answer", "check the machine's resolver and network"],
  EAI_FAIL: ["dns", "the resolver fails", "check the machine's resolver"],
  ECONNREFUSED: [
    "connect",
    "nobody listens there",
    "check host and port, and that the server runs",
  ],
  ECONNRESET: ["connect", "the other side closed the connection", network],
  EPIPE: ["connect", "the other side closed the connection", network],
  ECONNABORTED: ["connect", "the connection was given up", network],
  EHOSTUNREACH: ["connect", "there is no way to the host", network],
  EHOSTDOWN: ["connect", "the host is down", network],
  ENETUNREACH: ["connect", "there is no way to its network", network],
  ENETDOWN: ["connect", "the network is down", network],
  EACCES: ["connect", "the system forbids it", "check the firewall of this machine"],
  EPERM: ["connect", "the system forbids it", "check the firewall of this machine"],
  ETIMEDOUT: ["connect", "no answer in time", network],
  UND_ERR_CONNECT_TIMEOUT: ["connect", "no answer in time", network],
  CERT_HAS_EXPIRED: ["tls", "the certificate has expired", clock],
  CERT_NOT_YET_VALID: ["tls", "the certificate is not valid yet", clock],
  CERT_REVOKED: ["tls", "the certificate was revoked", "tell whoever runs the server"],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["tls", "the certificate is signed by itself", authority],
  SELF_SIGNED_CERT_IN_CHAIN: ["tls", "the authority is not known here", authority],
  UNABLE_TO_GET_ISSUER_CERT: ["tls", "the authority is not known here", authority],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ["tls", "the authority is not known here", authority],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: [
    "tls",
    "the authority is not known here, or the server does not send the certificates between",
    authority,
  ],
  CERT_UNTRUSTED: ["tls", "the authority is not trusted for this", authority],
  INVALID_CA: ["tls", "what signed the certificate is no authority", authority],
  INVALID_PURPOSE: ["tls", "the certificate is not one of a server", authority],
  CERT_SIGNATURE_FAILURE: ["tls", "the certificate's signature is wrong", authority],
  ERR_TLS_CERT_ALTNAME_INVALID: ["tls", "the certificate is for other names", otherNames],
  ERR_SSL_WRONG_VERSION_NUMBER: ["tls", "it does not speak TLS", versions],
  ERR_SSL_PACKET_LENGTH_TOO_LONG: ["tls", "it does not speak TLS", versions],
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: ["tls", "it wants a client certificate", client],
  "ERR_SSL_TLSV1.3_ALERT_CERTIFICATE_REQUIRED": ["tls", "it wants a client certificate", client],
  "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE": [
    "tls",
    "it refused the handshake, as without a client certificate or a common version",
    client,
  ],
  "ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE": ["tls", "it refused the client certificate", client],
  "ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_UNKNOWN": ["tls", "it refused the client certificate", client],
  "ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED": [
    "tls",
    "it refused the client certificate as expired",
    client,
  ],
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: [
    "tls",
    "it does not know the authority of the client certificate",
    client,
  ],
  PROXY_407: [
    "proxy",
    "the proxy wants other credentials",
    "check user and password in the proxy's address",
  ],
  PROXY_403: ["proxy", "the proxy does not allow it", "have the host allowed at the proxy"],
  PROXY_UNREACHABLE: ["proxy", "the proxy cannot be reached", proxyAddress],
  PROXY_MALFORMED: [
    "proxy",
    "what answers is no HTTP proxy",
    "check the proxy's address, and whether it begins with http:// or https://",
  ],
};

/** The row of a proxy's refusal without a row of its own. */
const refusedByProxy: Row = [
  "proxy",
  "the proxy could not connect",
  "check that the proxy can resolve and reach the host",
];

const othersOfTls: Row = ["tls", "the handshake failed", versions];

const rowOf = (code: string): Row | undefined => {
  if (Object.hasOwn(rows, code)) return rows[code];
  if (code.startsWith("PROXY_")) return refusedByProxy;
  return /^ERR_(?:SSL|TLS)_|^EPROTO$|^(?:CERT|CRL)_/.test(code) ? othersOfTls : undefined;
};

/** Returns the fault of a connection error; undefined if the error is not about connecting. */
function faultOf(error: unknown): Fault | undefined {
  const code = codeOf(error);
  const row = code === undefined ? undefined : rowOf(code);
  if (code === undefined || row === undefined) return undefined;
  const [kind, meaning, hint] = row;
  return { kind, code, meaning, hint };
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("code" in error && typeof error.code === "string") return error.code;
  // With several addresses, the first error says as much as all.
  return error instanceof AggregateError ? codeOf(error.errors[0]) : undefined;
}

const label: Readonly<Record<FaultKind, string>> = {
  dns: "DNS: ",
  connect: "",
  tls: "TLS: ",
  proxy: "",
};

/** Further details of an error: address, names, dates. */
interface Told {
  readonly hostname?: unknown;
  readonly address?: unknown;
  readonly port?: unknown;
  readonly proxy?: unknown;
  readonly validTo?: unknown;
  readonly validFrom?: unknown;
  readonly cert?: { readonly subjectaltname?: unknown };
}

/** `ENOTFOUND api.example.com (DNS: the name does not exist); check ...`. Never contains a credential. */
function faultText(fault: Fault, error: unknown, host: string): string {
  const told = (error ?? {}) as Told;
  const proxy = text(told.proxy);
  const address = text(told.address);
  const server = address === undefined ? host : `${host} at ${address}:${String(told.port)}`;
  const cause = causeOf(error);
  const why = cause ? `: ${cause.code}, ${cause.meaning}` : "";
  const onTheWay = proxy === undefined ? "" : ` (on the way to ${host})`;
  // A proxy's certificate is checked with the common authorities, never with a provider's.
  const hint = cause?.kind === "tls" ? "name its authority in NODE_EXTRA_CA_CERTS" : fault.hint;
  const meaning = `${label[fault.kind]}${fault.meaning}${why}${detailOf(fault, told)}${onTheWay}`;
  return `${fault.code} ${proxy ?? text(told.hostname) ?? server} (${meaning}); ${hint}`;
}

const namesShownMax = 200;

/** The part of the certificate that is at fault. */
function detailOf({ code }: Fault, { validTo, validFrom, cert }: Told): string {
  const names = text(cert?.subjectaltname)?.slice(0, namesShownMax);
  if (names !== undefined) return ` (${names})`;
  const [to, from] = [text(validTo), text(validFrom)];
  if (code === "CERT_HAS_EXPIRED" && to !== undefined) return ` (valid to ${to})`;
  return code === "CERT_NOT_YET_VALID" && from !== undefined ? ` (valid from ${from})` : "";
}

/** The reason why a proxy could not be reached. */
const causeOf = (error: unknown): Fault | undefined =>
  error instanceof Error && "proxy" in error ? faultOf(error.cause) : undefined;

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** A connection that could not be made, with the texts of the table. `cause` is the original error. */
export class FaultError extends Error {
  override name = "FaultError";
  readonly fault: Fault;

  constructor(fault: Fault, error: unknown, host: string) {
    super(faultText(fault, error, host), { cause: error });
    this.fault = fault;
  }
}

/** Converts an error to a FaultError if the table has it; otherwise returns it unchanged. `isOther`: the server is not a provider's. */
export function asFault(
  error: Error,
  host: string,
  { isOther = false }: Pick<DialRoute, "isOther"> = {},
): Error {
  const fault = error instanceof FaultError ? undefined : faultOf(error);
  if (fault === undefined) return error;
  const hint = (isOther && hintsElsewhere.get(fault.hint)) || fault.hint;
  return new FaultError({ ...fault, hint }, error, host);
}

/** Alerts by which a server refuses the gateway's certificate: in TLS 1.3 after the handshake, before it reads anything. */
const certificateAlert =
  /_ALERT_(?:CERTIFICATE|BAD_CERTIFICATE|UNSUPPORTED_CERT|UNKNOWN_CA|HANDSHAKE)/;

/** Returns the refusal of a proxy or TLS on an open connection; else undefined. The server has not read the request. */
export function lateRefusal(error: Error, host: string): FaultError | undefined {
  const fault = asFault(error, host);
  if (!(fault instanceof FaultError)) return undefined;
  const { kind, code } = fault.fault;
  return kind === "proxy" || (kind === "tls" && certificateAlert.test(code)) ? fault : undefined;
}

/** A connection was not open in time. */
export const lateConnection = (): Error =>
  Object.assign(new Error("no connection in time"), { code: "ETIMEDOUT" });
