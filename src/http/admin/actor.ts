/** Authenticates a request to the management API before its body is read. KEY-01. */
import type { FastifyRequest } from "fastify";
import { cookiePrefix, type Actor, sessionEnded } from "../../admin/index.ts";
import { GatewayError } from "../../base/errors.ts";
import type { AdminServices } from "../services.ts";
import { checkSameOrigin } from "./same-origin.ts";
import { sessionOf } from "./session-answer.ts";

declare module "fastify" {
  interface FastifyRequest {
    actor: Actor | undefined;
  }
}

const missing = (): GatewayError =>
  new GatewayError(
    "missing_credential",
    "Send a token as `Authorization: Bearer <token>`, or sign in.",
  );

const bearer = /^bearer[ \t]+([\x21-\x7e]{1,512})$/i;

const noBearer = (): GatewayError =>
  new GatewayError("invalid_credential", "The Authorization header must be `Bearer <token>`.");

/** True for another scheme, such as Basic of a proxy in front, which browsers send with each request. */
const isOfProxy = (authorization: string): boolean => !/^bearer(?:[ \t]|$)/i.test(authorization);

/**
 * Returns the actor of a bearer token, else of a console session. @throws GatewayError 401 `missing_credential`, `invalid_credential`;
 * 403 `cross_origin_request`, `password_change_required`
 */
export async function actorOf(services: AdminServices, request: FastifyRequest): Promise<Actor> {
  const authorization = request.headers.authorization?.trim() ?? "";
  const { cookie } = request.headers;
  const hasCookie = cookie?.includes(cookiePrefix) === true;
  if (authorization !== "" && !(hasCookie && isOfProxy(authorization))) {
    const token = bearer.exec(authorization)?.[1];
    if (token === undefined) throw noBearer();
    return services.actors.ofBearer(token);
  }
  if (!hasCookie) throw missing();
  checkSameOrigin(request.method, request.headers);
  const session = await sessionOf(services, request);
  if (session === undefined) {
    throw sessionEnded();
  }
  return services.actors.ofSession(session);
}
