/**
 * Fits numbers and stop sequences to the target; each change is noted under the caller's name. CONV-206, CONV-302, CONV-403, CONV-404,
 * CONV-407, CONV-506, CONV-507; trap T19.
 */
import { without, type Fitting } from "./fit-fields.ts";

/** Cuts the maximum of output tokens to its cap; must run before reasoning gets its budget below it. */
export function capOutputTokens(fitting: Fitting): void {
  const { outputTokensMax = Infinity } = fitting.target;
  const { maxOutputTokens = 0 } = fitting.request;
  if (maxOutputTokens <= outputTokensMax) return;
  const why = `cut to ${outputTokensMax}, the most the model produces here`;
  fitting.note("maxOutputTokens", "rewritten", why);
  fitting.request = { ...fitting.request, maxOutputTokens: outputTokensMax };
}

/** Fits the values of the fields that the target has. */
export function fitValues(fitting: Fitting): void {
  fitTemperature(fitting);
  fitSampler(fitting);
  fitSeed(fitting);
  fitStop(fitting);
  fitMaxOutputTokens(fitting);
}

function fitTemperature(fitting: Fitting): void {
  const { temperatureMax } = fitting.target.limits;
  const { temperature } = fitting.request;
  if (temperature === undefined || temperature <= temperatureMax) return;
  const why = `capped at ${temperatureMax}, the most the upstream takes`;
  fitting.note("temperature", "rewritten", why);
  fitting.request = { ...fitting.request, temperature: temperatureMax };
}

/** If the vendor refuses temperature and top_p together, top_p is dropped. A value of 1 is the default, so it goes without a note. */
function fitSampler(fitting: Fitting): void {
  const { temperature, topP } = fitting.request;
  if (!fitting.target.limits.oneSampler || temperature === undefined || topP === undefined) return;
  if (temperature !== 1 && topP !== 1)
    fitting.note("topP", "dropped", "the upstream refuses it beside a temperature, dropped");
  fitting.request = without(fitting.request, temperature === 1 ? "temperature" : "topP");
}

/** A seed only needs to map to the same value each time, so that answers stay repeatable. */
function fitSeed(fitting: Fitting): void {
  const { seedMax = Infinity } = fitting.target.limits;
  const { seed } = fitting.request;
  if (seed === undefined || Math.abs(seed) <= seedMax) return;
  const why = `beyond ${seedMax}, the most the upstream takes: its remainder is sent, always the same`;
  fitting.note("seed", "rewritten", why);
  fitting.request = { ...fitting.request, seed: Math.abs(seed) % (seedMax + 1) };
}

/** Drops an empty list, and empty sequences: some vendors refuse them. */
function fitStop(fitting: Fitting): void {
  const { stopSequencesMax, refusesBlankStops = false } = fitting.target.limits;
  const { stop } = fitting.request;
  if (stop === undefined) return;
  const isTaken = (sequence: string): boolean =>
    (refusesBlankStops ? sequence.trim() : sequence) !== "";
  const taken = stop.filter(isTaken);
  const what = refusesBlankStops ? "sequences of white space alone are" : "an empty sequence is";
  const refused = `${what} refused by the upstream`;
  if (taken.length === 0) {
    if (stop.length > 0) fitting.note("stop", "dropped", `${refused}, dropped`);
    fitting.request = without(fitting.request, "stop");
    return;
  }
  if (taken.length < stop.length) fitting.note("stop", "rewritten", `${refused}, left out`);
  if (taken.length > stopSequencesMax) {
    const why = `cut to the first ${stopSequencesMax}, the most the upstream takes`;
    fitting.note("stop", "rewritten", why);
  }
  fitting.request = { ...fitting.request, stop: taken.slice(0, stopSequencesMax) };
}

/**
 * Sets the model's limit if the target requires a maximum and the caller sent none (CONV-403, T19). Raises a maximum below the vendor's
 * minimum: agents ask for a single token to see whether a model answers.
 */
function fitMaxOutputTokens(fitting: Fitting): void {
  const {
    needsMaximum,
    outputTokensMin = 1,
    maximumField,
    refusesNullContent,
  } = fitting.target.limits;
  const { maxOutputTokens } = fitting.request;
  if (refusesNullContent) fitting.request = { ...fitting.request, needsContent: true };
  if (maximumField) fitting.request = { ...fitting.request, maximumField };
  if (maxOutputTokens === undefined) {
    if (!needsMaximum) return;
    fitting.request = { ...fitting.request, maxOutputTokens: fitting.target.maxOutputTokens };
  } else if (maxOutputTokens < outputTokensMin) {
    const why = `raised to ${outputTokensMin}, the least the upstream takes`;
    fitting.note("maxOutputTokens", "rewritten", why);
    fitting.request = { ...fitting.request, maxOutputTokens: outputTokensMin };
  }
}
