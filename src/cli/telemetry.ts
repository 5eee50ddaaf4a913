/**
 * Decides whether and where traces are sent. Reads OpenTelemetry's own variables and `telemetry` of the configuration; no other module
 * does. The configuration wins over the variables; `OTEL_SDK_DISABLED=true` wins over everything. docs/monitoring.md.
 */
import { hostname } from "node:os";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { percentDecoded } from "../base/text.ts";
import { isHeader, type Settings } from "../catalog/index.ts";
import type { Tracing, TracingOptions } from "../tracing/index.ts";
import { UsageError } from "./usage-error.ts";
import { version } from "../base/own-files.ts";

type Variables = Readonly<Record<string, string | undefined>>;

const tracesPath = "/v1/traces";

/** Returns the options of tracing; undefined if it is off. @throws UsageError naming the variable and what it takes */
export function tracingOptions(
  variables: Variables,
  { telemetry }: Pick<Settings, "telemetry">,
): TracingOptions | undefined {
  const value = (name: string): string | undefined => variables[name] || undefined;
  const isOff = value("OTEL_SDK_DISABLED")?.toLowerCase() === "true";
  if (isOff || value("OTEL_TRACES_EXPORTER") === "none") return undefined;
  const url = addressOf(value, telemetry.otlpEndpoint);
  if (url === undefined) return undefined;
  checkProtocol(value);
  return {
    url,
    headers: headersOf(value, telemetry.otlpHeaders),
    gzip: isGzip(value),
    timeoutMs: milliseconds(
      value,
      "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
      "OTEL_EXPORTER_OTLP_TIMEOUT",
    ),
    ...samplingOf(value, telemetry.sample),
    propagate: telemetry.propagate,
    resource: resourceOf(value),
    version,
    queue: queueOf(value),
  };
}

/** Opens tracing if it is on. Only then are the packages of OpenTelemetry loaded. */
export async function openTelemetry(
  variables: Variables,
  settings: Pick<Settings, "telemetry">,
  log: Log,
): Promise<Tracing | undefined> {
  const options = tracingOptions(variables, settings);
  if (options === undefined) return undefined;
  const tracing = (await import("../tracing/index.ts")).openTracing(options, log);
  const { origin } = new URL(options.url);
  log.info({ collector: origin, sample: options.sample }, "traces are sent");
  return tracing;
}

type Value = (name: string) => string | undefined;

/** Reads a variable of the exporter; the variant for traces wins. */
const both = (value: Value, name: string): string | undefined =>
  value(`OTEL_EXPORTER_OTLP_TRACES_${name}`) ?? value(`OTEL_EXPORTER_OTLP_${name}`);

/** Returns the traces' address. The path of traces is appended to a base address; the variable of traces holds the whole address. */
function addressOf(value: Value, configured: string | undefined): string | undefined {
  const whole = configured === undefined ? value("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") : undefined;
  if (whole !== undefined) return checked(whole, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  const base = configured ?? value("OTEL_EXPORTER_OTLP_ENDPOINT");
  if (base === undefined) return undefined;
  const name = configured === undefined ? "OTEL_EXPORTER_OTLP_ENDPOINT" : "telemetry.otlp_endpoint";
  const address = checked(base, name).replace(/\/+$/, "");
  return address.endsWith(tracesPath) ? address : address + tracesPath;
}

/** The message does not repeat the address, because it may hold a key. White space around it is removed. */
function checked(given: string, name: string): string {
  const text = given.trim();
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new UsageError(`${name} is not an address such as http://collector:4318`);
}

function checkProtocol(value: Value): void {
  const protocol = both(value, "PROTOCOL");
  if (protocol !== undefined && protocol !== "http/protobuf")
    throw new UsageError(
      `OTEL_EXPORTER_OTLP_PROTOCOL is "${protocol}"; traces are sent by http/protobuf, to port 4318 of most collectors`,
    );
}

/** @throws UsageError for a compression that the exporter lacks */
function isGzip(value: Value): boolean {
  const compression = both(value, "COMPRESSION")?.toLowerCase() ?? "none";
  if (compression !== "gzip" && compression !== "none")
    throw new UsageError(
      `OTEL_EXPORTER_OTLP_COMPRESSION is "${compression}"; it takes gzip or none`,
    );
  return compression === "gzip";
}

function headersOf(
  value: Value,
  configured: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  const name = value("OTEL_EXPORTER_OTLP_TRACES_HEADERS")
    ? "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
    : "OTEL_EXPORTER_OTLP_HEADERS";
  const headers = configured ?? Object.fromEntries(pairs(value(name), name));
  for (const [header, text] of Object.entries(headers))
    if (!isHeader(header, text))
      throw new UsageError(
        `${configured ? "telemetry.otlp_headers" : name}: a header's name or value cannot be sent; it takes name=value pairs with commas between`,
      );
  return headers;
}

/** Parses OpenTelemetry's format `name=value,name=value`, with percent-encoded values. */
function pairs(text: string | undefined, name: string): (readonly [string, string])[] {
  if (text === undefined) return [];
  return text.split(",").flatMap((pair) => {
    const split = pair.indexOf("=");
    if (pair.trim() === "") return [];
    if (split < 1) throw new UsageError(`${name} takes name=value pairs with commas between`);
    return [[pair.slice(0, split).trim(), percentDecoded(pair.slice(split + 1).trim())] as const];
  });
}

const samplers = ["always_on", "always_off", "traceidratio"] as const;

function samplingOf(
  value: Value,
  configured: number | undefined,
): Pick<TracingOptions, "sample" | "followsParent"> {
  const name = value("OTEL_TRACES_SAMPLER") ?? "parentbased_always_on";
  const followsParent = name.startsWith("parentbased_");
  const kind = samplers.find((one) => one === name.replace(/^parentbased_/, ""));
  if (kind === undefined)
    throw new UsageError(
      `OTEL_TRACES_SAMPLER is "${name}"; it takes ${samplers.join(", ")}, and each of them behind parentbased_`,
    );
  if (configured !== undefined) return { sample: configured, followsParent };
  if (kind !== "traceidratio") return { sample: kind === "always_on" ? 1 : 0, followsParent };
  const text = value("OTEL_TRACES_SAMPLER_ARG") ?? "1";
  const sample = Number(text);
  if (!(sample >= 0 && sample <= 1))
    throw new UsageError(`OTEL_TRACES_SAMPLER_ARG is "${text}"; it takes a share from 0 to 1`);
  return { sample, followsParent };
}

function resourceOf(value: Value): Readonly<Record<string, string>> {
  const given = Object.fromEntries(
    pairs(value("OTEL_RESOURCE_ATTRIBUTES"), "OTEL_RESOURCE_ATTRIBUTES"),
  );
  return {
    "service.version": version,
    "service.instance.id": newId("gw"),
    "host.name": hostname(),
    ...given,
    "service.name": value("OTEL_SERVICE_NAME") ?? given["service.name"] ?? "tollgate",
  };
}

const timeoutMsDefault = 10_000;
const timeoutMsMax = 60_000;

function milliseconds(value: Value, ...names: readonly string[]): number {
  const name = names.find((one) => value(one) !== undefined);
  if (name === undefined) return timeoutMsDefault;
  return whole(value, name, { least: 1, most: timeoutMsMax }) ?? timeoutMsDefault;
}

/** A span takes some 1.5 kB, so the queue takes 12 MB at most. */
const queueDefault = { waitingMax: 8_192, batchMax: 512, delayMs: 1_000 };
const queueMost = 65_536;

function queueOf(value: Value): TracingOptions["queue"] {
  const most = { least: 1, most: queueMost };
  const waitingMax = whole(value, "OTEL_BSP_MAX_QUEUE_SIZE", most) ?? queueDefault.waitingMax;
  const batchMax = whole(value, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", most) ?? queueDefault.batchMax;
  return {
    waitingMax,
    batchMax: Math.min(batchMax, waitingMax),
    delayMs: whole(value, "OTEL_BSP_SCHEDULE_DELAY", most) ?? queueDefault.delayMs,
  };
}

function whole(
  value: Value,
  name: string,
  { least, most }: { readonly least: number; readonly most: number },
): number | undefined {
  const text = value(name);
  if (text === undefined) return undefined;
  const number = Number(text);
  if (/^\d{1,9}$/.test(text) && number >= least && number <= most) return number;
  throw new UsageError(`${name} is "${text}"; it takes a whole number from ${least} to ${most}`);
}
