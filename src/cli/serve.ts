/** `tollgate serve`: start, say how to make a first call, run until told to stop. */
import { createLog } from "../base/log.ts";
import { readEnvironment, parsePort, UsageError } from "./environment.ts";
import { startGateway, type Gateway } from "./gateway.ts";

export interface ServeOptions {
  readonly port?: string;
  readonly host?: string;
  readonly config?: string;
  readonly workers?: string;
}

/** Runs the gateway until SIGINT or SIGTERM. A second signal stops it at once. */
export async function serve(options: ServeOptions): Promise<void> {
  const started = process.hrtime.bigint();
  const fromEnvironment = readEnvironment(process.env);
  checkWorkers(options.workers);
  const environment = {
    ...fromEnvironment,
    port: options.port === undefined ? fromEnvironment.port : parsePort(options.port, "--port"),
    host: options.host ?? fromEnvironment.host,
    configPath: options.config ?? fromEnvironment.configPath,
  };
  const log = createLog();
  const gateway = await startGateway({ environment, log });
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;
  console.log(banner(gateway, seconds, environment.dataDir));
  stopOnSignal(gateway);
}

function checkWorkers(workers: string | undefined): void {
  if (workers === undefined || workers === "1") return;
  throw new UsageError(
    "--workers: more than one process on one database comes with a later version; start several gateways on one DATABASE_URL instead",
  );
}

function stopOnSignal(gateway: Gateway): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) process.exit(1);
    stopping = true;
    gateway.close().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
}

/** What a person sees when the gateway is ready: on the very first start also the secrets shown once, and a call that works. */
function banner(gateway: Gateway, seconds: number, dataDir: string): string {
  const lines = ["", `  Tollgate is ready at ${gateway.url} (in ${seconds.toFixed(1)} s)`, ""];
  const row = (name: string, value: string): void =>
    void lines.push(`  ${name.padEnd(16)}${value}`);
  row("API reference", `${gateway.url}/docs`);
  row("Models", `${gateway.url}/v1/models`);
  if (gateway.sandboxUrl !== undefined)
    row("Sandbox", `${gateway.sandboxUrl}/__journal shows what the simulated vendors received`);
  row("Data", dataDir);
  const { first } = gateway;
  if (!first)
    return [
      ...lines,
      "",
      "  A key: npx tollgate keys list, npx tollgate keys create --name <name>",
      "",
    ].join("\n");
  lines.push("", "  First start. These are shown once:", "");
  row("Administrator", `${first.adminEmail}, one-time password ${first.adminPassword}`);
  row("API key", first.apiKey);
  if (first.credit !== undefined) row("Credit", `$${first.credit}, for the sandbox`);
  if (gateway.sandboxUrl !== undefined)
    lines.push("", "  Try it:", "", ...curl(gateway.url, first.apiKey));
  return [...lines, ""].join("\n");
}

/** One line, so that it can be copied whole. */
function curl(url: string, apiKey: string): string[] {
  const body = JSON.stringify({
    model: "sandbox/chat",
    messages: [{ role: "user", content: "Hello!" }],
  });
  return [
    `curl ${url}/v1/chat/completions -H "Authorization: Bearer ${apiKey}" -H "Content-Type: application/json" -d '${body}'`,
  ];
}
