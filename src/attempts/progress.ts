/** The attempts of one call so far: their number, the providers to ask again, and the place of each in the plan. docs/routing.md. */
import { candidatesMax, type Candidate } from "./candidates.ts";
import type { Failure } from "./failure.ts";

/** The attempts of one call, by model. */
export class Progress<Asked extends Candidate> {
  readonly #made = new Map<string | undefined, number>();
  /** The first candidate that refused earlier reasoning of another vendor or account; null once it was asked without it. */
  readonly #refusing = new Map<string | undefined, Asked | null>();

  /** Counts one more; returns how many there are. */
  add(model: string | undefined): number {
    const attempts = (this.#made.get(model) ?? 0) + 1;
    this.#made.set(model, attempts);
    return attempts;
  }

  /** Remembers a candidate that refused earlier reasoning, if it is the first one of its model. */
  noteRefusal(candidate: Asked, { refusesProof }: Failure): void {
    if (refusesProof === true && !this.#refusing.has(candidate.model))
      this.#refusing.set(candidate.model, candidate);
  }

  /** Returns the candidate to ask again, whose request now goes without that reasoning; none the second time, and if it has none. */
  takeRefusing(model: string | undefined): Asked[] {
    const candidate = this.#refusing.get(model) ?? undefined;
    if (candidate === undefined) return [];
    this.#refusing.set(model, null);
    return candidate.leaveOutProofs?.() === true ? [candidate] : [];
  }
}

/** A candidate's index in the plan, and its number among those of its model, from 1. */
export interface Place {
  readonly index: number;
  readonly count: number;
}

/** The id of a planned offer's model; undefined unless the call may go to several models. */
const modelOf = (planned: object | undefined): unknown =>
  planned !== undefined && "model" in planned ? planned.model : undefined;

/** The number of later candidates of the same model. Each keeps one attempt, however many credentials the candidates before it have. */
export function followers(planned: readonly object[], { index, count }: Place): number {
  const model = modelOf(planned[index]);
  const following = planned.slice(index + 1).filter((one) => modelOf(one) === model);
  return Math.min(following.length, candidatesMax - count);
}
