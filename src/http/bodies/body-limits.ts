/** How large a body may be, by what the table of routes says. Multipart bodies are streamed to storage and have limits of their own (uploads.ts). */
import { GatewayError } from "../../base/errors.ts";
import type { ByteBudget } from "../../base/byte-budget.ts";
import type { Route } from "../routes.ts";

/** What the configuration says about bodies, and the budget that they all share. */
export interface BodyServices {
  readonly budget: ByteBudget;
  /** Of the pictures of forms that are still being received, on disk: their senders have reserved nothing yet. */
  readonly uploads: ByteBudget;
  /** Of text calls, embeddings and counts (`limits.text_body_mb`). */
  readonly textBytesMax: number;
  /** Of images and tasks, which may carry pictures (`limits.body_mb`). */
  readonly mediaBytesMax: number;
}

/** Of one body. */
export interface BodyLimit {
  readonly bytesMax: number;
  /** The setting that changes it, where there is one. */
  readonly setting?: "limits.body_mb" | "limits.text_body_mb";
  /** Nothing is decompressed: for strangers. */
  readonly plain?: true;
}

/** An address, a password and a choice: read from strangers. */
const authLimit: BodyLimit = { bytesMax: 16 * 1024, plain: true };
const adminLimit: BodyLimit = { bytesMax: 4 * 1024 * 1024 };
/** A list of models: the public one has three to five megabytes, and grows. */
const catalogLimit: BodyLimit = { bytesMax: 16 * 1024 * 1024 };

export function limitOf(bodies: BodyServices, { body }: Pick<Route, "body">): BodyLimit {
  switch (body) {
    case "text":
      return { bytesMax: bodies.textBytesMax, setting: "limits.text_body_mb" };
    case "media":
      return { bytesMax: bodies.mediaBytesMax, setting: "limits.body_mb" };
    case "admin":
      return adminLimit;
    case "catalog":
      return catalogLimit;
    case "sign_in":
      return authLimit;
  }
}

/** The refusal of a body above its limit. */
export function bodyTooLarge({ bytesMax, setting }: BodyLimit): GatewayError {
  const most =
    bytesMax < 1_048_576
      ? `${Math.floor(bytesMax / 1024)} kB`
      : `${Math.floor(bytesMax / 1_048_576)} MB`;
  const where = setting === undefined ? "" : ` (${setting})`;
  return new GatewayError("request_too_large", `The body is larger than ${most}${where}.`);
}

/** What is left of the client's faults: a body that does not have the length it was announced with, or that broke off. */
export const brokenBody = (): GatewayError =>
  new GatewayError("malformed_request", "The request could not be read to its end.");
