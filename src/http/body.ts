/** The bodies of calls: JSON objects, parsed once with our own bounds, and the model they name. */
import type { FastifyRequest } from "fastify";
import { GatewayError } from "../base/errors.ts";
import { parseJsonObject } from "../base/json.ts";
import type { JsonObject } from "../protocols/index.ts";

/** The body as a JSON object. @throws GatewayError `invalid_json`. */
export function readBody(request: FastifyRequest): JsonObject {
  if (!Buffer.isBuffer(request.body))
    throw new GatewayError("invalid_json", "The request has no body.");
  return parseJsonObject(request.body) as JsonObject;
}

/** The model that a body names. @throws GatewayError naming the field. */
export function modelInBody({ model }: JsonObject): string {
  if (model === undefined) {
    throw new GatewayError("missing_required_parameter", "The field model is required.", {
      param: "model",
    });
  }
  if (typeof model !== "string") {
    throw new GatewayError("invalid_type", "The field model must be a string.", { param: "model" });
  }
  return model;
}

/** The model, and whether a stream is wanted. @throws GatewayError naming the field. */
export function addressInBody(body: JsonObject): { model: string; stream: boolean } {
  const model = modelInBody(body);
  const { stream = false } = body;
  if (stream !== null && typeof stream !== "boolean") {
    throw new GatewayError("invalid_type", "The field stream must be a boolean.", {
      param: "stream",
    });
  }
  return { model, stream: stream ?? false };
}
