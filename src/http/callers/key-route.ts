/** `GET /v1/key`: the limits, the spend and the remaining money of the calling key. docs/operate.md. */
import type { FastifyInstance } from "fastify";
import { readSpend } from "../../admin/index.ts";
import { reserveRetryMs, retryWhileAway } from "../../storage/index.ts";
import { getKey, renderKey } from "../../tenancy/index.ts";
import { handle } from "../handle.ts";
import type { HttpServices } from "../services.ts";

/** Adds the route. It queries the database, so its answer is current. */
export function registerKeyRoute(app: FastifyInstance, services: HttpServices): void {
  const { database, text } = services;
  handle(app, "GET /v1/key", async ({ caller }) => {
    const { keyId, workspaceId } = caller!;
    const [record, spend] = await retryWhileAway(reserveRetryMs, () =>
      Promise.all([
        getKey({ database, clock: text.clock }, { id: keyId, workspaceId }),
        readSpend(database, workspaceId, { layer: "key", id: keyId }),
      ]),
    );
    return renderKey(record, spend);
  });
}
