/** `GET /v1/key`: the calling key's own limits, spend and remainder. docs/operate.md. */
import type { FastifyInstance } from "fastify";
import { getKey, renderKey } from "../../tenancy/index.ts";
import { credentialOf } from "./credential.ts";
import type { HttpServices } from "../services.ts";

/** Adds the key's view of itself. It asks the database, so what it says is true now. */
export function registerKeyRoute(app: FastifyInstance, services: HttpServices): void {
  const { authenticator, database, ledger, text } = services;
  app.get("/v1/key", async (request) => {
    const caller = await authenticator.authenticate(credentialOf(request), { fresh: true });
    const reference = { id: caller.keyId, workspaceId: caller.workspaceId };
    const [record, spend] = await Promise.all([
      getKey({ database, clock: text.clock }, reference),
      ledger.spend(caller.workspaceId, { layer: "key", id: caller.keyId }),
    ]);
    return renderKey(record, spend);
  });
}
