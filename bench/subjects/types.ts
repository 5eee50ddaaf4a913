/** What a subject of the benchmark is: something that answers chat completions, in front of the benchmark's upstream. */
import type { Scenario } from "../scenarios.ts";

/** How a scenario's calls reach a subject. */
export interface Route {
  readonly path: string;
  readonly model: string;
  /** Headers of the requests, one set for each key, taken in turn. */
  readonly headers: readonly Readonly<Record<string, string>>[];
}

export interface Subject {
  readonly name: string;
  readonly url: string;
  /** The process whose time and memory count, with all that it has started; undefined where it is not ours. */
  readonly pid: number | undefined;
  /** Undefined where the subject cannot take these calls. */
  route(scenario: Scenario): Route | undefined;
  close(): Promise<void>;
}

/** What a subject is started with, for each group of scenarios anew. */
export interface Surroundings {
  readonly upstreamUrl: string;
  readonly scenarios: readonly Scenario[];
  /** A fresh database of the PostgreSQL server. */
  readonly createDatabase: () => Promise<string>;
  readonly signal: AbortSignal;
}

/** A subject that may be started. */
export interface Candidate {
  readonly name: string;
  /** The candidate it is compared with, beside the bare proxy. */
  readonly against?: string | undefined;
  start(surroundings: Surroundings): Promise<Subject>;
}

/** The upstream's base URL for a scenario: its path says how the upstream answers. */
export const upstreamBase = (upstreamUrl: string, { answer }: Pick<Scenario, "answer">): string =>
  `${upstreamUrl}/${answer}/v1`;

/** The path of each endpoint, at a gateway and at the upstream. */
export const endpointPaths: Record<Scenario["endpoint"], string> = {
  chat: "/chat/completions",
  images: "/images/generations",
  tasks: "/tasks",
};
