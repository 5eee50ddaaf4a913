/** Prometheus metrics: counters and histograms of the gateway's work, and gauges that other modules add. docs/monitoring.md. */
import { getOrCreate } from "../../base/memoize.ts";
import { renderFamilies, type MetricFamily } from "../../base/metric-family.ts";
import type { CallRecord, ImageRecord } from "../../calls/index.ts";
import { imageTokenTotals } from "../../media/index.ts";
import type { RequestRow } from "../../request-log/index.ts";
import { makeFamilies, type Families } from "./families.ts";
import { processMetrics } from "./process.ts";
import type { Counter, Example, Histogram } from "./series.ts";
import { createTaggedSeries } from "./tagged.ts";

type Observed = CallRecord | ImageRecord;

/** A read of gauges. Must not reject. */
type Gauges = () => Promise<readonly MetricFamily[]>;

export interface Metrics {
  /** Counts one ended call. */
  observe(record: Observed): void;
  /** Counts one ended task, as the request log has it. */
  observeTask(row: RequestRow): void;
  /** Counts one try of a callback. */
  observeCallback(became: "delivered" | "failed" | "pending", durationMs: number): void;
  /** Counts one call of a key that has a response cache. */
  observeCache(outcome: "hit" | "miss" | "bypass"): void;
  /** Counts one request to an operator's hook; without a duration the hook was not asked. */
  observeHook(
    question: { readonly hook: string; readonly at: string; readonly outcome: string },
    durationMs: number | undefined,
  ): void;
  /** Counts one finished batch of the ledger. */
  observeBatch(entries: number, durationMs: number, isGood: boolean): void;
  /** Requests on routes with a key that are in flight now. */
  readonly inFlight: { total: number };
  /** Adds gauges that are read with each scrape. */
  add(gauges: Gauges): void;
  /** Returns the metrics of this process. */
  read(): Promise<MetricFamily[]>;
  /** Returns the gateway's metrics as Prometheus text, of all its processes. */
  render(): Promise<string>;
  /** The same in the format that `accept` names: OpenMetrics with exemplars, or Prometheus text. */
  answer(accept: string | undefined): Promise<{ readonly type: string; readonly text: string }>;
}

/** Joins the metrics of this process with those of the gateway's other processes. */
export type JoinMetrics = (own: () => Promise<MetricFamily[]>) => Promise<MetricFamily[]>;

/** The series of calls with the same labels. */
interface CallSeries {
  readonly calls: Counter;
  readonly duration: Histogram;
  readonly firstToken: Histogram;
  readonly input: Counter;
  readonly output: Counter;
  readonly inputOfCall: Histogram;
  readonly outputOfCall: Histogram;
  readonly cost: Counter;
}

function tokensOf(usage: NonNullable<Observed["metered"]>["usage"]) {
  if (!("unit" in usage)) return { input: usage.inputTokens, output: usage.outputTokens };
  return usage.unit === "image_tokens" ? imageTokenTotals(usage) : undefined;
}

function callSeries(
  families: Families,
  { protocol, status, model }: Observed,
  provider: string,
): CallSeries {
  const { calls, duration, firstToken, tokens, callTokens, cost } = families;
  return {
    calls: calls.series({ protocol, model, provider, status }),
    duration: duration.series({ protocol, model }),
    firstToken: firstToken.series({ protocol, model }),
    input: tokens.series({ model, provider, type: "input" }),
    output: tokens.series({ model, provider, type: "output" }),
    inputOfCall: callTokens.series({ model, provider, type: "input" }),
    outputOfCall: callTokens.series({ model, provider, type: "output" }),
    cost: cost.series({ model, provider }),
  };
}

/** Returns the function that counts calls and their attempts. It caches the series it has looked up; the keys are bounded labels. */
function callObserver(families: Families): Metrics["observe"] {
  const unknown = new Map<string, Counter>();
  const known = new Map<string, CallSeries>();
  const failed = new Map<string, Counter>();
  const attempted = new Map<string, { readonly total: Counter; readonly duration: Histogram }>();

  function countUnknown({ protocol, status }: Observed): void {
    // Unknown model names come from callers: they must not add labels.
    const labels = { protocol, model: "unknown", provider: "none", status };
    getOrCreate(unknown, `${protocol} ${status}`, () => families.calls.series(labels)).total += 1;
  }

  function countError({ status, errorCode: code, httpStatus }: Observed): void {
    if (status !== "failed" || code === null) return;
    const fault = httpStatus >= 500 ? "gateway" : "caller";
    getOrCreate(failed, `${fault} ${code}`, () =>
      families.errors.series({ code, fault }),
    ).total += 1;
  }

  function countAttempts({ attempts }: Observed, example: Example | undefined): void {
    for (const { provider, upstream_model: model, outcome, fault, duration_ms } of attempts) {
      const key = `${provider} ${outcome} ${fault ?? ""} ${model}`;
      const { total, duration } = getOrCreate(attempted, key, () => ({
        total: families.attempts.series({ provider, model, outcome, ...(fault && { fault }) }),
        duration: families.attemptDuration.series({ provider, model }),
      }));
      total.total += 1;
      duration.observe(duration_ms / 1000, example);
    }
  }

  return (record) => {
    const { provider, metered, span } = record;
    countError(record);
    if (provider === null) return countUnknown(record);
    const example =
      span?.isSampled === true
        ? { traceId: span.traceId, ms: record.startedMs + record.durationMs }
        : undefined;
    const key = `${record.protocol} ${record.status} ${provider} ${record.model}`;
    const series = getOrCreate(known, key, () => callSeries(families, record, provider));
    series.calls.total += 1;
    series.duration.observe(record.durationMs / 1000, example);
    if (record.firstTokenMs !== null)
      series.firstToken.observe(record.firstTokenMs / 1000, example);
    countAttempts(record, example);
    series.cost.total += Number(record.costNano);
    if (!metered) return;
    const tokens = tokensOf(metered.usage);
    if (tokens === undefined) return;
    series.input.total += tokens.input;
    series.output.total += tokens.output;
    series.inputOfCall.observe(tokens.input, example);
    series.outputOfCall.observe(tokens.output, example);
  };
}

/** Returns the functions that count everything but calls. */
function workObservers(
  families: Families,
): Pick<
  Metrics,
  "observeTask" | "observeCallback" | "observeCache" | "observeHook" | "observeBatch"
> {
  const became = { delivered: "delivered", failed: "given_up", pending: "retried" };
  const batchDuration = families.batchDuration.series({});
  const batchEntries = families.batchEntries.series({});
  return {
    observeTask({ model = "unknown", provider = "none", status = "unknown", ...row }) {
      families.tasks.series({ model, provider, status }).total += 1;
      families.taskDuration.series({ model, status }).observe((row.durationMs ?? 0) / 1000);
      families.cost.series({ model, provider }).total += Number(row.costNano ?? 0n);
    },
    observeCallback(step, durationMs) {
      families.callbacks.series({ outcome: became[step] }).total += 1;
      families.callbackDuration.series({}).observe(durationMs / 1000);
    },
    observeCache(outcome) {
      families.cache.series({ outcome }).total += 1;
    },
    observeHook(question, durationMs) {
      families.hooks.series(question).total += 1;
      if (durationMs === undefined) return;
      const { hook, at } = question;
      families.hookDuration.series({ hook, at }).observe(durationMs / 1000);
    },
    observeBatch(entries, durationMs, isGood) {
      families.batches.series({ outcome: isGood ? "ok" : "failed" }).total += 1;
      batchDuration.observe(durationMs / 1000);
      batchEntries.observe(entries);
    },
  };
}

const readInFlight = ({ total }: Metrics["inFlight"]): MetricFamily => ({
  name: "tollgate_requests_in_flight",
  help: "Requests with an API key that are under way, streams among them.",
  type: "gauge",
  joined: "sum",
  lines: [["tollgate_requests_in_flight", total]],
});

const textType = "text/plain; version=0.0.4; charset=utf-8";
const openType = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/** Creates a separate set of metrics, so that several gateways can run in one process (tests do that). */
export function createMetrics(
  join: JoinMetrics = (own) => own(),
  tagNames: readonly string[] = [],
): Metrics {
  const tagged = createTaggedSeries(tagNames);
  const families = makeFamilies();
  const observeCall = callObserver(families);
  const work = workObservers(families);
  const inFlight = { total: 0 };
  const sources: Gauges[] = [processMetrics()];
  const read = async (): Promise<MetricFamily[]> => [
    ...(await Promise.all(sources.map((source) => source()))).flat(),
    ...Object.values(families).map((family) => family.read()),
    readInFlight(inFlight),
    ...tagged.read(),
  ];
  return {
    inFlight,
    read,
    add: (gauges) => void sources.push(gauges),
    render: async () => renderFamilies(await join(read)),
    async answer(accept) {
      const isOpen = accept?.includes("application/openmetrics-text") === true;
      const text = renderFamilies(await join(read), isOpen ? "openmetrics" : "text");
      return { type: isOpen ? openType : textType, text };
    },
    observe(record) {
      observeCall(record);
      tagged.observe(record);
    },
    ...work,
    observeTask(row) {
      work.observeTask(row);
      const { status = "unknown", costNano = 0n } = row;
      tagged.observe({ status, tags: row, costNano });
    },
  };
}
