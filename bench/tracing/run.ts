/**
 * `npm run bench -- --tracing`: the cost of traces. Both subjects are one gateway with tracing on, because two processes differ by
 * more than traces cost. The calls' `traceparent` says whether their trace is sent, and measurements of both kinds alternate.
 */
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { BenchOptions } from "../options.ts";
import { reportOf, type Report } from "../report/shown.ts";
import { measureGroup } from "../rounds.ts";
import { factsOf, root, withBench } from "../run.ts";
import { chooseScenarios, groups, type Scenario } from "../scenarios.ts";
import { startTollgate } from "../subjects/tollgate.ts";
import type { Candidate, Subject } from "../subjects/types.ts";
import { startUpstream } from "../upstream/index.ts";

/** The scenarios of these names; without names whole answers and streams. */
export const tracingScenarios = (names: readonly string[]): Scenario[] =>
  chooseScenarios(
    names.length > 0 ? names : ["one@128", "many@128", "40kb-direct-whole", "frames-direct"],
  ).filter(({ answer }) => answer !== "held");

/** Rejects when a process does not start, or when the signal fires. */
export const measureTracing = (
  options: BenchOptions,
  scenarios: readonly Scenario[],
  signal: AbortSignal,
): Promise<Report> =>
  withBench(async ({ closers, others, say, createDatabase }) => {
    const collector = await startCollector();
    closers.push(collector.close);
    const upstream = await startUpstream({});
    closers.push(() => upstream.close());
    const candidates = candidatesOf(collector.url);
    const { rounds, seconds } = options;
    const shared = { createDatabase, candidates, rounds, seconds, upstream, signal, say };
    const rows = [];
    for (const { name } of groups) {
      const own = scenarios.filter(({ group }) => group === name);
      if (own.length > 0) rows.push(...(await measureGroup({ ...shared, scenarios: own })));
    }
    if (collector.exports() === 0) throw new Error("no spans reached the collector");
    return reportOf(factsOf(options, candidates, others), rows);
  });

/** Starts a collector that accepts everything and stores nothing. */
async function startCollector() {
  let exports = 0;
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      exports += 1;
      response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    exports: () => exports,
    close: (): void => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const without = "trace not sent";

function candidatesOf(collector: string): readonly Candidate[] {
  let gateway: Subject | undefined;
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector };
  const first: Candidate = {
    name: without,
    start: async (surroundings) => {
      gateway = await startTollgate(
        { name: without, root, database: "postgres", env },
        surroundings,
      );
      return withTraceparent(gateway, "00");
    },
  };
  const second: Candidate = {
    name: "trace sent",
    against: without,
    start: async () => ({
      ...withTraceparent(gateway!, "01"),
      name: "trace sent",
      close: () => Promise.resolve(),
    }),
  };
  return [first, second];
}

/** The gateway, with these flags in the `traceparent` of all calls; `01` means sampled. */
const withTraceparent = (gateway: Subject, flags: "00" | "01"): Subject => ({
  ...gateway,
  route: (scenario) => {
    const route = gateway.route(scenario);
    if (route === undefined) return undefined;
    const traceparent = `00-${"4bf92f35".repeat(4)}-00f067aa0ba902b7-${flags}`;
    return { ...route, headers: route.headers.map((one) => ({ ...one, traceparent })) };
  },
});
