/** The bodies of calls: JSON objects, read within bounds, parsed once with our own bounds, and the model they name. */
import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import { GatewayError } from "../base/errors.ts";
import { parseJsonObject } from "../base/json.ts";
import type { JsonObject } from "../protocols/index.ts";
import type { RequestHead } from "./exchange.ts";
import { bodyTooLarge, brokenBody } from "./failure.ts";

/** Refuses what is not JSON by its Content-Type; without one it is taken for JSON. @throws GatewayError `unsupported_media_type` */
export function checkJsonType(type = "application/json"): void {
  if (/^application\/([\w.+-]+\+)?json\b/i.test(type)) return;
  const message = `The Content-Type is ${type.slice(0, 80)}; send application/json.`;
  throw new GatewayError("unsupported_media_type", message);
}

/** The body as a JSON object. @throws GatewayError `invalid_json`. */
export function readBody(request: FastifyRequest): JsonObject {
  return jsonBody(Buffer.isBuffer(request.body) ? request.body : undefined);
}

/** A body's bytes as a JSON object. @throws GatewayError `invalid_json`, also where there is no body. */
export function jsonBody(bytes: Buffer | undefined): JsonObject {
  if (!bytes) throw new GatewayError("invalid_json", "The request has no body.");
  return parseJsonObject(bytes) as JsonObject;
}

/**
 * The bytes of a request's JSON body; undefined where it has none. What is announced as too large is not read.
 * `source` is the body, where it came with its head, else the request that it is read from.
 * @throws GatewayError `unsupported_media_type`, `request_too_large`, or rejects with `malformed_request` where the body breaks off.
 */
export function readBytes(
  { headers }: RequestHead,
  source: IncomingMessage | Buffer,
  bytesMax: number,
): Buffer | undefined | Promise<Buffer> {
  const length = headers["content-length"];
  if (headers["content-type"] === undefined && headers["transfer-encoding"] === undefined) {
    if (length === undefined || length === "0") return undefined;
  }
  checkJsonType(headers["content-type"]);
  if (Number(length) > bytesMax) throw bodyTooLarge(bytesMax);
  return Buffer.isBuffer(source) ? source : collect(source, bytesMax);
}

function collect(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > bytesMax) {
        // The rest is read and forgotten: a client that is still sending would not read our answer.
        chunks.length = 0;
        reject(bodyTooLarge(bytesMax));
      } else chunks.push(chunk);
    });
    request.on("end", () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    request.on("error", () => reject(brokenBody()));
  });
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

/** Whether a body asks for a stream. @throws GatewayError naming the field. */
export function streamInBody({ stream = false }: JsonObject): boolean {
  if (stream !== null && typeof stream !== "boolean") {
    throw new GatewayError("invalid_type", "The field stream must be a boolean.", {
      param: "stream",
    });
  }
  return stream ?? false;
}
