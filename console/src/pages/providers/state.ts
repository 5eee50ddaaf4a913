/** Describes a provider's state: pure functions of the API's record. */
import type { Schemas } from "../../api/client.ts";
import { readMoment, readUntil } from "../../base/time.ts";

export type Provider = Schemas["Providers"]["data"][number];
export type Model = Schemas["ConfiguredModels"]["data"][number];

export interface StateLabel {
  readonly word: string;
  /** `muted`: no fault. */
  readonly tone: "ok" | "warn" | "bad" | "muted";
}

/** The share of its models for which it is excluded. */
const shareOut = ({ health, models }: Provider): string =>
  models.length === 1 ? "" : ` (${health?.out.length ?? 0} of ${models.length})`;

export function stateLabelOf(provider: Provider): StateLabel {
  const { paused_until: paused, health, circuits = [] } = provider;
  if (paused !== null) return { word: "paused", tone: "warn" };
  if (health === null) return { word: "unknown", tone: "muted" };
  if (health.state === "out") return { word: `out${shareOut(provider)}`, tone: "bad" };
  if (health.state === "degraded") return { word: `out${shareOut(provider)}`, tone: "warn" };
  return circuits.length > 0
    ? { word: "ready, to be probed", tone: "ok" }
    : { word: "ready", tone: "ok" };
}

/** The earliest time since which it is excluded for a model; undefined if it is not, or the reader may not know. */
export const outSince = ({ circuits = [] }: Provider): string | undefined =>
  circuits.map(({ since }) => since).toSorted()[0];

/** The time of its next probe. */
export const nextProbe = ({ circuits = [] }: Provider): string | undefined =>
  circuits.map(({ next_probe_at: at }) => at).toSorted()[0];

/** "in 40 s", "in 12 m", or "with the next call" if the time has passed. */
export function untilOf(time: string, nowMs: number): string {
  const leftMs = Date.parse(time) - nowMs;
  if (leftMs <= 0) return "with the next call";
  if (leftMs < 60_000) return `in ${Math.ceil(leftMs / 1000)} s`;
  return readUntil(new Date(time), new Date(nowMs));
}

export const failuresOf = ({ errors_last_hour: errors = [] }: Provider): number =>
  errors.reduce((sum, { count }) => sum + count, 0);

/** The provider's source, and where to change it. */
export function sourceOf({ source, source_line: line }: Provider): string {
  if (source === "api") return "Added here.";
  if (source === "file") {
    const at = line == null ? "" : `, line ${line}`;
    return `Defined in the configuration file${at}; change it there.`;
  }
  return source === "environment"
    ? "Defined by environment variables; change it there."
    : "The simulated vendors; TOLLGATE_SANDBOX=off removes them.";
}

/** Sorts providers by need of attention: out, partly out or paused, unknown, the rest. */
export function byNeed(providers: readonly Provider[]): readonly Provider[] {
  const needs = ["bad", "warn", "muted", "ok"];
  return providers.toSorted(
    (one, other) => needs.indexOf(stateLabelOf(one).tone) - needs.indexOf(stateLabelOf(other).tone),
  );
}

export interface Affected {
  readonly model: string;
  /** Providers that serve it now; empty: none. */
  readonly servedBy: readonly string[];
}

/** The models for which a provider is excluded now, each with the providers that serve it meanwhile. */
export function affectedModels(provider: Provider, models: readonly Model[]): readonly Affected[] {
  const isPaused = provider.paused_until !== null;
  const out = isPaused ? provider.models : (provider.health?.out ?? []);
  return out.map((model) => {
    const offers = models.find(({ id }) => id === model)?.offers ?? [];
    const serving = offers.filter(
      ({ provider: by, health, paused_until: paused }) =>
        by !== provider.id && paused === null && health?.state !== "out",
    );
    return { model, servedBy: [...new Set(serving.map(({ provider: by }) => by))] };
  });
}

const clock = (time: string, now: Date): string => readMoment(new Date(time), now);

/** The sentence below its name: since when, until when, and the next step. */
export function sentenceOf(provider: Provider, now: Date): string {
  const { paused_until: paused } = provider;
  if (paused !== null)
    return `It gets no new calls until ${clock(paused, now)}, then resumes by itself ${untilOf(paused, now.getTime())}.`;
  const since = outSince(provider);
  const probe = nextProbe(provider);
  if (since === undefined || probe === undefined) return "";
  return `Since ${clock(since, now)}. Next attempt: ${untilOf(probe, now.getTime())}.`;
}
