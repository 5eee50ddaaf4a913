/** Lists the running gateways over the management API. docs/management.md. */
import { wireCased } from "../../base/casing.ts";
import { permit } from "../../admin/index.ts";
import { Type } from "../../base/json-schema.ts";
import { listGateways } from "../../storage/index.ts";
import { timestamp } from "../shapes/schema.ts";
import { route } from "./route.ts";
import { fullListSchema, strict, fullList } from "./schemas.ts";

const gateway = Type.Object({
  id: Type.String({ description: "Of the process; another after each start." }),
  version: Type.String(),
  started_at: timestamp("When it was first heard of."),
  last_seen_at: timestamp("When it was last heard of: every ten seconds while it serves."),
  in_flight: Type.Integer({ description: "Calls under way at that moment." }),
  event_loop_p99_ms: Type.Number({
    description: "How late it got to its work, 99 % of the times in the ten seconds before.",
  }),
  memory_bytes: Type.Integer({ description: "What it holds of the machine's memory." }),
});

const list = route({
  method: "GET",
  path: "/gateways",
  operationId: "listGateways",
  summary: "The processes that serve this installation, the oldest first",
  description:
    "A gateway with several workers is several of them. One that stops is gone at once; one that died is listed for a day, with the " +
    "time it was last heard of.",
  action: "gateway.read",
  query: strict({}),
  answer: { name: "Gateways", schema: fullListSchema(gateway) },
  errors: ["insufficient_permissions"],
  async handle({ services: { database }, actor }) {
    permit(actor, "gateway.read", {}, "the gateways");
    const rows = await listGateways(database);
    return fullList(rows.map(wireCased));
  },
});

export const gatewayRoutes = [list];
