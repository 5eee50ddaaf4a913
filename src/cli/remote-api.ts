/** The management API of a running gateway, and the interface that commands use to call it. */
import { GatewayError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import type { DirectCall } from "../http/index.ts";

/** The management API's prefix; docs/management.md. */
const adminPrefix = "/admin/v1";

// oxlint-disable-next-line typescript/no-explicit-any -- the JSON of many routes, whose schemas are theirs
export type Json = any;

export interface Api {
  /** @throws GatewayError or {@link RefusedError} with the API's error */
  call(call: DirectCall): Promise<Json>;
  /** The same for a request with an Idempotency-Key. @throws as `call` */
  once(call: DirectCall): Promise<OnceAnswer>;
  /** Returns a list as CSV, in chunks; with `from` and `to`. @throws as `call` */
  csv(call: DirectCall): Promise<AsyncIterable<string>>;
}

export interface OnceAnswer {
  readonly body: Json;
  /** The key was used before: this is the earlier answer, and nothing was done now. */
  readonly isReplay: boolean;
}

/** Header that marks the repeated answer of an earlier request with the same Idempotency-Key. */
export const replayedHeader = "idempotent-replayed";

/** A running gateway refused a request, with its message. Status 0: there was no answer. */
export class RefusedError extends Error {
  override name = "RefusedError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** True if the object does not exist, according to a running gateway or the API in this process. */
export const isMissing = (error: unknown): error is Error =>
  (error instanceof RefusedError || error instanceof GatewayError) && error.status === 404;

const answerMsMax = 30_000;
/** After this time people are told what the command waits for. */
const silentMsMax = 2_000;
/** For 100,000 rows in several pages. */
const csvMsMax = 600_000;

/** Returns the API of the gateway at `url`. */
export function remoteApi(url: string, token: string): Api {
  const base = url.replace(/\/+$/, "") + adminPrefix;
  let isTold = false;
  const tell = (seconds: number): void => {
    if (!isTold)
      console.error(`Waiting for the gateway at ${url}, for ${seconds} seconds at most.`);
    isTold = true;
  };
  const ask = async (call: DirectCall, accept: string, msMax: number): Promise<Response> => {
    const { method, path, query = {}, body, idempotencyKey } = call;
    const search = new URLSearchParams(query).toString();
    const telling = setTimeout(tell, silentMsMax, msMax / 1000);
    return fetch(`${base}${path}${search === "" ? "" : `?${search}`}`, {
      method,
      signal: AbortSignal.timeout(msMax),
      headers: {
        accept,
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
      .catch((error: unknown) => {
        throw new RefusedError(0, `no gateway answers at ${url}${whyNot(error)}`);
      })
      .finally(() => clearTimeout(telling));
  };
  return {
    call: async (call) => read(url, await ask(call, "application/json", answerMsMax)),
    async once(call) {
      const response = await ask(call, "application/json", answerMsMax);
      const isReplay = response.headers.get(replayedHeader) === "true";
      return { body: await read(url, response), isReplay };
    },
    async csv(call) {
      const response = await ask(call, "text/csv", csvMsMax);
      // A refusal is JSON. So is the answer of a release without CSV for this list.
      const isCsv = response.ok && response.headers.get("content-type")?.startsWith("text/csv");
      if (isCsv && response.body !== null) return partsOf(url, response.body);
      await read(url, response);
      throw new RefusedError(response.status, `${url} does not answer ${call.path} as CSV`);
    },
  };
}

const causeOf = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? error.cause : error;

/** OpenSSL's messages have several lines, and the last one is empty. */
const reasonOf = (error: unknown): string => {
  const cause = causeOf(error);
  if (cause instanceof Error && cause.name === "TimeoutError") return "it took too long";
  return (cause instanceof Error ? cause.message : String(cause)).trim();
};

/** OpenSSL's error for an answer that is not TLS; any server may have sent it. */
const plainAnswer = "ERR_SSL_WRONG_VERSION_NUMBER";

function whyNot(error: unknown): string {
  const { code } = (causeOf(error) ?? {}) as { readonly code?: unknown };
  return code === plainAnswer
    ? " by TLS: begin the address with http://, or name the port that has a certificate"
    : `: ${reasonOf(error)}. Is it running?`;
}

/** The error if a gateway stopped, or was too slow, in the middle of an answer. */
const brokenOff = (url: string, error: unknown): RefusedError =>
  new RefusedError(0, `the answer of ${url} broke off: ${reasonOf(error)}. Run it again`);

/** Yields a body as text. @throws RefusedError where it breaks off */
async function* partsOf(url: string, body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  try {
    for await (const bytes of body) yield decoder.decode(bytes, { stream: true });
  } catch (error) {
    throw brokenOff(url, error);
  }
}

async function read(url: string, response: Response): Promise<Json> {
  const text = await response.text().catch((error: unknown) => {
    throw brokenOff(url, error);
  });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new RefusedError(response.status, `${url} does not answer as a gateway does`);
  }
  if (response.ok) return json;
  const error = isObject(json) && isObject(json["error"]) ? json["error"] : {};
  const message = typeof error["message"] === "string" ? error["message"] : text.slice(0, 200);
  const hint = response.status === 401 ? " Set TOLLGATE_ADMIN_TOKEN to the gateway's token." : "";
  throw new RefusedError(response.status, message + hint);
}
