/**
 * The endpoints that answer at once: the four text protocols with their streaming forms, their token counts, and embeddings. TXT-01 to
 * TXT-04, STREAM-01, STREAM-02. They run without Fastify: its router, hooks and body parser take as long as checking the key, the
 * limits and the body.
 */
import type { ByteLease } from "../../base/byte-budget.ts";
import { GatewayError } from "../../base/errors.ts";
import type { JsonSource } from "../../base/json-source.ts";
import {
  CallBody,
  countInputTokens,
  runTextCall,
  tagsOf,
  type TextCall,
} from "../../calls/index.ts";
import type { CallProtocol } from "../../protocols/index.ts";
import { jsonBody, modelInBody, streamInBody } from "../bodies/body.ts";
import { limitOf } from "../bodies/body-limits.ts";
import { readBytes } from "../bodies/receive-body.ts";
import {
  cacheControl,
  callerHeaders,
  callerOf,
  droppedHeaders,
  fallbackModels,
  sessionHeader,
  tagHeaders,
} from "../callers/caller.ts";
import { admitCall } from "../callers/rate-headers.ts";
import { answerFailure } from "../errors/failure.ts";
import { requestIdHeaders } from "../errors/reply-error.ts";
import type { RequestContext, IncomingRequest } from "../exchange.ts";
import { queryOf } from "../path.ts";
import { shuttingDown, type HttpServices } from "../services.ts";
import { parseModelPath } from "./model-path.ts";
import { createTextReply } from "./reply-stream.ts";

/** Answers a request for a text endpoint: the key, the body, the call. Never rejects. */
export async function answerText(services: HttpServices, request: IncomingRequest): Promise<void> {
  const lease = services.bodies.budget.lease();
  try {
    if (services.refusing()) throw shuttingDown();
    services.load.check();
    const found = callerOf(services, request);
    const caller = found instanceof Promise ? await found : found;
    if (request.record !== undefined) request.record.keyId = caller.keyId;
    const limited = admitCall(services, request.response, caller);
    const rate = limited instanceof Promise ? await limited : limited;
    const { raw, match, response, id, record } = request;
    const reading = readCallBody(services, request, lease);
    const body = reading instanceof Promise ? await reading : reading;
    const protocol = match.route.protocol!;
    const call = { protocol, caller, rate, body, lease };
    await answer(services, { raw, match, response, id, record, ...call });
  } catch (thrown) {
    // Answer one microtask later: the same read may turn out to be malformed HTTP, which is then answered first (malformed.ts).
    await Promise.resolve();
    answerFailure(services, request, thrown);
  } finally {
    lease.release();
  }
}

/** Returns the body of a request, and clears it in `request`, which would keep it in memory until its answer has ended. */
function readCallBody(
  services: HttpServices,
  request: IncomingRequest,
  lease: ByteLease,
): CallBody | Promise<CallBody> {
  const { raw, body, match } = request;
  request.body = undefined;
  const limit = limitOf(services.bodies, match.route);
  const bytes = readBytes(raw, body!, { limit, lease });
  const parsed =
    bytes instanceof Promise ? bytes.then((all) => jsonBody(all, lease)) : jsonBody(bytes, lease);
  // Waits for another turn: checking and converting takes as long as parsing, or longer.
  return parsed instanceof Promise
    ? parsed.then((source) => inTurn(source, lease))
    : inTurn(parsed, lease);
}

function inTurn(source: JsonSource, lease: ByteLease): CallBody | Promise<CallBody> {
  const body = new CallBody(source);
  return lease.turn()?.then(() => body) ?? body;
}

/** A request whose key and body are known. */
interface ParsedRequest
  extends RequestContext, Pick<TextCall, "caller" | "rate" | "body" | "lease"> {
  readonly protocol: CallProtocol;
}

function answer(services: HttpServices, parsed: ParsedRequest): Promise<void> {
  const { protocol, match } = parsed;
  const { value: body } = parsed.body;
  const { model, method } =
    protocol === "generate_content" ? parseModelPath(match) : { model: modelInBody(body) };
  const { counts } = match.route;
  if (counts !== undefined) return count(services, parsed, { model, protocol: counts });
  switch (method) {
    case undefined: {
      const stream = streamInBody(body) && protocol !== "embeddings";
      return call(services, parsed, { model, stream, jsonArray: false });
    }
    case "generateContent":
      return call(services, parsed, { model, stream: false, jsonArray: false });
    case "streamGenerateContent": {
      const jsonArray = queryOf(parsed)["alt"] !== "sse";
      return call(services, parsed, { model, stream: true, jsonArray });
    }
    default:
      throw noMethod(method);
  }
}

const noMethod = (method: string): GatewayError =>
  new GatewayError(
    "not_found",
    `There is no method ":${method.slice(0, 60)}" here; use :generateContent, :streamGenerateContent or :countTokens.`,
  );

interface Address {
  readonly model: string;
  readonly stream: boolean;
  /** True for a stream as one JSON array instead of events. */
  readonly jsonArray: boolean;
}

function call(services: HttpServices, parsed: ParsedRequest, address: Address): Promise<void> {
  const { raw, match: _match, response, record, ...about } = parsed;
  const { model, stream, jsonArray } = address;
  const protocol = parsed.protocol === "embeddings" ? undefined : parsed.protocol;
  const headers = requestIdHeaders(parsed.protocol, parsed.id);
  return runTextCall(
    services.text,
    {
      ...about,
      model,
      stream,
      callerHeaders: callerHeaders(parsed),
      changes: parsed.protocol === "messages" ? droppedHeaders(parsed) : undefined,
      fallbackModels: fallbackModels(parsed),
      session: sessionHeader(parsed),
      cacheControl: cacheControl(parsed),
      span: record?.span,
      tags: tagsOf(parsed.protocol, parsed.body.value, tagHeaders(parsed)),
    },
    createTextReply(response, { headers, jsonArray, protocol, asked: raw.headers }),
  );
}

async function count(
  services: HttpServices,
  parsed: ParsedRequest,
  { model, protocol }: Pick<Parameters<typeof countInputTokens>[1], "model" | "protocol">,
): Promise<void> {
  const { id, caller, lease } = parsed;
  const { value: body } = parsed.body;
  const request = {
    protocol,
    id,
    caller,
    body,
    lease,
    model,
    callerHeaders: callerHeaders(parsed),
    session: sessionHeader(parsed),
  };
  const answered = await countInputTokens(services.text, request);
  const headers = requestIdHeaders(protocol, id);
  createTextReply(parsed.response, { headers, jsonArray: false }).whole(answered, {});
}
