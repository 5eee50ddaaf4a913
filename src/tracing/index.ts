/**
 * Traces with OpenTelemetry, sent by OTLP/HTTP. Loaded only where tracing is on: the rest of the gateway knows the interfaces
 * of `base/tracing.ts`. Exporter, sampler and resource are the SDK's; spans are made here (spans.ts). docs/monitoring.md.
 */
import { ROOT_CONTEXT } from "@opentelemetry/api";
import {
  createOtlpHttpExportDelegate,
  httpAgentFactoryFromOptions,
} from "@opentelemetry/otlp-exporter-base/node-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { SamplingDecision, TraceIdRatioBasedSampler } from "@opentelemetry/sdk-trace";
import type { Log } from "../base/log.ts";
import { hostOf, isLocal } from "../base/safe-url.ts";
import type { Tracer } from "../base/tracing.ts";
import { newTraceId } from "./ids.ts";
import { SpanQueue, type QueueLimits, type SpanCounts } from "./queue.ts";
import { spanSerializer, SpanWriter, type SpanBatch } from "./serializer.ts";
import { CarriedSpan, SentSpan, type Origin, type SpanHome } from "./spans.ts";
import { readTraceparent } from "./traceparent.ts";

export interface TracingOptions {
  /** The whole address, `/v1/traces` included. */
  readonly url: string;
  /** The collector's key is in them: never logged. */
  readonly headers: Readonly<Record<string, string>>;
  readonly gzip: boolean;
  /** For one export with its repetitions. */
  readonly timeoutMs: number;
  /** The share of new traces that are sent, from 0 to 1. */
  readonly sample: number;
  /** Whether a caller's `traceparent` decides in place of the share. */
  readonly followsParent: boolean;
  /** Which providers get a `traceparent`; `local`: those at private addresses. */
  readonly propagate: "none" | "local" | "all";
  /** What the spans are of: `service.name` and more. */
  readonly resource: Readonly<Record<string, string>>;
  readonly version: string;
  readonly queue: QueueLimits;
}

export interface Tracing {
  readonly tracer: Tracer;
  /** What became of the spans since the start. */
  counts(): SpanCounts;
  /** Sends what waits, for two seconds at most. */
  close(): Promise<void>;
}

const closeMs = 2_000;
const scopeName = "tollgate";

/** Opens the way to the collector. Nothing is sent before the first span has ended, and nobody waits for the collector. */
export function openTracing(options: TracingOptions, log: Pick<Log, "warn">): Tracing {
  const { version } = options;
  const exporter = createExporter(options);
  const source = {
    resource: resourceFromAttributes({ ...options.resource }),
    scope: { name: scopeName, version },
  };
  const queue = new SpanQueue(exporter, new SpanWriter(source), options.queue, log);
  const home: SpanHome = {
    ended: (span) => queue.add(span),
    passesTo: propagation(options.propagate),
  };
  return {
    tracer: createTracer(home, options),
    counts: () => queue.counts,
    async close() {
      await queue.close(closeMs);
      await Promise.race([exporter.shutdown().catch(() => undefined), soon()]);
    },
  };
}

/**
 * OpenTelemetry's way to a collector (connections, repetitions, bounds of answers) with our serializer. Everything is given:
 * what is left out the library would take from the environment, and headers meant for another collector are secrets.
 */
const createExporter = ({ url, headers, timeoutMs, gzip }: TracingOptions) =>
  createOtlpHttpExportDelegate(
    {
      url,
      headers: () => Promise.resolve({ ...headers, "Content-Type": "application/x-protobuf" }),
      timeoutMillis: timeoutMs,
      // The queue has fewer under way.
      concurrencyLimit: 30,
      compression: gzip ? "gzip" : "none",
      agentFactory: httpAgentFactoryFromOptions({ keepAlive: true }),
      userAgent: "tollgate",
    },
    spanSerializer,
    "otlp_http_span_exporter",
    // No metrics of the SDK's are kept, but it asks.
    { name: "span", countItems: ({ count }: SpanBatch) => count },
    undefined,
  );

const soon = (): Promise<void> => new Promise((resume) => setTimeout(resume, 100).unref());

function createTracer(
  home: SpanHome,
  { sample, followsParent }: Pick<TracingOptions, "sample" | "followsParent">,
): Tracer {
  const sampler = new TraceIdRatioBasedSampler(sample);
  const isSampled = (traceId: string): boolean =>
    sample === 1 ||
    sampler.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED;
  const originAt = clock();
  return {
    start(kind, name, traceparent, beganMs = performance.now()) {
      const parent = readTraceparent(traceparent);
      const id = parent?.traceId ?? newTraceId();
      const isWanted =
        parent !== undefined && followsParent ? parent.isSampled : isSampled(id.text);
      if (!isWanted) return new CarriedSpan(home, id);
      const trace = { id, parent: parent?.spanId, origin: originAt(beganMs) };
      return new SentSpan(home, { kind, name, trace, beganMs });
    },
  };
}

/** Both clocks together are read as seldom as this: the day's may be set anew, and reading one costs as much as an attribute. */
const originKeptMs = 1_000;

function clock(): (nowMs: number) => Origin {
  let origin: Origin = { epochMs: 0, ms: -Infinity };
  return (nowMs) => {
    if (nowMs - origin.ms > originKeptMs) origin = { epochMs: Date.now(), ms: performance.now() };
    return origin;
  };
}

/** Providers are few; addresses that are not theirs never come here. */
function propagation(which: TracingOptions["propagate"]): (address: string) => boolean {
  if (which !== "local") return () => which === "all";
  const known = new Map<string, boolean>();
  return (address) => {
    let isOwn = known.get(address);
    if (isOwn === undefined) known.set(address, (isOwn = isLocal(hostOf(new URL(address)))));
    return isOwn;
  };
}
