/** The parts that only the management API needs: the admin token, and the lookup of a credential's owner. */
import { createActors, createSessions, createThrottle, openAdminToken } from "../admin/index.ts";
import { vendorStates } from "../catalog/index.ts";
import { tryProvider } from "../calls/index.ts";
import type { AdminServices } from "../http/index.ts";
import { checkAddress, type Pools } from "../upstream/index.ts";
import type { Environment } from "./environment.ts";
import type { Resources } from "./resources.ts";

interface AdminOptions extends Pick<
  Resources,
  "environment" | "catalog" | "database" | "reads" | "secrets" | "clock" | "log" | "pools"
> {
  /** The gateway's own address, known once it listens. */
  readonly ownUrl: () => string;
  /** Services of the running gateway; see AdminServices. */
  readonly running: Pick<
    AdminServices,
    | "health"
    | "providerHour"
    | "logWritten"
    | "bodiesWritten"
    | "wakeDeliverer"
    | "cancelTask"
    | "fileUrl"
    | "verifier"
  >;
}

/** Creates or reads the admin token, and assembles the services of the management API. */
export async function openAdmin(options: AdminOptions): Promise<AdminServices> {
  const { environment, catalog, database, reads, secrets, clock, log } = options;
  const publicUrl = (): string => environment.publicUrl ?? options.ownUrl();
  const adminTokens = await openAdminToken({
    adminToken: environment.adminToken,
    dataDir: environment.dataDir,
    secrets,
    log,
  });
  return {
    actors: createActors({ database, secrets, clock, adminTokens }),
    sessions: createSessions({
      database,
      clock,
      secrets,
      oidc: catalog.settings.console.oidc,
      publicUrl,
      log,
    }),
    throttle: createThrottle(database, clock),
    publicUrl,
    database,
    reads,
    secrets,
    clock,
    catalog: () => catalog.current(),
    vendors: (list) => vendorStates(catalog.variables(), list),
    usageTags: catalog.settings.tags.usage,
    hooks: catalog.settings.hooks,
    ...providerServices(environment, () => options.pools),
    ...options.running,
  };
}

/** Services that check and try providers. */
export const providerServices = (
  { allowPrivateAddresses: allowPrivate }: Environment,
  pools: () => Pools,
): Pick<AdminServices, "checkProviderAddress" | "tryProvider"> => ({
  async checkProviderAddress(address, param) {
    await checkAddress(address, { https: false, allowPrivate, param });
  },
  tryProvider: (trial) => tryProvider(pools(), trial),
});
