/** The bodies of calls: JSON objects, parsed once within our own bounds, and the model that they name. */
import type { FastifyRequest } from "fastify";
import type { ByteLease } from "../../base/byte-budget.ts";
import { GatewayError } from "../../base/errors.ts";
import { readJson, type JsonText } from "../../base/json.ts";
import { JsonScan } from "../../base/json-scan.ts";
import { JsonSource } from "../../base/json-source.ts";
import type { JsonObject } from "../../protocols/index.ts";
import { refuseUnstorableText } from "./stored-text.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The body's lease of the process's byte budget, until the answer is over. Undefined before the body is read. */
    lease: ByteLease | undefined;
  }
}

/** The body of a Fastify request as a JSON object. Rejects with GatewayError `invalid_json`, `overloaded`, `invalid_value`. */
export async function readBody(request: FastifyRequest): Promise<JsonObject> {
  const body = (await jsonBody(bytesOf(request), request.lease!)).value as JsonObject;
  if (request.match.route.stored === true) refuseUnstorableText(body, "dots");
  return body;
}

/** The bytes of a Fastify request's body; undefined where it has none. */
export const bytesOf = ({ body }: FastifyRequest): Buffer | undefined =>
  Buffer.isBuffer(body) ? body : undefined;

/**
 * Parses a body's bytes as a JSON object. Large bodies wait for their turn, so that other calls are served in between. The caller must
 * begin the work that follows as soon as the promise resolves. `lease` has counted the bytes already; this counts the values too.
 * @throws GatewayError `invalid_json`, also where there is no body, or `overloaded`; or rejects with it
 */
export function jsonBody(
  bytes: Buffer | undefined,
  lease: ByteLease,
): JsonSource | Promise<JsonSource> {
  if (!bytes) throw new GatewayError("invalid_json", "The request has no body.");
  const turn = lease.turn();
  if (turn !== undefined) return turn.then(() => bodyInTurns(bytes, lease));
  const json = measured(readJson(bytes), lease);
  // A short body may have many values: their counted memory decides whether it waits for a turn.
  return parsedInTurn(json, lease);
}

/** Bytes scanned per turn: some 10 ms of work, and ten times that before V8 has compiled the scan. */
const scannedBytes = 4 * 2 ** 20;

async function bodyInTurns(bytes: Buffer, lease: ByteLease): Promise<JsonSource> {
  const scan = new JsonScan(bytes);
  while (!scan.advance(scannedBytes)) await lease.turn();
  return parsedInTurn(measured(readJson(bytes, scan.found), lease), lease);
}

function parsedInTurn(json: JsonText, lease: ByteLease): JsonSource | Promise<JsonSource> {
  const turn = lease.turn();
  return turn === undefined ? new JsonSource(json) : turn.then(() => new JsonSource(json));
}

/** Adds the memory that the body's values will take to the lease. @throws GatewayError `overloaded` */
function measured(json: JsonText, lease: ByteLease): JsonText {
  lease.take(json.shape.memoryBytes);
  return json;
}

/** Returns the model that a body names. @throws GatewayError naming the field. */
export function modelInBody({ model }: { readonly model?: unknown }): string {
  if (model === undefined) {
    throw new GatewayError("missing_required_parameter", "The field model is required.", {
      param: "model",
    });
  }
  if (typeof model !== "string") {
    throw new GatewayError("invalid_type", "The field model must be a string.", { param: "model" });
  }
  if (model === "") {
    throw new GatewayError("invalid_value", "The field model must not be empty.", {
      param: "model",
    });
  }
  return model;
}

/** True if a body asks for a stream. @throws GatewayError naming the field. */
export function streamInBody({ stream = false }: JsonObject): boolean {
  if (stream !== null && typeof stream !== "boolean") {
    throw new GatewayError("invalid_type", "The field stream must be a boolean.", {
      param: "stream",
    });
  }
  return stream ?? false;
}
