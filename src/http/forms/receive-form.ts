/** Receives the multipart body of a call: reads its fields, and stores its pictures. Requirements: TASK, EDIT1, EDIT2. */
import type { FastifyRequest } from "fastify";
import { bodyTooLarge } from "../bodies/body-limits.ts";
import { idempotencyKeyOf } from "./creation-headers.ts";
import { refuseEncoded } from "../bodies/content-encoding.ts";
import { boundaryOf } from "./multipart-header.ts";
import type { HttpServices } from "../services.ts";
import { readMultipart, uploadLimits, type Multipart } from "./uploads.ts";
import { inputDrafts, type FileDrafts } from "../../files/index.ts";

export interface ReceivedForm extends Multipart {
  /** The stored pictures; the receiver of this form removes them. */
  readonly uploads: FileDrafts;
}

/** True if a request's body is a form. */
export const isForm = ({ headers }: FastifyRequest): boolean =>
  /^multipart\/form-data/i.test(headers["content-type"] ?? "");

/**
 * Reads the body to its end. On failure nothing is kept, and the client's further bytes are discarded for a while: a client that is
 * still sending would not read our answer.
 * @throws GatewayError
 */
export async function receiveForm(
  services: HttpServices,
  request: FastifyRequest,
): Promise<ReceivedForm> {
  try {
    // Check it before megabytes are read for nothing.
    idempotencyKeyOf(request.headers);
    return await read(services, request);
  } catch (error) {
    discardRest(request);
    throw error;
  }
}

async function read(services: HttpServices, { raw, caller, lease }: FastifyRequest) {
  const limits = uploadLimits;
  refuseEncoded(raw.headers["content-encoding"]);
  if (Number(raw.headers["content-length"]) > limits.bodyBytes)
    throw bodyTooLarge({ bytesMax: limits.bodyBytes });
  const boundary = boundaryOf(raw.headers["content-type"] ?? "");
  const { files, database, images, bodies } = services;
  const uploads = inputDrafts({ files, database, clock: images.clock }, caller!.workspaceId);
  const stored = bodies.uploads.lease();
  try {
    const options = { boundary, store: uploads, limits, lease: lease!, stored };
    return { ...(await readMultipart(raw, options)), uploads };
  } finally {
    // From here on the call's reservation bounds the stored bytes, or they are removed.
    stored.release();
  }
}

const restMsMax = 10_000;

function discardRest({ raw }: FastifyRequest): void {
  raw.on("error", () => undefined);
  // There is no rest, and no event will follow.
  if (raw.readableEnded || raw.destroyed) return;
  const late = setTimeout(() => raw.destroy(), restMsMax);
  raw.once("close", () => clearTimeout(late)).once("end", () => clearTimeout(late));
  raw.resume();
}
