/**
 * The failover loop of calls that are answered at once. It tries one provider after another until one answers, and another credential where
 * one was refused. Subclasses send the request and judge the answer. docs/routing.md.
 */
import { msSince } from "../base/elapsed.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { GatewayError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Span } from "../base/tracing.ts";
import type { Catalog, Credential } from "../catalog/index.ts";
import {
  permits,
  type Constraints,
  type Health,
  type HealthAttempt,
  type MeasuredCall,
} from "../routing/index.ts";
import { maskError } from "../upstream/index.ts";
import { candidatesMax, nextAfter, type Candidate } from "./candidates.ts";
import {
  AttemptFailure,
  withFailover,
  isTooLongForCandidate,
  noneAvailable,
  laterFailure,
} from "./failure.ts";
import { followers, Progress, type Place } from "./progress.ts";
import { noteFailure, reportFailure, type Attempt } from "./record.ts";
import { endAttempt, type TracedCall } from "./trace.ts";

/** A call that the loop makes attempts for. */
export interface AttemptingCall {
  readonly services: {
    catalog(): Catalog;
    readonly health: Health;
    readonly log: Log;
  };
  /** The constraints of the caller's layers; every attempt is checked against the current configuration (T74). */
  readonly constraints: Constraints;
  readonly record: TracedCall & {
    readonly id: string;
    /** Start time on the monotonic clock, in milliseconds. */
    readonly beganMs: number;
    model: string;
    readonly attempts: Attempt[];
    provider: string | null;
    /** The request's span, if it is traced; each attempt is a child span. */
    readonly span?: Span | undefined;
  };
  readonly reply: { readonly gone: boolean };
}

/** The most attempts for a model. A provider with several credentials may take more than one. */
const attemptsMax = 6;
const retryPauseMs = 200;

/** The result if no attempt was made. */
const notAttempted = Symbol("none asked");
/** Selects planned offers: those that health admits, those with a probe in flight, those without an attempt yet, or any. */
type CandidateFilter = "admitted" | "probed" | "unasked" | "any";
type Tried<Answer> = Answer | AttemptFailure | typeof notAttempted;

/** The loop for one kind of call. `Planned` is an element of the plan, `Answered` an answer whose head has arrived. */
export abstract class Failover<
  Call extends AttemptingCall,
  Planned extends object,
  Asked extends Candidate,
  Answered extends { readonly status: number },
  Answer,
> {
  /** Returns the candidate, by the current configuration; undefined if the request cannot be sent to it. */
  protected abstract candidate(call: Call, planned: Planned): Asked | undefined;
  /** Sends the request, with the `traceparent` for the provider, if any. */
  protected abstract ask(
    call: Call,
    candidate: Asked,
    credential: Credential,
    traceparent: string | undefined,
  ): Promise<Answered>;
  /** Reads the answer, whatever its status. */
  protected abstract read(call: Call, answered: Answered, candidate: Asked): Promise<Answer>;
  /** Converts an error of `ask` or `read`. */
  protected abstract failureOf(thrown: unknown, call: Call): AttemptFailure;
  /** Returns the speed of the answer; undefined if it says nothing. */
  protected abstract speed(call: Call, attempt: Attempt): MeasuredCall | undefined;

  /**
   * Tries the planned providers in order. If there is only one, it is retried once after a transient failure. Offers that health does not
   * admit are skipped, unless no others remain. If all admitted ones failed, those with a probe in flight are tried.
   * @throws AttemptFailure of the last attempt, or of the first after which no other may follow; GatewayError if none was made
   */
  async answer(call: Call, planned: readonly Planned[]): Promise<Answer> {
    const tried = await (planned.length === 1
      ? this.#attemptOnly(call, planned)
      : this.#attemptSeveral(call, planned));
    if (tried === notAttempted) throw noneAvailable();
    if (tried instanceof AttemptFailure) throw tried;
    return tried;
  }

  /** Tries the only provider, and once more after a pause if its failure was transient. */
  async #attemptOnly(call: Call, planned: readonly Planned[]): Promise<Tried<Answer>> {
    const made = new Progress<Asked>();
    const tried = await this.#attemptEach(call, planned, "any", made);
    if (!(tried instanceof AttemptFailure)) return tried;
    const { retrySame = false, health } = tried.failure;
    const isTooSoon = health?.credential?.retryAfterMs !== undefined;
    if (!retrySame || isTooSoon || call.reply.gone) return tried;
    await sleep(retryPauseMs * (0.5 + Math.random()));
    return this.#laterOf(tried, await this.#attemptEach(call, planned, "any", made));
  }

  /**
   * Tries the offers that health admits; all if it admits none. If those failed, tries the ones with a probe in flight. If the last one
   * refused the request as too long, tries all that had no attempt: another context may be longer.
   */
  async #attemptSeveral(call: Call, planned: readonly Planned[]): Promise<Tried<Answer>> {
    const made = new Progress<Asked>();
    const tried = await this.#attemptEach(call, planned, "admitted", made);
    if (tried === notAttempted) return this.#attemptEach(call, planned, "any");
    if (!(tried instanceof AttemptFailure)) return tried;
    const filter = isTooLongForCandidate(tried) ? "unasked" : "probed";
    return this.#laterOf(tried, await this.#attemptEach(call, planned, filter, made));
  }

  /** Returns the answer of later attempts; if they failed, the later failure, and the earlier one if there were none. */
  #laterOf(earlier: AttemptFailure, later: Tried<Answer>): Tried<Answer> {
    if (later === notAttempted) return earlier;
    return later instanceof AttemptFailure ? laterFailure(earlier, later) : later;
  }

  /** Returns the first answer, or the last failure. @throws AttemptFailure after which no other attempt may follow */
  async #attemptEach(
    call: Call,
    planned: readonly Planned[],
    filter: CandidateFilter,
    made = new Progress<Asked>(),
  ): Promise<Tried<Answer>> {
    const { health } = call.services;
    let failed: AttemptFailure | undefined;
    let model: string | undefined;
    let skipped = 0;
    for (const { candidate, place, isAgain } of this.#candidates(call, planned, made)) {
      if (candidate.model !== model) skipped = 0;
      ({ model } = candidate);
      const mayAttempt = isAgain || this.#mayAttempt(call, candidate, filter);
      // Awaits only if the other gateways must be asked which of them sends the probe.
      if (mayAttempt !== true && !(await mayAttempt)) {
        skipped += 1;
        continue;
      }
      const hasSeveral = candidate.provider.credentials.length > 1;
      const kept = hasSeveral ? followers(planned, place) + skipped : 0;
      const asked = new Set<string>();
      // Each candidate has its first attempt in any case.
      for (let count = 1, attempts = 0; count === 1 || attempts < attemptsMax - kept; count += 1) {
        attempts = made.add(model);
        const tried = await this.#attempt(call, candidate, asked);
        if (!(tried instanceof AttemptFailure)) return tried;
        made.noteRefusal(candidate, tried.failure);
        failed = laterFailure(failed, tried);
        const next = nextAfter(failed.failure, health, candidate, { count, asked });
        if (next === "end" || call.reply.gone) throw failed;
        if (next === "next_candidate") break;
      }
    }
    return failed ?? notAttempted;
  }

  /** True if this candidate is to be tried now. A promise if the other gateways are asked first. */
  #mayAttempt(
    { services: { health }, record: { attempts } }: Call,
    { offer, provider }: Asked,
    filter: CandidateFilter,
  ): boolean | Promise<boolean> {
    if (filter === "any") return true;
    if (filter === "unasked")
      return !attempts.some(
        (one) => one.provider === provider.id && one.upstream_model === offer.upstreamModel,
      );
    return filter === "probed" ? health.isProbed(offer, provider) : health.admit(offer, provider);
  }

  /**
   * Yields the allowed candidates, at most `candidatesMax` of each model. After those of a model, yields the first one that refused earlier
   * reasoning of another vendor or account again: it is asked once more without it, before any other model.
   */
  *#candidates(
    call: Call,
    planned: readonly Planned[],
    made: Progress<Asked>,
  ): Generator<{ readonly candidate: Asked; readonly place: Place; readonly isAgain: boolean }> {
    let model: string | undefined;
    let place: Place = { index: 0, count: 0 };
    const again = () =>
      made
        .takeRefusing(model)
        .filter((candidate) => this.#isAllowed(call, candidate))
        .map((candidate) => ({ candidate, place, isAgain: true }));
    for (const [index, each] of planned.entries()) {
      const candidate = this.candidate(call, each);
      if (!candidate) continue;
      if (candidate.model !== model) yield* again();
      place = { index, count: candidate.model === model ? place.count + 1 : 1 };
      ({ model } = candidate);
      if (place.count <= candidatesMax && this.#isAllowed(call, candidate))
        yield { candidate, place, isAgain: false };
    }
    yield* again();
  }

  /** True if the caller's layers allow the candidate by the current configuration (T74). */
  #isAllowed({ constraints, services, record }: Call, { offer, model }: Asked): boolean {
    return permits(constraints, services.catalog(), model ?? record.model, offer.provider);
  }

  /** A GatewayError means that the answer had begun: there is no failover then. */
  #failureOf(thrown: unknown, call: Call, candidate: Asked): AttemptFailure {
    const { isShorter = false, isLongerLeftOut = false } = candidate;
    const failed = this.failureOf(thrown, call);
    return isShorter && !(thrown instanceof GatewayError)
      ? withFailover(failed, isLongerLeftOut)
      : failed;
  }

  /**
   * Makes one attempt, records it, reports it to health, and logs a failure. Prefers a credential outside `asked`, and adds the used one to
   * `asked`.
   */
  async #attempt(
    call: Call,
    candidate: Asked,
    asked = new Set<string>(),
  ): Promise<Answer | AttemptFailure> {
    const { services, record } = call;
    const { health } = services;
    const { provider, offer, session } = candidate;
    const credential = health.credential(offer, provider, session, asked);
    asked.add(credential.id);
    const startedMs = msSince(record.beganMs);
    const attempt: Attempt = {
      provider: provider.id,
      credential: credential.id,
      upstream_model: offer.upstreamModel,
      started_ms: startedMs,
      duration_ms: 0,
      status: null,
      outcome: "running",
    };
    const begun: HealthAttempt = { provider, offer, credential, begunMs: health.nowMs() };
    const span = record.span?.child("client", "attempt");
    record.attempts.push(attempt);
    record.provider = provider.id;
    record.model = candidate.model ?? record.model;
    try {
      const answered = await this.ask(
        call,
        candidate,
        credential,
        span?.passedTo(provider.baseUrl),
      );
      attempt.status = answered.status;
      const answer = await this.read(call, answered, candidate);
      attempt.outcome = "ok";
      health.succeeded(begun, this.speed(call, attempt));
      return answer;
    } catch (thrown) {
      maskError(provider, thrown);
      const failed = this.#failureOf(thrown, call, candidate);
      noteFailure(attempt, failed.failure);
      const log = call.reply.gone ? undefined : services.log;
      reportFailure({ health, log }, { id: record.id, begun, attempt }, failed.failure.health);
      return failed;
    } finally {
      attempt.duration_ms = msSince(record.beganMs) - startedMs;
      if (span !== undefined) endAttempt(span, { provider, attempt, record });
    }
  }
}
