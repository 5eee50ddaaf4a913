/** Lists the running gateways over the management API. docs/management.md. */
import { wireCased } from "../../base/casing.ts";
import { permit } from "../../admin/index.ts";
import { Type } from "../../base/json-schema.ts";
import { listGateways } from "../../storage/index.ts";
import { timestamp } from "../shapes/schema.ts";
import { route } from "./route.ts";
import { fullListSchema, strict, fullList } from "./schemas.ts";

const gateway = Type.Object({
  id: Type.String({ description: "The id of the process; new after each start." }),
  version: Type.String(),
  started_at: timestamp("Its first report."),
  last_seen_at: timestamp("Its last report. A running process reports every ten seconds."),
  in_flight: Type.Integer({ description: "Calls in flight at that moment." }),
  event_loop_p99_ms: Type.Number({
    description: "99th percentile of the event loop lag in the ten seconds before.",
  }),
  memory_bytes: Type.Integer({ description: "The memory that it uses." }),
});

const list = route({
  method: "GET",
  path: "/gateways",
  operationId: "listGateways",
  summary: "The running gateway processes, oldest first",
  description:
    "Each worker of a gateway is a process. One that stops disappears at once. One that crashed is listed for a day, with the " +
    "time of its last report.",
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
