/** The command line of `npm run bench`. */
import { parseArgs } from "node:util";

export const help = `npm run bench -- [options] [SCENARIO...]

Measures Tollgate beside a bare proxy, in one run, in front of the same upstream. Figures are medians of the rounds.

  --scenario NAME    only these (repeat it, or name them without it): a scenario, a group, or what stands before an @
  --subject NAME     only these of: bare, postgres, embedded (all)
  --rounds N         rounds (5); a round measures every subject in every scenario once
  --seconds N        seconds of one measurement (3)
  --against COMMIT   also an earlier commit, with its own packages
  --workers N        also this checkout with N workers, all on the measured core: compare the processor time of a call
  --peers            also @portkey-ai/gateway, installed from npm into a cache directory
  --url URL --key KEY --model MODEL
                     also another gateway that speaks chat completions; its upstream is to be the benchmark's,
                     http://127.0.0.1:PORT/v1 with --upstream-port PORT
  --upstream-port N  the port of the benchmark's upstream (a free one)
  --http             what our own HTTP saves instead: front and client with and without, plain and TLS upstream
  --tracing          what traces cost: one gateway, calls whose trace is sent and calls whose trace is not, in turn
  --overload         twice the calls that the gateway can take, for --seconds: what is served, refused, and what comes after
  --json FILE        writes all figures of all rounds
  --docs             writes docs/performance.json, the tables in docs/performance.md and the charts beside it
  --list             the scenarios
  --help             this
`;

export const subjectNames = ["bare", "postgres", "embedded"] as const;
export type SubjectName = (typeof subjectNames)[number];

export interface BenchOptions {
  readonly scenarios: readonly string[];
  readonly subjects: readonly SubjectName[];
  readonly rounds: number;
  readonly seconds: number;
  readonly against: string | undefined;
  readonly workers: number | undefined;
  readonly peers: boolean;
  readonly other:
    | { readonly url: string; readonly key: string; readonly model: string }
    | undefined;
  readonly upstreamPort: number | undefined;
  readonly http: boolean;
  readonly tracing: boolean;
  readonly overload: boolean;
  readonly json: string | undefined;
  readonly docs: boolean;
  readonly list: boolean;
  readonly help: boolean;
}

/** Reads the arguments. @throws Error that says what is wrong with them */
export function readOptions(args: readonly string[]): BenchOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      scenario: { type: "string", multiple: true, default: [] },
      subject: { type: "string", multiple: true, default: [] },
      rounds: { type: "string", default: "5" },
      seconds: { type: "string", default: "3" },
      against: { type: "string" },
      workers: { type: "string" },
      peers: { type: "boolean", default: false },
      url: { type: "string" },
      key: { type: "string", default: "none" },
      model: { type: "string" },
      "upstream-port": { type: "string" },
      http: { type: "boolean", default: false },
      tracing: { type: "boolean", default: false },
      overload: { type: "boolean", default: false },
      json: { type: "string" },
      docs: { type: "boolean", default: false },
      list: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const { url, key, model } = values;
  if ((url === undefined) !== (model === undefined))
    throw new Error("--url and --model belong together");
  const subjects = values.subject.map(subjectName);
  return {
    ...values,
    scenarios: [...values.scenario, ...positionals],
    subjects: subjects.length === 0 ? subjectNames : subjects,
    rounds: positive(values.rounds, "--rounds"),
    seconds: positive(values.seconds, "--seconds"),
    against: values.against,
    json: values.json,
    other: url === undefined || model === undefined ? undefined : { url, key, model },
    workers: optional(values.workers, "--workers"),
    upstreamPort: optional(values["upstream-port"], "--upstream-port"),
  };
}

function subjectName(text: string): SubjectName {
  const name = subjectNames.find((one) => one === text);
  if (name === undefined) throw new Error(`--subject takes ${subjectNames.join(", ")}`);
  return name;
}

const optional = (text: string | undefined, name: string): number | undefined =>
  text === undefined ? undefined : positive(text, name);

function positive(text: string, name: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`${name} takes a number above 0`);
  return value;
}
