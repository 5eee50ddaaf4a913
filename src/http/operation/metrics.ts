/** Prometheus metrics of calls that are answered at once, with the names of OpenTelemetry's `gen_ai.*` conventions where one fits. */
import type { Registry } from "prom-client";
import {
  labelText,
  renderFamilies,
  type Joined,
  type MetricFamily,
} from "../../base/metric-family.ts";
import type { CallRecord, ImageRecord } from "../../calls/index.ts";
import { counters, histograms, type Counter, type Histogram } from "./series.ts";

type Observed = CallRecord | ImageRecord;

export interface Metrics {
  /** Counts one ended call. */
  observe(record: Observed): void;
  /** Requests with a key that are under way now. */
  readonly inFlight: { total: number };
  /** What this process has measured. */
  read(): Promise<MetricFamily[]>;
  /** The gateway's metrics as text: of all its processes, where it has several. */
  render(): Promise<string>;
  readonly contentType: string;
}

/** Makes the metrics of the whole gateway of those of this process. */
export type JoinMetrics = (own: () => Promise<MetricFamily[]>) => Promise<MetricFamily[]>;

const secondsBuckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

const makeFamilies = () => ({
  calls: counters({
    name: "tollgate_calls_total",
    help: "Calls that are answered at once, by how they ended.",
  }),
  duration: histograms(
    {
      name: "gen_ai_server_request_duration_seconds",
      help: "From the request to the end of its answer.",
    },
    secondsBuckets,
  ),
  firstToken: histograms(
    {
      name: "gen_ai_server_time_to_first_token_seconds",
      help: "From the request to the first byte of its answer.",
    },
    secondsBuckets,
  ),
  tokens: counters({
    name: "gen_ai_client_token_usage_total",
    help: "Tokens charged, by type (input, output).",
  }),
  cost: counters({ name: "tollgate_cost_usd_total", help: "What calls cost, in USD." }),
});

/** The series that calls of one kind are counted in. */
interface CallSeries {
  readonly calls: Counter;
  readonly duration: Histogram;
  readonly firstToken: Histogram;
  readonly input: Counter;
  readonly output: Counter;
  readonly cost: Counter;
}

function tokensOf(usage: NonNullable<Observed["metered"]>["usage"]) {
  if (!("unit" in usage)) return { input: usage.inputTokens, output: usage.outputTokens };
  if (usage.unit !== "image_tokens") return { input: 0, output: 0 };
  return {
    input: usage.inputTextTokens + usage.inputImageTokens,
    output: usage.outputTextTokens + usage.outputImageTokens,
  };
}

/** How prom-client says that values of several processes become one; a moment or an average is the largest. */
const joinedBy: Readonly<Record<string, Joined>> = { sum: "sum", min: "min" };

/** prom-client on this process, from its first reader on: a gateway whose metrics nobody reads goes without. */
async function watchProcess(): Promise<Registry> {
  const { collectDefaultMetrics, Registry } = await import("prom-client");
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** What prom-client has measured of the process itself. */
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

const readInFlight = ({ total }: Metrics["inFlight"]): MetricFamily => ({
  name: "tollgate_requests_in_flight",
  help: "Requests with an API key that are under way, streams among them.",
  type: "gauge",
  joined: "sum",
  lines: [["tollgate_requests_in_flight", total]],
});

/** Metrics of their own, so that several gateways can live in one process (tests do that). */
export function createMetrics(join: JoinMetrics = (own) => own()): Metrics {
  let registry: Promise<Registry> | undefined;
  const families = makeFamilies();
  const inFlight = { total: 0 };
  const unknown = new Map<string, Counter>();
  const known = new Map<string, CallSeries>();

  function countUnknown({ protocol, status }: Observed): void {
    // Unknown model names come from callers: they must not grow the set of labels.
    const labels = { protocol, model: "unknown", provider: "none", status };
    const key = `${protocol} ${status}`;
    let calls = unknown.get(key);
    if (!calls) unknown.set(key, (calls = families.calls.series(labels)));
    calls.total += 1;
  }

  function makeSeries({ protocol, status, model }: Observed, provider: string): CallSeries {
    const { calls, duration, firstToken, tokens, cost } = families;
    return {
      calls: calls.series({ protocol, model, provider, status }),
      duration: duration.series({ protocol, model }),
      firstToken: firstToken.series({ protocol, model }),
      input: tokens.series({ model, provider, type: "input" }),
      output: tokens.series({ model, provider, type: "output" }),
      cost: cost.series({ model, provider }),
    };
  }

  const read = async (): Promise<MetricFamily[]> => [
    ...(await readRegistry(await (registry ??= watchProcess()))),
    ...Object.values(families).map((family) => family.read()),
    readInFlight(inFlight),
  ];
  return {
    contentType: "text/plain; version=0.0.4; charset=utf-8",
    inFlight,
    read,
    render: async () => renderFamilies(await join(read)),
    observe(record) {
      const { provider, metered } = record;
      if (provider === null) return countUnknown(record);
      const key = `${record.protocol} ${record.status} ${provider} ${record.model}`;
      let series = known.get(key);
      if (!series) known.set(key, (series = makeSeries(record, provider)));
      series.calls.total += 1;
      series.duration.observe(record.durationMs / 1000);
      if (record.firstTokenMs !== null) series.firstToken.observe(record.firstTokenMs / 1000);
      if (!metered) return;
      const { input, output } = tokensOf(metered.usage);
      series.input.total += input;
      series.output.total += output;
      series.cost.total += Number(record.costNano) / 1e9;
    },
  };
}
