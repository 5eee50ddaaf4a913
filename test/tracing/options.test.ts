/** The targets of traces, by OpenTelemetry's variables and `telemetry` of the configuration; refused values, and secrets. */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { defaultSettings, loadConfig, printConfig } from "../../src/catalog/index.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { checkTelemetry } from "../../src/cli/doctor/telemetry.ts";
import { tracingOptions } from "../../src/cli/telemetry.ts";
import { temporaryDirectory } from "../support/postgres.ts";

type Telemetry = Partial<typeof defaultSettings.telemetry>;
const read = (variables: Record<string, string>, telemetry: Telemetry = {}) =>
  tracingOptions(variables, { telemetry: { ...defaultSettings.telemetry, ...telemetry } });
const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/" };

it("tracing is off without a collector, and where it is disabled", () => {
  expect(read({})).toBeUndefined();
  expect(read({ ...endpoint, OTEL_SDK_DISABLED: "TRUE" })).toBeUndefined();
  expect(read({ ...endpoint, OTEL_TRACES_EXPORTER: "none" })).toBeUndefined();
  expect(read({ OTEL_SDK_DISABLED: "true" }, { otlpEndpoint: "http://c" })).toBeUndefined();
  // A shared environment may name a collector in a form for other programs.
  const grpc = { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317" };
  expect(read({ ...grpc, OTEL_SDK_DISABLED: "true" })).toBeUndefined();
  expect(read({ ...grpc, OTEL_TRACES_EXPORTER: "none" })).toBeUndefined();
});

it("the collector's URL, headers and names are read from the environment and the configuration", () => {
  const url = (variables: Record<string, string>, telemetry?: Telemetry) =>
    read(variables, telemetry)!.url;
  expect(url(endpoint)).toBe("http://collector:4318/v1/traces");
  expect(url({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://c/x" })).toBe("https://c/x");
  expect(url(endpoint, { otlpEndpoint: "https://c/base" })).toBe("https://c/base/v1/traces");
  expect(url({}, { otlpEndpoint: "https://c/v1/traces" })).toBe("https://c/v1/traces");
  const all = read({
    ...endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: "a=1, Authorization = Bearer%20x%2Cy,",
    OTEL_RESOURCE_ATTRIBUTES: "team=ml,service.name=other",
    OTEL_SERVICE_NAME: "mine",
    OTEL_EXPORTER_OTLP_COMPRESSION: "GZIP",
  })!;
  expect(all.headers).toEqual({ a: "1", Authorization: "Bearer x,y" });
  expect(all.resource).toMatchObject({ "service.name": "mine", team: "ml" });
  expect([all.gzip, all.sample, all.followsParent, all.propagate]).toEqual([
    true,
    1,
    true,
    "local",
  ]);
});

it("samplers are read, and the configuration's share wins", () => {
  const share = (name: string, argument = "", telemetry?: Telemetry) => {
    const sampler = { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument };
    const { sample, followsParent } = read({ ...endpoint, ...sampler }, telemetry)!;
    return [sample, followsParent];
  };
  expect(share("always_on")).toEqual([1, false]);
  expect(share("parentbased_always_off")).toEqual([0, true]);
  expect(share("traceidratio", "0.25")).toEqual([0.25, false]);
  expect(share("parentbased_traceidratio", "0.25", { sample: 0.5 })).toEqual([0.5, true]);
});

it.each([
  ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
  ["OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"],
  ["OTEL_TRACES_SAMPLER", "jaeger_remote"],
  ["OTEL_TRACES_SAMPLER_ARG", "2"],
  ["OTEL_BSP_MAX_QUEUE_SIZE", "1000000"],
  ["OTEL_EXPORTER_OTLP_TIMEOUT", "10s"],
])("a start refuses %s=%s by its name, and repeats the value", (name, value) => {
  const given = { ...endpoint, OTEL_TRACES_SAMPLER: "traceidratio", [name]: value };
  expect(() => read(given)).toThrow(new RegExp(`^${name} is "${value}"`));
});

/** Addresses, headers and attributes may contain a key of the collector. */
it.each([
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318/S3CRET"],
  ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "ftp://u:S3CRET@collector"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "S3CRET"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "S3CRET key=x"],
  ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "a=S3CRET%0d%0aevil: 1"],
  ["OTEL_RESOURCE_ATTRIBUTES", "S3CRET"],
])("a start refuses %s=%s by its name, without any part of its value", (name, value) => {
  const given = { ...endpoint, [name]: value };
  expect(() => read(given)).toThrow(new RegExp(`^${name}\\b`));
  expect(() => read(given)).not.toThrow("S3CRET");
  const [found] = checkTelemetry({ variables: given }, defaultSettings);
  expect(found).toMatchObject({ status: "failed" });
  expect(JSON.stringify(found)).not.toContain("S3CRET");
});

it("a start refuses an address and headers of the configuration without any part of their values", () => {
  for (const telemetry of [
    { otlpEndpoint: "collector:4318/S3CRET" },
    { otlpHeaders: { "x-key": "S3CRET\r\nevil: 1" } },
  ]) {
    expect(() => read(endpoint, telemetry)).toThrow(/^telemetry\.otlp_(endpoint|headers)/);
    expect(() => read(endpoint, telemetry)).not.toThrow("S3CRET");
  }
});

it("headers can be read from a file, like secrets", () => {
  const file = join(temporaryDirectory(), "headers");
  writeFileSync(file, "x-key=from-a-file\n");
  const { variables } = readEnvironment({ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS_FILE: file });
  expect(read(variables as Record<string, string>)!.headers).toEqual({ "x-key": "from-a-file" });
});

it("headers of the configuration are masked when they are printed", async () => {
  const file = join(temporaryDirectory(), "tollgate.yaml");
  writeFileSync(
    file,
    "providers: []\nmodels: []\ntelemetry:\n  otlp_endpoint: http://collector:4318\n  otlp_headers: { x-team: team-secret-0123456789 }\n  sample: 0.5\n",
  );
  const result = await loadConfig(file, { environment: {}, knownProviders: [], knownModels: [] });
  if ("mistakes" in result) throw new Error(JSON.stringify(result.mistakes));
  expect(result.config.settings.telemetry.otlpHeaders).toEqual({
    "x-team": "team-secret-0123456789",
  });
  const text = printConfig(result.config);
  expect(text).toContain("****6789");
  expect(text).not.toContain("team-secret");
});

/** The source files with a matching import that stays when types are removed. */
const importing = (what: RegExp): string[] =>
  globSync("src/**/*.ts", { cwd: new URL("../../", import.meta.url).pathname }).filter((file) =>
    what.test(readFileSync(new URL(`../../${file}`, import.meta.url), "utf8")),
  );

it("a start without tracing loads nothing of OpenTelemetry: only one dynamic import leads to it", () => {
  const room = /^src\/tracing\//;
  expect(importing(/from "@opentelemetry/).filter((file) => !room.test(file))).toEqual([]);
  expect(importing(/^import \{.*tracing\/index\.ts"/m)).toEqual([]);
  expect(importing(/import\("\.\.\/tracing\/index\.ts"\)/)).toEqual(["src/cli/telemetry.ts"]);
});

it("doctor reports the collector, or the variable that a start would refuse", () => {
  const found = (variables: Record<string, string>) =>
    checkTelemetry({ variables }, defaultSettings);
  expect(found({})).toEqual([]);
  expect(found(endpoint)).toEqual([
    { check: "telemetry", status: "ok", message: "traces go to http://collector:4318" },
  ]);
  expect(found({ ...endpoint, OTEL_TRACES_SAMPLER: "often" })).toMatchObject([
    {
      check: "telemetry",
      status: "failed",
      message: expect.stringContaining('is "often"') as string,
    },
  ]);
});
