/** Lists the addresses from which a key is used, over the management API. docs/management.md. */
import { keyKind } from "../../admin/index.ts";
import { Type } from "../../base/json-schema.ts";
import { listKeyClients } from "../../request-log/index.ts";
import { getKey } from "../../tenancy/index.ts";
import { orNull, timestamp } from "../shapes/schema.ts";
import { readRoute } from "./read-route.ts";
import { fullListSchema, strict, fullList } from "./schemas.ts";

const client = Type.Object({
  ip: Type.String({ description: "The caller's address, past trusted proxies." }),
  user_agent: orNull(Type.String({ description: "The last user agent, up to 200 characters." })),
  first_seen_at: timestamp("A few seconds after its first request."),
  last_seen_at: timestamp("A few seconds after its last request."),
  requests: Type.Integer({
    description: "Requests of every kind. Some that a limit refused are not counted.",
  }),
});

const list = readRoute({
  path: "/keys/{id}/clients",
  operationId: "listKeyClients",
  summary: "Addresses that used a key in the last 30 days, latest first",
  description: "At most the hundred addresses that used it last.",
  action: "key.read",
  query: strict({}),
  answer: { name: "KeyClients", schema: fullListSchema(client) },
  kind: keyKind,
  load: (services, { id }) => getKey(services, { id: id! }),
  async render(services, key) {
    await services.logWritten();
    const rows = await listKeyClients(services.database, key.id);
    return fullList(
      rows.map((row) => ({
        ip: row.address,
        user_agent: row.userAgent === "" ? null : row.userAgent,
        first_seen_at: row.firstSeenAt.toISOString(),
        last_seen_at: row.lastSeenAt.toISOString(),
        requests: Number(row.requests),
      })),
    );
  },
});

export const keyClientRoutes = [list];
