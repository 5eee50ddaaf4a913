/** Prometheus metrics of text calls, with the names of OpenTelemetry's `gen_ai.*` conventions where one fits. */
import { collectDefaultMetrics, Counter, Histogram, Registry } from "prom-client";
import type { CallRecord } from "../calls/index.ts";

export interface Metrics {
  /** Counts one ended call. */
  observe(record: CallRecord): void;
  render(): Promise<string>;
  readonly contentType: string;
}

const callLabels = ["protocol", "model", "provider", "status"] as const;
const secondsBuckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** A registry of its own, so that several gateways can live in one process (tests do that). */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const calls = new Counter({
    name: "tollgate_calls_total",
    help: "Text calls by how they ended.",
    labelNames: callLabels,
    registers,
  });
  const duration = new Histogram({
    name: "gen_ai_server_request_duration_seconds",
    help: "From the request to the end of its answer.",
    labelNames: ["protocol", "model"],
    buckets: secondsBuckets,
    registers,
  });
  const firstToken = new Histogram({
    name: "gen_ai_server_time_to_first_token_seconds",
    help: "From the request to the first byte of its answer.",
    labelNames: ["protocol", "model"],
    buckets: secondsBuckets,
    registers,
  });
  const tokens = new Counter({
    name: "gen_ai_client_token_usage_total",
    help: "Tokens charged, by type (input, output).",
    labelNames: ["model", "provider", "type"],
    registers,
  });
  const cost = new Counter({
    name: "tollgate_cost_usd_total",
    help: "What calls cost, in USD.",
    labelNames: ["model", "provider"],
    registers,
  });

  return {
    contentType: registry.contentType,
    render: () => registry.metrics(),
    observe(record) {
      // Unknown model names come from callers: they must not grow the set of labels.
      const known = record.provider !== null;
      const model = known ? record.model : "unknown";
      const provider = record.provider ?? "none";
      const { protocol, status } = record;
      calls.inc({ protocol, model, provider, status });
      if (!known) return;
      duration.observe({ protocol, model }, record.durationMs / 1000);
      if (record.firstTokenMs !== null)
        firstToken.observe({ protocol, model }, record.firstTokenMs / 1000);
      if (!record.metered) return;
      tokens.inc({ model, provider, type: "input" }, record.metered.usage.inputTokens);
      tokens.inc({ model, provider, type: "output" }, record.metered.usage.outputTokens);
      cost.inc({ model, provider }, Number(record.costNano) / 1e9);
    },
  };
}
