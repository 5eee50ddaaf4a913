/** Metrics of the process itself, from prom-client: memory, processor, open files, the event loop, garbage collection. */
import type { Registry } from "prom-client";
import { labelText, type Joined, type MetricFamily } from "../../base/metric-family.ts";

/** Maps prom-client's aggregators to ours: how the values of several processes become one. Times and averages become the largest. */
const joinedBy: Readonly<Record<string, Joined>> = { sum: "sum", min: "min" };

/** prom-client's JSON, which its types describe only in part. */
interface ProcessMetric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly aggregator: string;
  readonly values: readonly {
    readonly metricName?: string;
    readonly labels: Readonly<Record<string, string | number>>;
    readonly value: number;
  }[];
}

/** Starts prom-client at the first read: a gateway whose metrics are never read does not load it. */
async function watchProcess(): Promise<Registry> {
  const { collectDefaultMetrics, Registry } = await import("prom-client");
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

async function readRegistry(registry: Registry): Promise<MetricFamily[]> {
  const all = (await registry.getMetricsAsJSON()) as unknown as ProcessMetric[];
  return all.map(({ name, help, type, aggregator, values }) => ({
    name,
    help,
    type,
    joined: joinedBy[aggregator] ?? "max",
    lines: values.map(({ metricName = name, labels, value }) => {
      const text = labelText(labels);
      return [text === "" ? metricName : `${metricName}{${text}}`, value] as const;
    }),
  }));
}

/** Returns a reader of the process's metrics; its first call loads prom-client. */
export function processMetrics(): () => Promise<MetricFamily[]> {
  let registry: Promise<Registry> | undefined;
  return async () => readRegistry(await (registry ??= watchProcess()));
}
