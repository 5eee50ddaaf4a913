/** Who asks the management API: the credential of a request, checked before its body is read. KEY-01. */
import type { FastifyRequest } from "fastify";
import type { Actor } from "../../admin/index.ts";
import { GatewayError } from "../../base/errors.ts";
import type { AdminServices } from "./services.ts";

declare module "fastify" {
  interface FastifyRequest {
    actor: Actor | undefined;
  }
}

const bearer = /^bearer[ \t]+([\x21-\x7e]{1,512})$/i;

/** @throws GatewayError 401 `missing_credential`, `invalid_credential` */
export async function actorOf(services: AdminServices, request: FastifyRequest): Promise<Actor> {
  const { authorization } = request.headers;
  if (authorization !== undefined && authorization.trim() !== "") {
    const token = bearer.exec(authorization.trim())?.[1];
    if (token === undefined) {
      throw new GatewayError(
        "invalid_credential",
        "The Authorization header must be `Bearer <token>`.",
      );
    }
    return services.actors.ofBearer(token);
  }
  throw new GatewayError(
    "missing_credential",
    "Send a token as `Authorization: Bearer <token>`, or sign in.",
  );
}
