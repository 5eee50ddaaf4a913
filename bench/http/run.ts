/** `npm run bench -- --http`: the gateway with and without each part of our own HTTP, with a plain upstream and one with TLS. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeCertificate } from "../../test/support/certificate.ts";
import type { Row } from "../figures.ts";
import type { BenchOptions } from "../options.ts";
import { reportOf, type Report } from "../report/shown.ts";
import { measureGroup } from "../rounds.ts";
import { factsOf, root, withBench } from "../run.ts";
import { chooseScenarios, type Scenario } from "../scenarios.ts";
import { startTollgate } from "../subjects/tollgate.ts";
import type { Candidate } from "../subjects/types.ts";
import { startUpstream } from "../upstream/index.ts";

const setup = new URL("../../scripts/setup.mjs", import.meta.url).href;
const { gatewayFlags } = (await import(setup)) as { readonly gatewayFlags: readonly string[] };

/** The variants, with the parts of our own HTTP that each one disables. The others are compared with the first. */
const variants = [
  { name: "own front, own client", without: "" },
  { name: "node:http, own client", without: "front" },
  { name: "own front, undici", without: "client" },
  { name: "node:http, undici", without: "front,client" },
] as const;

/** The scenarios of these names; without names whole answers, agent bodies and streams. */
export const httpScenarios = (names: readonly string[]): Scenario[] =>
  chooseScenarios(
    names.length > 0 ? names : ["one@128", "40kb-direct-whole", "frames-direct"],
  ).filter(({ endpoint, answer }) => endpoint === "chat" && answer !== "held");

const without = fileURLToPath(new URL("./without.ts", import.meta.url));
const main = join(root, "src/cli/main.ts");

/** Rejects when a process does not start, or when the signal fires. */
export const measureHttp = (
  options: BenchOptions,
  scenarios: readonly Scenario[],
  signal: AbortSignal,
): Promise<Report> =>
  withBench(async ({ closers, others, say, createDatabase }) => {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-bench-tls-"));
    closers.push(() => rmSync(folder, { recursive: true, force: true }));
    const certificate = makeCertificate();
    const authority = join(folder, "authority.pem");
    writeFileSync(authority, certificate.cert);
    const rows: Row[] = [];
    const candidates: Candidate[] = [];
    for (const upstreamKind of ["plain", "TLS"] as const) {
      const tls = upstreamKind === "TLS" ? { certificate } : {};
      const upstream = await startUpstream(tls);
      closers.push(() => upstream.close());
      say(`upstream: ${upstreamKind}`);
      const own = candidatesOf(upstreamKind, authority);
      candidates.push(...own);
      const { rounds, seconds } = options;
      const shared = { createDatabase, rounds, seconds, upstream, signal, say };
      rows.push(...(await measureGroup({ ...shared, scenarios, candidates: own })));
    }
    return reportOf(factsOf(options, candidates, others), rows);
  });

function candidatesOf(upstreamKind: string, authority: string): Candidate[] {
  const nameOf = (name: string): string => `${upstreamKind}: ${name}`;
  return variants.map((variant) => {
    const name = nameOf(variant.name);
    const nodeArguments = [...gatewayFlags, `--import=${without}`, main, "serve"];
    const env = { NODE_EXTRA_CA_CERTS: authority, BENCH_WITHOUT: variant.without };
    const own = { name, root, database: "postgres", nodeArguments, env } as const;
    return {
      name,
      against: variant.without === "" ? undefined : nameOf(variants[0].name),
      start: (surroundings) => startTollgate(own, surroundings),
    };
  });
}
