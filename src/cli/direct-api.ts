/** The management API for a command without a running gateway: the same routes, directly on the database. */
import { systemClock } from "../base/clock.ts";
import { GatewayError } from "../base/errors.ts";
import { createLog } from "../base/log.ts";
import { vendorStates } from "../catalog/index.ts";
import { adminRoutes, callDirectly, csvDirectly } from "../http/admin/index.ts";
import type { AdminServices } from "../http/index.ts";
import { readsOf, storedProviders, type Database } from "../storage/index.ts";
import type { Secrets } from "../tenancy/index.ts";
import { hasMasterKey } from "../tenancy/index.ts";
import { createPools, type Pools } from "../upstream/index.ts";
import { possibleAddresses } from "./address.ts";
import { providerServices } from "./admin.ts";
import { configurationForCommands } from "./catalog.ts";
import type { Environment } from "./environment.ts";
import { withDatabase, type Opened } from "./open.ts";
import { environmentProxies } from "./proxies.ts";
import { replayedHeader, type Api, type OnceAnswer } from "./remote-api.ts";

export interface Needs {
  /**
   * True if the command creates or shows keys, which needs the master key if no gateway runs. `if_known`: the command shows more if
   * there is a master key, and does not create one.
   */
  readonly secrets?: boolean | "if_known";
  /** `false`: the command has something to show before a gateway has ever run. */
  readonly database?: false;
}

/** Runs a command's work on the database. @throws what opening the database throws */
export function withDirectApi(
  environment: Environment,
  work: (api: Api) => Promise<void>,
  needs: Needs,
): Promise<void> {
  const withApi = async (opened: Opened) => work(await directApi(environment, opened, needs));
  return withDatabase(withApi, needs.database === false ? () => withApi(unused) : undefined);
}

/** Stands for the empty database before a gateway has run. */
const unused: Opened = {
  database: { query: () => Promise.resolve([]) } as unknown as Database,
  secrets: () => Promise.resolve(noSecrets),
};

const notHere = (): never => {
  throw new Error("a command has no sessions, verifies by itself and cancels nothing");
};

/** Only a gateway process knows the health of providers, so it is absent here. The gateway finds due callbacks by polling. */
async function directApi(
  environment: Environment,
  opened: Opened,
  { secrets = false }: Needs,
): Promise<Api> {
  const log = createLog("warn");
  const { database } = opened;
  const wantsSecrets = secrets === "if_known" ? hasMasterKey(environment) : secrets;
  const ownSecrets = wantsSecrets ? await opened.secrets() : undefined;
  if (secrets === "if_known" && !wantsSecrets && (await storedProviders(database)).length > 0)
    console.error(
      "Providers that were added over the management API are not shown: they cannot be read without the master key. " +
        "Set TOLLGATE_MASTER_KEY, or ask a gateway that runs (--url).",
    );
  const around = { database, secrets: ownSecrets, log };
  const { catalog, settings } = await configurationForCommands(environment, around);
  // Created when a provider is called, so that a misspelt proxy stops no other command.
  let pools: Pools | undefined;
  const services: AdminServices = {
    actors: { ofBearer: notHere, ofSession: notHere },
    sessions: {
      provider: null,
      userOf: notHere,
      handle: notHere,
      signIn: notHere,
      open: notHere,
    },
    throttle: { begin: notHere, uncount: notHere },
    publicUrl: () =>
      environment.publicUrl ??
      possibleAddresses(environment)[0] ??
      `http://127.0.0.1:${environment.port}`,
    // Use `tollgate verify` instead.
    verifier: { start: notHere, read: notHere, close: notHere },
    database,
    // Reads without limits: a command makes one request, and its size is its own choice.
    reads: readsOf(database),
    clock: systemClock,
    secrets: ownSecrets ?? noSecrets,
    catalog: () => catalog,
    vendors: (list) => vendorStates(environment.variables, list),
    ...providerServices(
      environment,
      () => (pools ??= createPools({ log, proxies: environmentProxies(environment) })),
    ),
    usageTags: settings.tags.usage,
    hooks: settings.hooks,
    health: undefined,
    providerHour: () => Promise.resolve(new Map()),
    logWritten: () => Promise.resolve(),
    bodiesWritten: () => Promise.resolve(),
    wakeDeliverer: () => undefined,
    cancelTask: notHere,
    fileUrl: (name) => `/files/${name}`,
  };
  const options = { routes: adminRoutes, services, log };
  return {
    call: async (call) => (await callDirectly(options, call)).body,
    once: async (call) => onceOf(await callDirectly(options, call)),
    csv: (call) => csvDirectly(options, call),
  };
}

const onceOf = ({ body, headers }: Awaited<ReturnType<typeof callDirectly>>): OnceAnswer => ({
  body,
  isReplay: headers?.[replayedHeader] === "true",
});

/** For commands that handle no keys. They must not create a master key as a side effect. */
const noSecrets: Secrets = {
  lookup: noSecret,
  temporarySignature: noSecret,
  temporarySignatures: noSecret,
  seal: noSecret,
  unseal: noSecret,
  sealBytes: noSecret,
  unsealBytes: noSecret,
  signingSecret: noSecret,
  adminToken: noSecret,
  adminTokens: noSecret,
  sessionSecret: noSecret,
  masterKeys: noSecret,
  checkValue: "",
};

function noSecret(): never {
  throw new GatewayError("internal_error", "This command was to need no master key.");
}
