/** What prom-client measures of the process itself: memory, processor, open files, the event loop, garbage. */
import type { Registry } from "prom-client";
import { labelText, type Joined, type MetricFamily } from "../../base/metric-family.ts";

/** How prom-client says that values of several processes become one; a moment or an average is the largest. */
const joinedBy: Readonly<Record<string, Joined>> = { sum: "sum", min: "min" };

/** prom-client's JSON, which its types tell only in part. */
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

/** prom-client on this process, from its first reader on: a gateway whose metrics nobody reads goes without. */
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

/** Reads the process; prom-client is loaded by the first read. */
export function processMetrics(): () => Promise<MetricFamily[]> {
  let registry: Promise<Registry> | undefined;
  return async () => readRegistry(await (registry ??= watchProcess()));
}
