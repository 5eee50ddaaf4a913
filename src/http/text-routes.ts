/**
 * The four text endpoints with their streaming forms. Spec: "Text endpoints" (TXT-01 to TXT-04, STREAM-01, STREAM-02).
 * The key is checked before the body is read, so that a stranger cannot make us buffer megabytes.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { GatewayError } from "../base/errors.ts";
import { parseJsonObject } from "../base/json.ts";
import { runTextCall, TextCallError } from "../calls/index.ts";
import type { JsonObject, ProtocolName } from "../protocols/index.ts";
import type { Caller } from "../tenancy/index.ts";
import { credentialOf } from "./credential.ts";
import { parseModelPath } from "./model-path.ts";
import { requestIdHeaders, writeError } from "./reply-error.ts";
import { createTextReply } from "./reply-stream.ts";
import type { HttpServices } from "./services.ts";

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | undefined;
  }
}

const bodyProtocols = [
  ["/v1/chat/completions", "chat"],
  ["/v1/responses", "responses"],
  ["/v1/messages", "messages"],
] as const;

/** Adds the text endpoints. The generateContent ones also under the spellings that current SDKs send (wire notes, clients). */
export function registerTextRoutes(app: FastifyInstance, services: HttpServices): void {
  app.decorateRequest("caller", undefined);
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    request.caller = await services.authenticator.authenticate(credentialOf(request));
  };
  for (const [path, protocol] of bodyProtocols) {
    app.post(path, { onRequest }, (request, reply) => {
      const body = readBody(request);
      return serve(services, {
        request,
        reply,
        protocol,
        body,
        ...addressInBody(body),
        jsonArray: false,
      });
    });
  }
  for (const path of ["/v1beta/*", "/v1/models/*"]) {
    app.post(path, { onRequest }, (request, reply) => {
      const { model, method } = parseModelPath(request);
      if (method !== "generateContent" && method !== "streamGenerateContent") {
        throw new GatewayError("not_found", `There is no method ":${method.slice(0, 60)}" here.`);
      }
      const stream = method === "streamGenerateContent";
      const jsonArray = (request.query as Record<string, string>)["alt"] !== "sse";
      return serve(services, {
        request,
        reply,
        protocol: "generate_content",
        body: readBody(request),
        model,
        stream,
        jsonArray,
      });
    });
  }
}

interface Served {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly protocol: ProtocolName;
  readonly body: JsonObject;
  readonly model: string;
  readonly stream: boolean;
  readonly jsonArray: boolean;
}

async function serve(services: HttpServices, served: Served): Promise<void> {
  const { request, reply, protocol, body, model, stream } = served;
  reply.hijack();
  const headers = requestIdHeaders(protocol, request.id);
  const textReply = createTextReply(reply.raw, { headers, jsonArray: served.jsonArray });
  try {
    await runTextCall(
      services.text,
      {
        id: request.id,
        protocol,
        model,
        stream,
        body,
        caller: request.caller!,
        callerHeaders: callerHeaders(request),
      },
      textReply,
    );
  } catch (thrown) {
    if (!(thrown instanceof TextCallError)) throw thrown;
    writeError(reply.raw, {
      protocol,
      error: thrown.error,
      requestId: request.id,
      body: thrown.body,
    });
  }
}

/** The headers that a direct route passes on: they change what the body's fields mean. */
function callerHeaders(request: FastifyRequest): Record<string, string | undefined> {
  const { headers } = request.raw;
  const text = (value: string | string[] | undefined) =>
    Array.isArray(value) ? value.join(",") : value;
  return {
    "anthropic-version": text(headers["anthropic-version"]),
    "anthropic-beta": text(headers["anthropic-beta"]),
  };
}

function readBody(request: FastifyRequest): JsonObject {
  if (!Buffer.isBuffer(request.body))
    throw new GatewayError("invalid_json", "The request has no body.");
  return parseJsonObject(request.body) as JsonObject;
}

function addressInBody(body: JsonObject): { model: string; stream: boolean } {
  const { model, stream = false } = body;
  if (model === undefined) {
    throw new GatewayError("missing_required_parameter", "The field model is required.", {
      param: "model",
    });
  }
  if (typeof model !== "string") {
    throw new GatewayError("invalid_type", "The field model must be a string.", { param: "model" });
  }
  if (stream !== null && typeof stream !== "boolean") {
    throw new GatewayError("invalid_type", "The field stream must be a boolean.", {
      param: "stream",
    });
  }
  return { model, stream: stream ?? false };
}
