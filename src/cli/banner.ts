/** The text printed when the gateway is ready. On the very first start it includes the secrets, shown once, and an example call. */
import type { Catalog, EndpointName, Model, TextModel } from "../catalog/index.ts";
import type { Gateway } from "./gateway.ts";

/** The parts of a gateway that the text shows. */
export type Ready = Pick<Gateway, "first" | "url" | "catalog" | "sandboxUrl" | "metricsUrl"> & {
  /** If there are several processes: their number, and why there are not more. */
  readonly workers?: string;
};

/** Returns the text to print. `seconds` is the duration of the start. */
export function banner(gateway: Ready, seconds: number, dataDir: string): string {
  const { first, url } = gateway;
  const catalog = gateway.catalog();
  const lines = ["", `  Tollgate is ready at ${url} (in ${seconds.toFixed(1)} s)`, ""];
  const row = (name: string, value: string): void =>
    void lines.push(`  ${name.padEnd(16)}${value}`);
  row("Console", `${url}/`);
  row("API reference", `${url}/docs`);
  row("Models", `${modelNames(catalog)} (${url}/v1/models)`);
  if (gateway.sandboxUrl !== undefined)
    row("Sandbox", `${gateway.sandboxUrl}/__journal shows what the simulated vendors received`);
  if (gateway.metricsUrl !== undefined) row("Metrics", gateway.metricsUrl);
  if (gateway.workers !== undefined) row("Workers", gateway.workers);
  row("Data", dataDir);
  if (!first) {
    lines.push("", "  A key: npx tollgate keys list, npx tollgate keys create --name <name>", "");
    return lines.join("\n");
  }
  lines.push("", "  First start. These are shown once:", "");
  const password = `one-time password ${first.adminPassword} (it works until you choose your own)`;
  row("Administrator", `${first.adminEmail}, ${password}`);
  row("API key", first.apiKey);
  row("Credit", `$${first.credit}; more with npx tollgate credits add 25.00`);
  const call = exampleCall(catalog);
  // On one line, so that the operator can copy the whole command.
  if (call !== undefined)
    lines.push(
      "",
      "  Try it:",
      "",
      `curl ${url}${call.path} -H "Authorization: Bearer ${first.apiKey}" -H "Content-Type: application/json" -d '${JSON.stringify(call.body)}'`,
    );
  return [...lines, ""].join("\n");
}

const namesShown = 3;

function modelNames({ models }: Catalog): string {
  const names = [...models.keys()];
  if (names.length === 0) return "none yet: npx tollgate doctor says how to get some";
  const rest = names.length - namesShown;
  return names.slice(0, namesShown).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

interface ExampleCall {
  readonly path: string;
  readonly body: object;
}

const messages = [{ role: "user", content: "Hello!" }];

/** The smallest call of each endpoint. */
const textCalls: Readonly<Record<EndpointName, (model: string) => ExampleCall>> = {
  chat_completions: (model) => ({ path: "/v1/chat/completions", body: { model, messages } }),
  responses: (model) => ({ path: "/v1/responses", body: { model, input: "Hello!" } }),
  messages: (model) => ({ path: "/v1/messages", body: { model, max_tokens: 1000, messages } }),
  generate_content: (model) => ({
    path: `/v1beta/models/${model}:generateContent`,
    body: { contents: [{ parts: [{ text: "Hello!" }] }] },
  }),
};

/** The sum of the input and output prices of a model's first offer. */
const priceOf = ({ offers: [offer] }: TextModel): bigint =>
  offer === undefined ? 0n : offer.price.input + offer.price.output;

/** Returns an example call for the sandbox's chat model, else the cheapest text model, else an embedding model. */
export function exampleCall({ models }: Catalog): ExampleCall | undefined {
  const all: readonly Model[] = [...models.values()];
  const texts = all
    .filter((model) => model.kind === "text")
    .sort((left, right) => Number(priceOf(left) - priceOf(right)));
  const text = texts.find(({ id }) => id === "sandbox/chat") ?? texts[0];
  if (text !== undefined) {
    const known = Object.keys(textCalls) as EndpointName[];
    const endpoint = known.find((one) => text.endpoints.includes(one));
    return endpoint && textCalls[endpoint](text.id);
  }
  const embedding = all.find(({ kind }) => kind === "embedding");
  if (embedding === undefined) return undefined;
  return { path: "/v1/embeddings", body: { model: embedding.id, input: "Hello!" } };
}
