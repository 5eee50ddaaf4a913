/**
 * The endpoints that answer at once: the four text protocols with their streaming forms, and embeddings. Spec: "Text endpoints" (TXT-01 to TXT-04, STREAM-01, STREAM-02).
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { GatewayError } from "../base/errors.ts";
import { runTextCall, TextCallError } from "../calls/index.ts";
import type { CallProtocol, JsonObject } from "../protocols/index.ts";
import { addressInBody, readBody } from "./body.ts";
import { authenticating, callerHeaders } from "./caller.ts";
import { answerCount } from "./count-routes.ts";
import { parseModelPath } from "./model-path.ts";
import { requestIdHeaders, writeError } from "./reply-error.ts";
import { createTextReply } from "./reply-stream.ts";
import type { HttpServices } from "./services.ts";

const bodyProtocols = [
  ["/v1/embeddings", "embeddings"],
  ["/v1/chat/completions", "chat"],
  ["/v1/responses", "responses"],
  ["/v1/messages", "messages"],
] as const;

/** Adds the text endpoints. The generateContent ones also under the spellings that current SDKs send (wire notes, clients). */
export function registerTextRoutes(app: FastifyInstance, services: HttpServices): void {
  const onRequest = authenticating(services);
  for (const [path, protocol] of bodyProtocols) {
    app.post(path, { onRequest }, (request, reply) => {
      const body = readBody(request);
      return serve(services, {
        request,
        reply,
        protocol,
        body,
        ...addressInBody(body),
        ...(protocol === "embeddings" ? { stream: false } : {}),
        jsonArray: false,
      });
    });
  }
  for (const path of ["/v1beta/*", "/v1/models/*"]) {
    app.post(path, { onRequest }, (request, reply) => {
      const { model, method } = parseModelPath(request);
      switch (method) {
        case "generateContent":
        case "streamGenerateContent":
          return serve(services, {
            request,
            reply,
            protocol: "generate_content",
            body: readBody(request),
            model,
            stream: method === "streamGenerateContent",
            jsonArray: (request.query as Record<string, string>)["alt"] !== "sse",
          });
        case "countTokens": {
          const body = readBody(request);
          return answerCount(services, {
            request,
            reply,
            protocol: "generate_content",
            body,
            model,
          });
        }
        default:
          throw new GatewayError("not_found", `There is no method ":${method.slice(0, 60)}" here.`);
      }
    });
  }
}

interface Served {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly protocol: CallProtocol;
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
