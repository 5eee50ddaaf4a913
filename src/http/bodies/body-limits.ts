/** The size limits of bodies, by the route's row. Multipart bodies are streamed to storage and have their own limits (forms/uploads.ts). */
import { GatewayError } from "../../base/errors.ts";
import type { ByteBudget } from "../../base/byte-budget.ts";
import type { Route } from "../routes.ts";

/** The configured limits of bodies, and the byte budgets that all bodies share. */
export interface BodyServices {
  readonly budget: ByteBudget;
  /** Budget for the pictures of forms that are still being received, on disk. Their calls have no reservation yet. */
  readonly uploads: ByteBudget;
  /** Limit for text calls, embeddings and token counts (`limits.text_body_mb`). */
  readonly textBytesMax: number;
  /** Limit for images and tasks, which may carry pictures (`limits.body_mb`). */
  readonly mediaBytesMax: number;
}

/** The limit of one body. */
export interface BodyLimit {
  readonly bytesMax: number;
  /** The setting that changes the limit, if there is one. */
  readonly setting?: "limits.body_mb" | "limits.text_body_mb";
  /** Compressed bodies are refused: callers of these routes are not signed in yet. */
  readonly plain?: true;
}

/** Sign-in bodies: an email address, a password and a choice, from clients that are not signed in yet. */
const authLimit: BodyLimit = { bytesMax: 16 * 1024, plain: true };
const adminLimit: BodyLimit = { bytesMax: 4 * 1024 * 1024 };
/** A list of models. The public one has three to five megabytes, and grows. */
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

/** The error for the client's other faults: a body whose length is not the announced one, or that broke off. */
export const incompleteBodyError = (): GatewayError =>
  new GatewayError("malformed_request", "The request could not be read to its end.");
