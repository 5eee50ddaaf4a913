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
  tagHeaders,
} from "../callers/caller.ts";
import { rateOf } from "../callers/rate-headers.ts";
import { answerFailure } from "../errors/failure.ts";
import { requestIdHeaders } from "../errors/reply-error.ts";
import type { Asked, Received } from "../exchange.ts";
import { queryOf } from "../path.ts";
import { shuttingDown, type HttpServices } from "../services.ts";
import { parseModelPath } from "./model-path.ts";
import { createTextReply } from "./reply-stream.ts";

/** Answers a request for a text endpoint: the key, the body, the call. Never rejects. */
export async function answerText(services: HttpServices, asked: Received): Promise<void> {
  const lease = services.bodies.budget.lease();
  try {
    if (services.refusing()) throw shuttingDown();
    services.load.check();
    const found = callerOf(services, asked);
    const caller = found instanceof Promise ? await found : found;
    if (asked.seen !== undefined) asked.seen.keyId = caller.keyId;
    const limited = rateOf(services, asked.response, caller);
    const rate = limited instanceof Promise ? await limited : limited;
    const { raw, match, response, id, seen } = asked;
    const reading = readCallBody(services, asked, lease);
    const body = reading instanceof Promise ? await reading : reading;
    const protocol = match.route.protocol!;
    const call = { protocol, caller, rate, body, lease };
    await answer(services, { raw, match, response, id, seen, ...call });
  } catch (thrown) {
    // Answer one microtask later: the same read may turn out to be malformed HTTP, which is then answered first (malformed.ts).
    await Promise.resolve();
    answerFailure(services, asked, thrown);
  } finally {
    lease.release();
  }
}

/** Returns the body of a request, and clears it in `asked`, which would keep it in memory until its answer has ended. */
function readCallBody(
  services: HttpServices,
  asked: Received,
  lease: ByteLease,
): CallBody | Promise<CallBody> {
  const { raw, body, match } = asked;
  asked.body = undefined;
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
interface Read extends Asked, Pick<TextCall, "caller" | "rate" | "body" | "lease"> {
  readonly protocol: CallProtocol;
}

function answer(services: HttpServices, read: Read): Promise<void> {
  const { protocol, match } = read;
  const { value: body } = read.body;
  const { model, method } =
    protocol === "generate_content" ? parseModelPath(match) : { model: modelInBody(body) };
  const { counts } = match.route;
  if (counts !== undefined) return count(services, read, { model, protocol: counts });
  switch (method) {
    case undefined: {
      const stream = streamInBody(body) && protocol !== "embeddings";
      return call(services, read, { model, stream, jsonArray: false });
    }
    case "generateContent":
      return call(services, read, { model, stream: false, jsonArray: false });
    case "streamGenerateContent": {
      const jsonArray = queryOf(read)["alt"] !== "sse";
      return call(services, read, { model, stream: true, jsonArray });
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

function call(services: HttpServices, read: Read, address: Address): Promise<void> {
  const { raw: _raw, match: _match, response, seen, ...about } = read;
  const { model, stream, jsonArray } = address;
  const headers = requestIdHeaders(read.protocol, read.id);
  return runTextCall(
    services.text,
    {
      ...about,
      model,
      stream,
      callerHeaders: callerHeaders(read),
      changes: read.protocol === "messages" ? droppedHeaders(read) : undefined,
      fallbackModels: fallbackModels(read),
      cacheControl: cacheControl(read),
      span: seen?.span,
      tags: tagsOf(read.protocol, read.body.value, tagHeaders(read)),
    },
    createTextReply(response, { headers, jsonArray }),
  );
}

async function count(
  services: HttpServices,
  read: Read,
  { model, protocol }: Pick<Parameters<typeof countInputTokens>[1], "model" | "protocol">,
): Promise<void> {
  const { id, caller, lease } = read;
  const { value: body } = read.body;
  const asked = { protocol, id, caller, body, lease, model, callerHeaders: callerHeaders(read) };
  const answered = await countInputTokens(services.text, asked);
  const headers = requestIdHeaders(protocol, id);
  createTextReply(read.response, { headers, jsonArray: false }).whole(answered, {});
}
