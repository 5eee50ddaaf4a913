/** A gateway whose providers are simulated clouds, as an operator configures them. */
import { afterAll, beforeEach } from "vitest";
import { startSandbox, type Sandbox } from "../../sandbox/index.ts";
import { useWorldOf, type World } from "../sdk/support.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";

const price = '{ input: "0.50", cache_read: "0.05", cache_write: "0.625", output: "2.00" }';

const dearer = price.replace("2.00", "20.00");

/** The offers of one model: the providers in their order, and the protocol of each. */
interface Served {
  readonly id: string;
  readonly upstreamModel: string;
  /** A line of the model's record. */
  readonly record?: string;
  readonly offers: readonly {
    readonly provider: string;
    readonly protocol: string;
    /** True if the provider is asked only after the others. */
    readonly isDearer?: boolean;
  }[];
}

/** A configuration file of these providers and models, each an item of a YAML list. */
export const fileOf = (providers: readonly string[], models: readonly Served[]): string =>
  [
    "providers:",
    ...providers.map((text) => `  - { ${text} }`),
    "models:",
    ...models.flatMap(({ id, upstreamModel, record, offers }) => [
      `  - id: ${id}`,
      "    kind: text",
      "    context_length: 200000",
      "    max_output_tokens: 64000",
      ...(record === undefined ? [] : [`    ${record}`]),
      "    offers:",
      ...offers.map(
        ({ provider, protocol, isDearer }) =>
          `      - { provider: ${provider}, protocol: ${protocol}, upstream_model: "${upstreamModel}", price: ${isDearer ? dearer : price} }`,
      ),
    ]),
    "",
  ].join("\n");

export interface Cloud {
  readonly world: World;
  readonly gateway: GatewayUnderTest;
  readonly sandbox: Sandbox;
}

type Variables = Readonly<Record<string, string>>;

/**
 * Starts a sandbox and a gateway for the tests of one file. While they run, `environment` is set for this process, because the
 * clouds' libraries read it.
 */
export function useCloud(
  config: (sandboxUrl: string) => string,
  environment: (sandboxUrl: string) => Variables | Promise<Variables> = () => ({}),
): Cloud {
  let sandbox: Sandbox;
  let gateway: GatewayUnderTest;
  const before = new Map<string, string | undefined>();
  const world = useWorldOf(
    async () => {
      sandbox = await startSandbox({ port: 0, host: "127.0.0.1" });
      // Azure's library keeps longer-lived tokens for the whole process, and would use them in the next test file.
      for (const tokens of Object.values(sandbox.tokens)) tokens.lifeSeconds = 240;
      const variables = await environment(sandbox.url);
      for (const [name, value] of Object.entries(variables)) {
        before.set(name, process.env[name]);
        process.env[name] = value;
      }
      gateway = await startTestGateway({ config: config(sandbox.url), environment: variables });
      await gateway.credit("100");
      return gateway;
    },
    () => sandbox.url,
  );
  // Scenarios search the journal for their own request, and other scenarios have sent equal ones.
  beforeEach(async () => {
    await fetch(`${sandbox.url}/__journal`, { method: "DELETE" });
  });
  afterAll(async () => {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    await sandbox.close();
  });
  return {
    world,
    get gateway() {
      return gateway;
    },
    get sandbox() {
      return sandbox;
    },
  };
}

/** Makes a chat call with the cheapest provider first. Returns its status and its logged attempts. */
export async function called(
  { gateway, world }: Cloud,
  model: string,
): Promise<{ status: number; attempts: readonly LoggedAttempt[] }> {
  const answer = await gateway.post("/v1/chat/completions", {
    model: `${model}:@price`,
    messages: [{ role: "user", content: "Hi" }],
  });
  await answer.text();
  const id = answer.headers.get("x-request-id")!;
  const call = (await world.logged((row) => row.id === id)) as unknown as {
    attempts: readonly LoggedAttempt[];
  };
  return { status: answer.status, attempts: call.attempts };
}

interface LoggedAttempt {
  readonly provider: string;
  readonly status: number | null;
  readonly outcome: string;
  readonly message?: string;
}
