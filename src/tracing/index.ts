/**
 * OpenTelemetry traces, sent by OTLP/HTTP. This folder is loaded only if tracing is on: the rest of the gateway uses the interfaces
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
import {
  SpanQueue,
  type Exporter,
  type ExportResult,
  type QueueLimits,
  type SpanCounts,
} from "./queue.ts";
import { spanSerializer, SpanWriter, type SpanBatch } from "./serializer.ts";
import { UnsampledSpan, SampledSpan, type Origin, type SpanSink } from "./spans.ts";
import { readTraceparent } from "./traceparent.ts";

export interface TracingOptions {
  /** The whole URL, `/v1/traces` included. */
  readonly url: string;
  /** They contain the collector's key: never logged. */
  readonly headers: Readonly<Record<string, string>>;
  readonly gzip: boolean;
  /** Milliseconds for one export, retries included. */
  readonly timeoutMs: number;
  /** The share of new traces that are sampled, from 0 to 1. */
  readonly sample: number;
  /** True if a caller's `traceparent` decides sampling instead of the share. */
  readonly followsParent: boolean;
  /** The providers that get a `traceparent`; `local`: those at private addresses. */
  readonly propagate: "none" | "local" | "all";
  /** Resource attributes: `service.name` and more. */
  readonly resource: Readonly<Record<string, string>>;
  readonly version: string;
  readonly queue: QueueLimits;
}

export interface Tracing {
  readonly tracer: Tracer;
  /** The numbers of spans sent, dropped and refused since the start. */
  counts(): SpanCounts;
  /** Sends waiting spans, for at most two seconds. */
  close(): Promise<void>;
}

const closeMs = 2_000;
const scopeName = "tollgate";

/** Opens tracing to a collector. Nothing is sent before the first span has ended, and no call waits for the collector. */
export function openTracing(options: TracingOptions, log: Pick<Log, "warn">): Tracing {
  const { version } = options;
  const exporter = createExporter(options);
  const source = {
    resource: resourceFromAttributes({ ...options.resource }),
    scope: { name: scopeName, version },
  };
  const queue = new SpanQueue(exporter, new SpanWriter(source), options.queue, log);
  const home: SpanSink = {
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
 * OpenTelemetry's exporter (connections, retries, answer limits) with our serializer. Every option is set, because the library takes
 * missing ones from the environment, and headers for another collector are secrets.
 */
function createExporter({ url, headers, timeoutMs, gzip }: TracingOptions) {
  let refused: ExportResult["refused"];
  const delegate = createOtlpHttpExportDelegate(
    {
      url,
      headers: () => Promise.resolve({ ...headers, "Content-Type": "application/x-protobuf" }),
      timeoutMillis: timeoutMs,
      // Above the number of exports that the queue starts at once.
      concurrencyLimit: 30,
      compression: gzip ? "gzip" : "none",
      agentFactory: httpAgentFactoryFromOptions({ keepAlive: true }),
      userAgent: "tollgate",
    },
    spanSerializer((spans, reason) => (refused = { spans, reason })),
    "otlp_http_span_exporter",
    // Required by the SDK, although no SDK metrics are kept.
    { name: "span", countItems: ({ count }: SpanBatch) => count },
    undefined,
  );
  const exporter: Exporter = {
    export: (batch, done) =>
      delegate.export(batch, (result) => {
        // The delegate reads an answer and calls this at once, so these spans are of this batch.
        done({ ...result, refused });
        refused = undefined;
      }),
  };
  return { ...exporter, shutdown: () => delegate.shutdown() };
}

const soon = (): Promise<void> => new Promise((resume) => setTimeout(resume, 100).unref());

function createTracer(
  home: SpanSink,
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
      if (!isWanted) return new UnsampledSpan(home, id);
      const trace = { id, parent: parent?.spanId, origin: originAt(beganMs) };
      return new SampledSpan(home, { kind, name, trace, beganMs });
    },
  };
}

/** Milliseconds between two readings of both clocks: the wall clock may be set, and reading one costs as much as an attribute. */
const originKeptMs = 1_000;

function clock(): (nowMs: number) => Origin {
  let origin: Origin = { epochMs: 0, ms: -Infinity };
  return (nowMs) => {
    if (nowMs - origin.ms > originKeptMs) origin = { epochMs: Date.now(), ms: performance.now() };
    return origin;
  };
}

/** The cache is unbounded: only addresses of providers come here, and providers are few. */
function propagation(which: TracingOptions["propagate"]): (address: string) => boolean {
  if (which !== "local") return () => which === "all";
  const known = new Map<string, boolean>();
  return (address) => {
    let isOwn = known.get(address);
    if (isOwn === undefined) known.set(address, (isOwn = isLocal(hostOf(new URL(address)))));
    return isOwn;
  };
}
