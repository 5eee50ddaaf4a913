/** The management API for a command that runs beside no gateway: the same routes, on the database itself. */
import { systemClock } from "../base/clock.ts";
import { GatewayError } from "../base/errors.ts";
import { createLog } from "../base/log.ts";
import { adminRoutes, callDirectly } from "../http/admin/index.ts";
import type { AdminServices } from "../http/index.ts";
import type { Secrets } from "../tenancy/index.ts";
import { possibleAddresses } from "./address.ts";
import { catalogForCommands } from "./catalog.ts";
import type { Environment } from "./environment.ts";
import { withDatabase, type Opened } from "./open.ts";
import type { Api } from "./remote-api.ts";

export interface Needs {
  /** The command makes or shows keys, which needs the master key where no gateway runs. */
  readonly secrets?: boolean;
}

/** Runs a command's work on the database. @throws what opening the database throws */
export function withDirectApi(
  environment: Environment,
  work: (api: Api) => Promise<void>,
  needs: Needs,
): Promise<void> {
  return withDatabase(async (opened) => work(await directApi(environment, opened, needs)));
}

const notHere = (): never => {
  throw new Error("a command has no sessions");
};

/** Nobody but the gateway's own process knows how providers are doing, and it hears of callbacks by looking. */
async function directApi(
  environment: Environment,
  opened: Opened,
  { secrets = false }: Needs,
): Promise<Api> {
  const log = createLog("warn");
  const catalog = await catalogForCommands(environment, log);
  const { database, ledger } = opened;
  const services: AdminServices = {
    actors: { ofBearer: notHere, ofSession: notHere },
    sessions: { userOf: notHere, handle: notHere, open: notHere },
    throttle: { begin: notHere, succeeded: notHere },
    publicUrl: () =>
      environment.publicUrl ??
      possibleAddresses(environment)[0] ??
      `http://127.0.0.1:${environment.port}`,
    database,
    ledger,
    clock: systemClock,
    secrets: secrets ? await opened.secrets() : noSecrets,
    catalog: () => catalog,
    health: undefined,
    logWritten: () => Promise.resolve(),
    callbackDue: () => undefined,
    fileUrl: (name) => `/files/${name}`,
  };
  return {
    async call(call) {
      const { body } = await callDirectly({ routes: adminRoutes, services, log }, call);
      return body;
    },
  };
}

/** Of commands that handle no keys: making a master key for them would be a surprise. */
const noSecrets: Secrets = {
  lookup: noSecret,
  seal: noSecret,
  unseal: noSecret,
  signingSecret: noSecret,
  adminToken: noSecret,
  sessionSecret: noSecret,
  checkValue: "",
};

function noSecret(): never {
  throw new GatewayError("internal_error", "This command was to need no master key.");
}
