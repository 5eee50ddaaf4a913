/** How large a body may be, by the path it is sent to. Multipart bodies are streamed to storage and have limits of their own (uploads.ts). */
import { GatewayError } from "../../base/errors.ts";
import type { ByteBudget } from "../../base/byte-budget.ts";

/** What the configuration says about bodies, and the budget that they all share. */
export interface BodyServices {
  readonly budget: ByteBudget;
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

const mediaPaths = ["/v1/images/", "/v1/tasks", "/api/v1/", "/api/v3/"];

/** The limit of text calls. */
export const textLimit = ({ textBytesMax }: BodyServices): BodyLimit => ({
  bytesMax: textBytesMax,
  setting: "limits.text_body_mb",
});

/** The limit of a route, by its path pattern. */
export function limitOfRoute(bodies: BodyServices, route: string): BodyLimit {
  if (route.startsWith("/auth/")) return authLimit;
  if (route.startsWith("/admin/")) return adminLimit;
  if (!mediaPaths.some((path) => route.startsWith(path))) return textLimit(bodies);
  return { bytesMax: bodies.mediaBytesMax, setting: "limits.body_mb" };
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
