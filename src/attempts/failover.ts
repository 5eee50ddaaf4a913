/**
 * The failover loop of calls that are answered at once: one provider after another, each with another credential where one was
 * refused, until one answers. What is asked, and when an answer is good, is for each kind of call to say. docs/routing.md.
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
import { nextAfter, type Candidate } from "./candidates.ts";
import { AttemptFailure, goingOn, isOfShorter, noneAvailable, soonerOf } from "./failure.ts";
import { noteFailure, reportFailure, type Attempt } from "./record.ts";
import { endAttempt, type TracedCall } from "./trace.ts";

/** A call that attempts are made for. */
export interface AttemptingCall {
  readonly services: {
    catalog(): Catalog;
    readonly health: Health;
    readonly log: Log;
  };
  /** What the caller's layers allow; every attempt is checked against today's configuration (T74). */
  readonly constraints: Constraints;
  readonly record: TracedCall & {
    readonly id: string;
    /** By the processor's count. */
    readonly beganMs: number;
    model: string;
    readonly attempts: Attempt[];
    provider: string | null;
    /** The request's span, where it is traced: each attempt is one below it. */
    readonly span?: Span | undefined;
  };
  readonly reply: { readonly gone: boolean };
}

/** Providers, and attempts in all, for each model: a provider with several credentials may take more than one. */
const candidatesMax = 4;
const attemptsMax = 6;
const retryPauseMs = 200;

/** No provider could be asked. */
const noneAsked = Symbol("none asked");
/** Which of the planned are asked: those that health admits, those that are being probed, those that were not asked, or any. */
type Which = "admitted" | "probed" | "unasked" | "any";
type Tried<Answer> = Answer | AttemptFailure | typeof noneAsked;

/** The loop for one kind of call. `Planned` is what a plan holds, `Answered` an answer whose head is here. */
export abstract class Failover<
  Call extends AttemptingCall,
  Planned extends object,
  Asked extends Candidate,
  Answered extends { readonly status: number },
  Answer,
> {
  /** Who is asked, by today's configuration; undefined where the request cannot be put to it. */
  protected abstract candidate(call: Call, planned: Planned): Asked | undefined;
  /** Sends the request, with the `traceparent` that the provider may see. */
  protected abstract ask(
    call: Call,
    candidate: Asked,
    credential: Credential,
    traceparent: string | undefined,
  ): Promise<Answered>;
  /** Reads the answer, whatever its status. */
  protected abstract read(call: Call, answered: Answered, candidate: Asked): Promise<Answer>;
  /** Reads what `ask` or `read` threw. */
  protected abstract failureOf(thrown: unknown, call: Call): AttemptFailure;
  /** How fast the answer came; undefined where nothing can be said. */
  protected abstract speed(call: Call, attempt: Attempt): MeasuredCall | undefined;

  /**
   * Asks the planned providers in order; a single one that fails in passing is asked once more. Those that health does not
   * admit are left out, unless nothing else is left; where all that it admits failed, those that are being probed are asked.
   * @throws AttemptFailure of the last attempt, or of the first after which no other may follow; GatewayError where none is made
   */
  async answer(call: Call, planned: readonly Planned[]): Promise<Answer> {
    const isSingle = planned.length === 1;
    const tried = isSingle
      ? await this.#attemptEach(call, planned, "any")
      : await this.#attemptSeveral(call, planned);
    if (tried === noneAsked) throw noneAvailable();
    if (!(tried instanceof AttemptFailure)) return tried;
    if (!isSingle) throw tried;
    return this.#attemptAgain(call, planned[0]!, tried);
  }

  /**
   * Those that health admits; all where it admits none; those that are being probed where all failed that it admits, and
   * all the others where the request was too long for the last one: it could not take it.
   */
  async #attemptSeveral(call: Call, planned: readonly Planned[]): Promise<Tried<Answer>> {
    const tried = await this.#attemptEach(call, planned, "admitted");
    if (tried === noneAsked) return this.#attemptEach(call, planned, "any");
    if (!(tried instanceof AttemptFailure)) return tried;
    const which = isOfShorter(tried) ? "unasked" : "probed";
    const last = await this.#attemptEach(call, planned, which);
    if (last === noneAsked) return tried;
    return last instanceof AttemptFailure ? soonerOf(tried, last) : last;
  }

  /** Asks the only provider once more, where it failed in passing. @throws AttemptFailure */
  async #attemptAgain(call: Call, planned: Planned, failed: AttemptFailure): Promise<Answer> {
    const { retrySame = false, health } = failed.failure;
    const isTooSoon = health?.credential?.retryAfterMs !== undefined;
    if (!retrySame || isTooSoon || call.reply.gone) throw failed;
    await sleep(retryPauseMs * (0.5 + Math.random()));
    const candidate = this.candidate(call, planned);
    if (!candidate || !this.#isAllowed(call, candidate)) throw failed;
    const again = await this.#attempt(call, candidate);
    if (again instanceof AttemptFailure) throw soonerOf(failed, again);
    return again;
  }

  /** The first answer, or the last failure. @throws AttemptFailure after which no other attempt may follow */
  async #attemptEach(
    call: Call,
    planned: readonly Planned[],
    which: Which,
  ): Promise<Tried<Answer>> {
    const { health } = call.services;
    let failed: AttemptFailure | undefined;
    let model: string | undefined;
    let attempts = 0;
    for (const { candidate, place } of this.#candidates(call, planned)) {
      if (candidate.model !== model) attempts = 0;
      ({ model } = candidate);
      const isTurn = this.#isTurn(call, candidate, which);
      // Waits only where the other gateways are asked whose the probe is.
      if (isTurn !== true && !(await isTurn)) continue;
      const hasSeveral = candidate.provider.credentials.length > 1;
      const kept = hasSeveral ? followers(planned, place) : 0;
      const asked = new Set<string>();
      for (let count = 1; attempts < attemptsMax - kept; count += 1) {
        attempts += 1;
        const tried = await this.#attempt(call, candidate, asked);
        if (!(tried instanceof AttemptFailure)) return tried;
        failed = soonerOf(failed, tried);
        const next = nextAfter(failed.failure, health, candidate, { count, asked });
        if (next === "end" || call.reply.gone) throw failed;
        if (next === "next_candidate") break;
      }
    }
    return failed ?? noneAsked;
  }

  /** Whether health has it asked now: a promise where the other gateways are asked first. */
  #isTurn(
    { services: { health }, record: { attempts } }: Call,
    { offer, provider }: Asked,
    which: Which,
  ): boolean | Promise<boolean> {
    if (which === "any") return true;
    if (which === "unasked")
      return !attempts.some(
        (one) => one.provider === provider.id && one.upstream_model === offer.upstreamModel,
      );
    return which === "probed" ? health.isProbed(offer, provider) : health.admit(offer, provider);
  }

  /** Those that may be asked, so many of each model. */
  *#candidates(
    call: Call,
    planned: readonly Planned[],
  ): Generator<{ readonly candidate: Asked; readonly place: Place }> {
    let model: string | undefined;
    let count = 0;
    for (const [index, each] of planned.entries()) {
      const candidate = this.candidate(call, each);
      if (!candidate) continue;
      count = candidate.model === model ? count + 1 : 1;
      ({ model } = candidate);
      if (count <= candidatesMax && this.#isAllowed(call, candidate))
        yield { candidate, place: { index, count } };
    }
  }

  /** Whether the caller's layers allow it by today's configuration (T74). */
  #isAllowed({ constraints, services, record }: Call, { offer, model }: Asked): boolean {
    return permits(constraints, services.catalog(), model ?? record.model, offer.provider);
  }

  /** A GatewayError means that the answer had begun: nobody else is asked then. */
  #failureOf(thrown: unknown, call: Call, candidate: Asked): AttemptFailure {
    const { isShorter = false, isLongerOut = false } = candidate;
    const failed = this.failureOf(thrown, call);
    return isShorter && !(thrown instanceof GatewayError) ? goingOn(failed, isLongerOut) : failed;
  }

  /**
   * One attempt, which is recorded, logged where it fails, and reported to health: with a credential that is not among `asked`, and then
   * is, where there is another.
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
      noteFailure(attempt, failed.failure.outcome, failed.failure.message);
      const log = call.reply.gone ? undefined : services.log;
      reportFailure({ health, log }, { id: record.id, begun, attempt }, failed.failure.health);
      return failed;
    } finally {
      attempt.duration_ms = msSince(record.beganMs) - startedMs;
      if (span !== undefined) endAttempt(span, { provider, attempt, record });
    }
  }
}

/** Where a candidate stands in the plan, and which one of its model it is, from 1. */
interface Place {
  readonly index: number;
  readonly count: number;
}

/** The id of the model that a plan has an offer of, where a call may go to several. */
const modelOf = (planned: object | undefined): unknown =>
  planned !== undefined && "model" in planned ? planned.model : undefined;

/** How many candidates of the same model may follow: each keeps one attempt, however many credentials those before it have. */
function followers(planned: readonly object[], { index, count }: Place): number {
  const model = modelOf(planned[index]);
  const following = planned.slice(index + 1).filter((one) => modelOf(one) === model);
  return Math.min(following.length, candidatesMax - count);
}
