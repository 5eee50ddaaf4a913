/** The sources of the event streams: rows by name, rendered as in their lists, and the state of the providers. */
import { readHeadlines, type EventHubOptions, type NewRow } from "../../admin/index.ts";
import { listGateways } from "../../storage/index.ts";
import { readDeliveries, readTasks } from "../../tasks/index.ts";
import type { AdminServices, HttpServices } from "../services.ts";
import { renderProvider } from "./provider-views.ts";
import { keptFiles, renderTask } from "./task-views.ts";
import { renderVerification } from "./verify.ts";
import { renderDelivery } from "./webhook-deliveries.ts";

type Read = EventHubOptions["read"];
type Of = { readonly workspaceId: string; readonly id: string };
type Shown = Omit<NewRow, "name"> & { readonly of: Of };

async function shownOf(
  services: AdminServices,
  topic: Parameters<Read>[0],
  names: Parameters<Read>[1],
): Promise<Shown[]> {
  if (topic === "requests") {
    const rows = await readHeadlines(services.database, names);
    return rows.map(({ ownerId, record }) => ({
      of: { workspaceId: record.workspace_id, id: record.id },
      ownerId,
      record: () => record,
    }));
  }
  if (topic === "tasks") {
    const rows = await readTasks(services.database, names);
    const kept = await keptFiles(services, rows);
    return rows.map((one) => ({
      of: one,
      ownerId: one.memberId,
      record: (isOrganizationAdmin) => renderTask({ services, isOrganizationAdmin }, one, kept),
    }));
  }
  const rows = await readDeliveries(services, names);
  return rows.map((one) => ({
    of: one,
    ownerId: one.memberId,
    record: () => renderDelivery(one),
  }));
}

const keyOf = ({ workspaceId, id }: Of): string => `${workspaceId} ${id}`;

/** The health of each provider, for every signed-in user. */
function providersOf({ catalog, health }: AdminServices): object {
  const viewContext = { catalog: catalog(), health, isOrganizationAdmin: false };
  const data = [...viewContext.catalog.providers.values()].map((one) => {
    const {
      id,
      health: state,
      paused_until,
    } = renderProvider(one, viewContext) as Record<string, unknown>;
    return { id, health: state, paused_until };
  });
  return { data };
}

/** The topics that are not rows, as texts: a different text means a change. */
const noticesOf = (admin: AdminServices): EventHubOptions["notices"] => ({
  providers: () => {
    const viewContext = {
      catalog: admin.catalog(),
      health: admin.health,
      isOrganizationAdmin: true,
    };
    const all = [...viewContext.catalog.providers.values()];
    return JSON.stringify(all.map((one) => renderProvider(one, viewContext)));
  },
  gateways: async () => JSON.stringify(await listGateways(admin.database)),
  verification: async () => JSON.stringify(renderVerification(await admin.verifier.read())),
});

/** Returns the options of the event hub of one process. */
export function eventSources(services: HttpServices): EventHubOptions {
  const { admin, log, events } = services;
  return {
    database: admin.database,
    log,
    leaving: () => services.leaving(),
    timing: events,
    providers: () => providersOf(admin),
    notices: noticesOf(admin),
    async read(topic, names) {
      const shown = await shownOf(admin, topic, names);
      const byName = new Map(shown.map((one) => [keyOf(one.of), one]));
      return names.flatMap((name) => {
        const found = byName.get(keyOf(name));
        return found === undefined ? [] : [{ ...found, name }];
      });
    },
  };
}
