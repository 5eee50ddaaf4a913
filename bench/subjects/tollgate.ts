/** Tollgate with all features on, from this checkout or a commit, on each kind of database. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Scenario } from "../scenarios.ts";
import { startProcess } from "./process.ts";
import { tollgateConfig } from "./tollgate-config.ts";
import { makeKeys, type KeySets } from "./tollgate-keys.ts";
import { endpointPaths, type Route, type Subject, type Surroundings } from "./types.ts";

interface TollgateOptions {
  readonly name: string;
  /** The checkout it runs from. */
  readonly root: string;
  /** `embedded`: its own database in its data directory. */
  readonly database: "postgres" | "embedded";
  /** Number of processes that share the port; 1 if absent. */
  readonly workers?: number | undefined;
  /** Arguments for Node; if absent, it starts like the checkout's `npm start`. */
  readonly nodeArguments?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

const adminToken = "bench-admin-token-0123456789abcdefghijklmn";

/** Starts a gateway with a fresh database, and makes the keys that the scenarios need. */
export async function startTollgate(
  options: TollgateOptions,
  { upstreamUrl, scenarios, createDatabase }: Surroundings,
): Promise<Subject> {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-bench-"));
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  const config = join(directory, "tollgate.yaml");
  writeFileSync(config, tollgateConfig(upstreamUrl));
  const program = options.nodeArguments ?? [join(options.root, "scripts/start.mjs")];
  const start = async () =>
    startProcess([...program, "--workers", String(options.workers ?? 1)], {
      cwd: options.root,
      ready: /ready at http:\/\/\S+/,
      env: {
        ...process.env,
        TOLLGATE_DATA_DIR: join(directory, "data"),
        TOLLGATE_CONFIG: config,
        TOLLGATE_SANDBOX: "off",
        TOLLGATE_ADMIN_TOKEN: adminToken,
        DATABASE_URL: options.database === "postgres" ? await createDatabase() : "",
        PORT: "0",
        ...options.env,
      },
    });
  const { pid, output, stop } = await start().catch((error: unknown) => {
    remove();
    throw error;
  });
  const close = async (): Promise<void> => {
    await stop();
    remove();
  };
  try {
    const url = /ready at (http:\/\/\S+)/.exec(output)![1]!;
    const keys = await makeKeys(url, adminToken, new Set(scenarios.map((one) => one.keys)));
    return { name: options.name, url, pid, route: (scenario) => routeOf(keys, scenario), close };
  } catch (error) {
    await close();
    throw error;
  }
}

const mediaModels = { images: "bench/picture", tasks: "bench/clip" } as const;

function routeOf(keys: KeySets, scenario: Scenario): Route {
  const { endpoint, conversion, answer } = scenario;
  return {
    path: `/v1${endpointPaths[endpoint]}`,
    model: endpoint === "chat" ? `bench/${conversion}-${answer}` : mediaModels[endpoint],
    headers: keys[scenario.keys].map((key) => ({ authorization: `Bearer ${key}` })),
  };
}
