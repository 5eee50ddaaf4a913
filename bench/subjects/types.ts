/** The types of a benchmark subject: a server for chat completions in front of the benchmark's upstream. */
import type { Scenario } from "../scenarios.ts";

/** The path, model and headers that a scenario's calls use for a subject. */
export interface Route {
  readonly path: string;
  readonly model: string;
  /** One set of headers per key; requests take them in turn. */
  readonly headers: readonly Readonly<Record<string, string>>[];
}

export interface Subject {
  readonly name: string;
  readonly url: string;
  /** The process whose time and memory count, with its descendants; undefined if the benchmark did not start it. */
  readonly pid: number | undefined;
  /** Undefined if the subject does not support these calls. */
  route(scenario: Scenario): Route | undefined;
  close(): Promise<void>;
}

/** The inputs for starting a subject, new for each group of scenarios. */
export interface Surroundings {
  readonly upstreamUrl: string;
  readonly scenarios: readonly Scenario[];
  /** A fresh database of the PostgreSQL server. */
  readonly createDatabase: () => Promise<string>;
  readonly signal: AbortSignal;
}

/** A subject that can be started. */
export interface Candidate {
  readonly name: string;
  /** The candidate it is compared with, beside the bare proxy. */
  readonly against?: string | undefined;
  start(surroundings: Surroundings): Promise<Subject>;
}

/** The upstream's base URL for a scenario: its path selects the form of the answer. */
export const upstreamBase = (upstreamUrl: string, { answer }: Pick<Scenario, "answer">): string =>
  `${upstreamUrl}/${answer}/v1`;

/** The path of each endpoint, at a gateway and at the upstream. */
export const endpointPaths: Record<Scenario["endpoint"], string> = {
  chat: "/chat/completions",
  images: "/images/generations",
  tasks: "/tasks",
};
