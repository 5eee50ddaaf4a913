/** How a provider is doing, in words: pure functions of what the API says of it. */
import type { Schemas } from "../../api/client.ts";
import { readMoment, readUntil } from "../../base/time.ts";

export type Provider = Schemas["Providers"]["data"][number];
export type Model = Schemas["ConfiguredModels"]["data"][number];

export interface Standing {
  readonly word: string;
  /** `muted`: nobody is at fault. */
  readonly tone: "ok" | "warn" | "bad" | "muted";
}

/** How many of its models it is left out for, of how many. */
const shareOut = ({ health, models }: Provider): string =>
  models.length === 1 ? "" : ` (${health?.out.length ?? 0} of ${models.length})`;

export function standingOf(provider: Provider): Standing {
  const { paused_until: paused, health, circuits = [] } = provider;
  if (paused !== null) return { word: "paused", tone: "warn" };
  if (health === null) return { word: "unknown", tone: "muted" };
  if (health.state === "out") return { word: `out${shareOut(provider)}`, tone: "bad" };
  if (health.state === "degraded") return { word: `out${shareOut(provider)}`, tone: "warn" };
  return circuits.length > 0
    ? { word: "ready, to be probed", tone: "ok" }
    : { word: "ready", tone: "ok" };
}

/** Since when it has been left out for a model, the longest ago; undefined where it is not, or nobody may know. */
export const outSince = ({ circuits = [] }: Provider): string | undefined =>
  circuits.map(({ since }) => since).toSorted()[0];

/** When it is probed next. */
export const nextProbe = ({ circuits = [] }: Provider): string | undefined =>
  circuits.map(({ next_probe_at: at }) => at).toSorted()[0];

/** "in 40 s", "in 12 m", or "with the next call" where the moment is over. */
export function untilOf(time: string, nowMs: number): string {
  const leftMs = Date.parse(time) - nowMs;
  if (leftMs <= 0) return "with the next call";
  if (leftMs < 60_000) return `in ${Math.ceil(leftMs / 1000)} s`;
  return readUntil(new Date(time), new Date(nowMs));
}

export const failuresOf = ({ errors_last_hour: errors = [] }: Provider): number =>
  errors.reduce((sum, { count }) => sum + count, 0);

/** Where it is defined, and who can change it. */
export function sourceOf({ source, source_line: line }: Provider): string {
  if (source === "api") return "Added here.";
  if (source === "file") {
    const at = line == null ? "" : `, line ${line}`;
    return `Defined in the configuration file${at}; change it there.`;
  }
  return source === "environment"
    ? "Comes from the environment's variables; change it there."
    : "The simulated vendors; TOLLGATE_SANDBOX=off removes them.";
}

/** In the order in which they need somebody: out, partly out, paused, the rest. */
export function byNeed(providers: readonly Provider[]): readonly Provider[] {
  const needs = ["bad", "warn", "muted", "ok"];
  return providers.toSorted(
    (one, other) => needs.indexOf(standingOf(one).tone) - needs.indexOf(standingOf(other).tone),
  );
}

export interface Affected {
  readonly model: string;
  /** Providers that take its calls now; empty: nobody does. */
  readonly servedBy: readonly string[];
}

/** The models that a provider is left out for now, each with who serves it meanwhile. */
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

/** What stands below its name: since when, until when, what is done about it. */
export function sentenceOf(provider: Provider, now: Date): string {
  const { paused_until: paused } = provider;
  if (paused !== null)
    return `It gets no new calls until ${clock(paused, now)}, and goes on by itself ${untilOf(paused, now.getTime())}.`;
  const since = outSince(provider);
  const probe = nextProbe(provider);
  if (since === undefined || probe === undefined) return "";
  return `Since ${clock(since, now)}. The next call that may try it: ${untilOf(probe, now.getTime())}.`;
}
