/**
 * The endpoints that answer at once: the four text protocols with their streaming forms, and embeddings. TXT-01 to TXT-04, STREAM-01, STREAM-02.
 * Their routes in Fastify only hand over, and most requests do not go through it at all (`takeTextRequest`): its router,
 * hooks and body parser take as long as the key, the bounds and the parse. Many are not even read by Node's HTTP (front/fast/).
 */
import type { FastifyInstance, onRequestHookHandler } from "fastify";
import type { ByteLease } from "../../base/byte-budget.ts";
import { GatewayError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type { JsonSource } from "../../base/json-source.ts";
import { countInputTokens, runTextCall, type RateUse } from "../../calls/index.ts";
import type { CallProtocol, JsonObject } from "../../protocols/index.ts";
import type { Caller } from "../../tenancy/index.ts";
import { jsonBody, modelInBody, streamInBody } from "../bodies/body.ts";
import { textLimit } from "../bodies/body-limits.ts";
import { callerHeaders, callerOf } from "../callers/caller.ts";
import type { RequestBody } from "../exchange.ts";
import { answerFailure, type Asked } from "../errors/failure.ts";
import { parseModelPath } from "./model-path.ts";
import { queryOf } from "../path.ts";
import { rateOf } from "../callers/rate-headers.ts";
import { readBytes } from "../bodies/receive-body.ts";
import { requestIdHeaders } from "../errors/reply-error.ts";
import { createTextReply } from "./reply-stream.ts";
import { shuttingDown, type HttpServices } from "../services.ts";

/** The protocol of each path. Where the model stands in the path, so does the method. */
const protocols: Readonly<Record<string, CallProtocol>> = {
  "/v1/chat/completions": "chat",
  "/v1/responses": "responses",
  "/v1/messages": "messages",
  "/v1/embeddings": "embeddings",
  // generateContent, also under the spellings that current SDKs send (docs/decisions.md "Other spellings").
  "/v1beta/*": "generate_content",
  "/v1/models/*": "generate_content",
};

/** Adds the text endpoints to Fastify's routes. */
export function registerTextRoutes(app: FastifyInstance, services: HttpServices): void {
  for (const [path, protocol] of Object.entries(protocols)) {
    // Before Fastify reads the body, and instead of everything it would do after.
    const onRequest: onRequestHookHandler = (request, reply) => {
      reply.hijack();
      const { raw, id } = request;
      void serve(services, protocol, { raw, response: reply.raw, id, body: raw });
    };
    app.post(path, { onRequest }, () => undefined);
  }
}

const generates = /^\/v1beta\/.*:(?:generate|streamGenerate)Content(?:\?|$)/;

/**
 * Answers a request that is, to the letter, one for a text endpoint. False for every other request, which is untouched:
 * Fastify knows the other spellings, methods and paths. `body` is the request's, or what it is read from.
 */
export function takeTextRequest(
  services: HttpServices,
  { raw, response, body }: Omit<Received, "id">,
): boolean {
  if (raw.method !== "POST") return false;
  const url = raw.url ?? "";
  const protocol = Object.hasOwn(protocols, url) ? protocols[url] : undefined;
  if (protocol === undefined && !generates.test(url)) return false;
  void serve(services, protocol ?? "generate_content", { raw, response, body, id: newId("req") });
  return true;
}

/** A request whose body may still be on its way. */
interface Received extends Asked {
  readonly body: RequestBody;
}

/** The key, the body, the call. Never rejects. */
async function serve(
  services: HttpServices,
  protocol: CallProtocol,
  asked: Received,
): Promise<void> {
  const lease = services.bodies.budget.lease();
  try {
    if (services.refusing()) throw shuttingDown();
    const found = callerOf(services, asked);
    const caller = found instanceof Promise ? await found : found;
    const rate = rateOf(services, asked.response, caller);
    const limit = textLimit(services.bodies);
    const read = readBytes(asked.raw, asked.body, { limit, lease });
    const parsed = jsonBody(read instanceof Promise ? await read : read, lease);
    const source = parsed instanceof Promise ? await parsed : parsed;
    const body = source.value as JsonObject;
    // Checking and converting takes as long as parsing, or longer.
    const turn = lease.turn();
    if (turn !== undefined) await turn;
    const { raw, response, id } = asked;
    const call = { protocol, caller, rate, body, source, lease };
    await answer(services, { raw, response, id, ...call });
  } catch (thrown) {
    // A moment later: what came in the same read may turn out to be no HTTP, and is then answered so (malformed.ts).
    await Promise.resolve();
    answerFailure(services, asked, thrown);
  } finally {
    lease.release();
  }
}

/** A request whose key and body are known. */
interface Read extends Asked {
  readonly protocol: CallProtocol;
  readonly caller: Caller;
  readonly rate: RateUse | undefined;
  readonly body: JsonObject;
  readonly source: JsonSource;
  readonly lease: ByteLease;
}

function answer(services: HttpServices, read: Read): Promise<void> {
  const { protocol, body } = read;
  if (protocol !== "generate_content") {
    const model = modelInBody(body);
    const stream = streamInBody(body) && protocol !== "embeddings";
    return call(services, read, { model, stream, jsonArray: false });
  }
  const { model, method } = parseModelPath(read);
  switch (method) {
    case "generateContent":
      return call(services, read, { model, stream: false, jsonArray: false });
    case "streamGenerateContent":
      return call(services, read, {
        model,
        stream: true,
        jsonArray: queryOf(read)["alt"] !== "sse",
      });
    case "countTokens":
      return count(services, read, model);
    default:
      throw new GatewayError("not_found", `There is no method ":${method.slice(0, 60)}" here.`);
  }
}

interface Address {
  readonly model: string;
  readonly stream: boolean;
  /** A stream as one JSON array instead of events. */
  readonly jsonArray: boolean;
}

function call(services: HttpServices, read: Read, address: Address): Promise<void> {
  const { raw: _raw, response, ...about } = read;
  const { model, stream, jsonArray } = address;
  const headers = requestIdHeaders(read.protocol, read.id);
  return runTextCall(
    services.text,
    { ...about, model, stream, callerHeaders: callerHeaders(read) },
    createTextReply(response, { headers, jsonArray }),
  );
}

async function count(services: HttpServices, read: Read, model: string): Promise<void> {
  const { id, caller, body } = read;
  const answered = await countInputTokens(services.text, {
    protocol: "generate_content",
    id,
    caller,
    body,
    model,
    callerHeaders: callerHeaders(read),
  });
  const headers = requestIdHeaders("generate_content", id);
  createTextReply(read.response, { headers, jsonArray: false }).whole(answered, {});
}
