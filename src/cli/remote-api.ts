/** The management API as a running gateway serves it, and what a call of it is to commands. */
import { GatewayError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import type { DirectCall } from "../http/index.ts";

/** Of the management API; docs/management.md. */
const adminPrefix = "/admin/v1";

// oxlint-disable-next-line typescript/no-explicit-any -- the JSON of many routes, whose schemas are theirs
export type Json = any;

export interface Api {
  /** @throws GatewayError or {@link RefusedError} with what the API answers */
  call(call: DirectCall): Promise<Json>;
  /** The same for what an Idempotency-Key makes once. @throws as `call` */
  once(call: DirectCall): Promise<OnceAnswer>;
  /** A list as CSV, piece by piece; with `from` and `to`. @throws as `call` */
  csv(call: DirectCall): Promise<AsyncIterable<string>>;
}

export interface OnceAnswer {
  readonly body: Json;
  /** The key was used before: the answer is of then, and nothing was done now. */
  readonly isReplay: boolean;
}

/** The header of an answer that an Idempotency-Key gave before. */
export const replayedHeader = "idempotent-replayed";

/** A running gateway refused; its own words. */
export class RefusedError extends Error {
  override name = "RefusedError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Whether the API has no such object, at a running gateway or here. */
export const isMissing = (error: unknown): error is Error =>
  (error instanceof RefusedError || error instanceof GatewayError) && error.status === 404;

const answerMsMax = 30_000;
/** For 100,000 rows, page after page. */
const csvMsMax = 600_000;

/** The API of the gateway at `url`. */
export function remoteApi(url: string, token: string): Api {
  const base = url.replace(/\/+$/, "") + adminPrefix;
  const ask = async (call: DirectCall, accept: string, msMax: number): Promise<Response> => {
    const { method, path, query = {}, body, idempotencyKey } = call;
    const search = new URLSearchParams(query).toString();
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
    }).catch((error: unknown) => {
      throw new RefusedError(0, `no gateway answers at ${url}${whyNot(error)}`);
    });
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
      // A refusal is JSON, and so is the answer of a release that knows no CSV here.
      const isCsv = response.ok && response.headers.get("content-type")?.startsWith("text/csv");
      if (isCsv && response.body !== null) return partsOf(url, response.body);
      await read(url, response);
      throw new RefusedError(response.status, `${url} does not answer ${call.path} as CSV`);
    },
  };
}

const causeOf = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? error.cause : error;

/** OpenSSL's own words are several lines, of which the last is empty. */
const reasonOf = (error: unknown): string => {
  const cause = causeOf(error);
  return (cause instanceof Error ? cause.message : String(cause)).trim();
};

/** What OpenSSL says of an answer that is not TLS; it may be any server's. */
const plainAnswer = "ERR_SSL_WRONG_VERSION_NUMBER";

function whyNot(error: unknown): string {
  const { code } = (causeOf(error) ?? {}) as { readonly code?: unknown };
  return code === plainAnswer
    ? " by TLS: begin the address with http://, or name the port that has a certificate"
    : `: ${reasonOf(error)}. Is it running?`;
}

/** A gateway that stopped, or was too slow, in the middle of an answer. */
const brokenOff = (url: string, error: unknown): RefusedError =>
  new RefusedError(0, `the answer of ${url} broke off: ${reasonOf(error)}. Run it again`);

/** A body as text. @throws RefusedError where it breaks off */
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
