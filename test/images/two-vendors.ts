// A model at two providers: a recorder, which is cheaper and so is asked first, and the sandbox's vendor.
import type { HealthRules } from "../../src/routing/index.ts";
import type { Log } from "../../src/base/log.ts";
import { startSandbox } from "../../sandbox/index.ts";
import { startRecorder, type Answer, type Recorder } from "../support/recorder.ts";
import { startImages, type ImageBench } from "./support.ts";

const price = (usd: string) =>
  `{ input: "${usd}", image_input: "${usd}", output: "${usd}", image_output: "${usd}" }`;

/** `:@price` fixes the order. */
export const twoOffers = "acme/edit:@price";
/** A model of the first form, which only the recorder offers. */
export const generating = "acme/make";

interface Vendors {
  readonly bench: ImageBench;
  readonly first: Recorder;
  /** Base URL of the second vendor's journal. */
  readonly sandboxUrl: string;
  /** Sets the first vendor's answer, and clears its recorded requests. */
  answer(answer: Answer): void;
  close(): Promise<void>;
}

interface VendorOptions {
  /** Timeouts of the providers, in YAML's flow style. */
  readonly timeouts?: string;
  readonly onDisconnect?: "abort" | "drain";
  /** Whether each offer streams, which is the default. */
  readonly streaming?: readonly [first: boolean, second: boolean];
  /** More lines of the configuration. */
  readonly more?: string;
  readonly health?: HealthRules;
  /** Time for running calls when the gateway stops, in ms. */
  readonly stopMs?: number;
  /** Credit of the workspace, in dollars. */
  readonly usd?: string;
  readonly log?: Log;
}

export async function startVendors(options: VendorOptions = {}): Promise<Vendors> {
  const { timeouts = "{}", streaming = [true, true], more = "", usd = "100" } = options;
  const { onDisconnect = "abort" } = options;
  const sandbox = await startSandbox({ host: "127.0.0.1", port: 0 });
  const first = await startRecorder((_request, response) => void response.end());
  const provider = (id: string, url: string, key: string) =>
    `  - { id: ${id}, dialect: openai-compatible, base_url: "${url}", api_key: ${key}, tier: official, on_disconnect: ${onDisconnect}, timeouts: ${timeouts} }`;
  const offer = (id: string, usdPerMillion: string, streams: boolean) =>
    `      - { provider: ${id}, upstream_model: image-model-b${streams ? "" : ", streaming: false"}, price: ${price(usdPerMillion)} }`;
  const bench = await startImages({
    ...(options.health && { health: options.health }),
    ...(options.log && { log: options.log }),
    ...(options.stopMs !== undefined && { stopMs: options.stopMs }),
    config: `
providers:
${provider("first", `${first.url}/one/v1`, "key-of-first")}
${provider("second", `${sandbox.url}/openai/v1`, "sandbox")}
models:
  - id: acme/edit
    kind: image
    family: image-b
    offers:
${offer("first", "1", streaming[0])}
${offer("second", "2", streaming[1])}
  - id: acme/make
    kind: image
    family: image-a
    offers:
${offer("first", "1", streaming[0])}
${more}`,
  });
  await bench.credit(usd);
  return {
    bench,
    first,
    sandboxUrl: sandbox.url,
    answer(answer) {
      first.requests.length = 0;
      first.answer(answer);
    },
    async close() {
      await bench.close();
      await first.close();
      await sandbox.close();
    },
  };
}
