/** `tollgate sandbox`: the simulated vendors alone. docs/sandbox.md. */
import { startSandbox } from "../../sandbox/index.ts";
import { parsePort } from "./environment.ts";
import { listeningBy, ofSandbox } from "./listening-settings.ts";

/** Runs until SIGINT or SIGTERM. */
export async function sandboxCommand(options: {
  readonly port: string;
  readonly host: string;
}): Promise<void> {
  const address = { host: options.host, port: parsePort(options.port, "--port") };
  const sandbox = await listeningBy(ofSandbox, () => startSandbox(address));
  console.log(
    [
      `sandbox at ${sandbox.url}`,
      `  chat completions, responses  ${sandbox.url}/openai/v1`,
      `  messages                     ${sandbox.url}/anthropic/v1`,
      `  generateContent              ${sandbox.url}/google/v1beta`,
      `  journal                      ${sandbox.url}/__journal`,
      "  any API key that starts with sandbox; any model name",
    ].join("\n"),
  );
  const stop = (): void => {
    sandbox.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
}
