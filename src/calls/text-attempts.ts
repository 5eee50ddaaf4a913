/**
 * Attempts at the planned offers, one after the other, until one answers. Failover ends with the first byte the caller gets.
 * docs/routing.md; the outcome table is upstream/outcome.ts.
 */
import { GatewayError, toGatewayError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { parseJsonText } from "../base/json-text.ts";
import { noteHeader } from "../base/notes.ts";
import { shortText, textOf } from "../base/text.ts";
import { errorCodec, type Codec, type JsonObject } from "../protocols/index.ts";
import type { HealthAttempt } from "../routing/index.ts";
import {
  attemptMessageMax,
  BadAnswerError,
  ExchangeError,
  logFailedAttempt,
  maskError,
  namesThing,
  openExchange,
  outcomeOfFailure,
  outcomeOfStatus,
  textTarget,
  withoutCredentials,
  type Exchange,
  type Outcome,
} from "../upstream/index.ts";
import { mayAttempt } from "./attempt-rules.ts";

import type { CallContext } from "./context.ts";
import { noteSuccess, noteThrown } from "./health-notes.ts";
import type { Candidate } from "./prepare.ts";
import type { Attempt } from "./record.ts";

/**
 * Reads an answer and gives it to the caller.
 * Rejects with BadAnswerError or ExchangeError as long as another attempt is still possible.
 */
export type AnswerReader = (
  context: CallContext,
  exchange: Exchange,
  candidate: Candidate,
) => Promise<void>;

/** Providers, and attempts in all: a provider with several credentials may take more than one. */
const candidatesMax = 4;
const attemptsMax = 6;
const errorBytesMax = 256 * 1024;
const retryPauseMs = 200;

/**
 * Tries the candidates in order, each with another credential where one was refused; a single candidate that fails in
 * passing is asked once more. Those in trouble are left out, unless nothing else is left.
 * @throws GatewayError the last attempt's error, or the caller's own mistake at once.
 */
export async function attemptInOrder(
  context: CallContext,
  candidates: readonly Candidate[],
  read: AnswerReader,
): Promise<void> {
  const isSingle = candidates.length === 1;
  let failed = isSingle ? undefined : await attemptEach(context, candidates, read, "well");
  if (failed === "answered") return;
  failed ??= await attemptEach(context, candidates, read, "any");
  if (failed === "answered") return;
  if (failed === undefined) throw noneAvailable();
  const isTooSoon = failed.credential?.retryAfterMs !== undefined;
  if (!isSingle || !failed.retrySame || isTooSoon || context.reply.gone) throw failed.error;
  await new Promise((resolve) => setTimeout(resolve, retryPauseMs * (0.5 + Math.random())));
  const again = await attemptOnce(context, candidates[0]!, read);
  if (again !== undefined) throw again.error;
}

const noneAvailable = (): GatewayError =>
  new GatewayError("no_provider_available", "No provider of this model is available now.", {
    retryAfterSeconds: 5,
  });

/** Attempts at those that may be asked; how the last one failed, or undefined where there was none. */
async function attemptEach(
  context: CallContext,
  candidates: readonly Candidate[],
  read: AnswerReader,
  which: "well" | "any",
): Promise<Outcome | "answered" | undefined> {
  const { health } = context.services;
  let failed: Outcome | undefined;
  let attempts = 0;
  for (let index = 0; index < candidates.length && index < candidatesMax; index += 1) {
    const candidate = candidates[index]!;
    const { offer, provider } = candidate;
    if (!mayAttempt(context, candidate)) continue;
    if (which === "well" && !health.admit(offer, provider)) continue;
    for (let tries = 1; attempts < attemptsMax; tries += 1) {
      attempts += 1;
      failed = await attemptOnce(context, candidate, read);
      if (failed === undefined) return "answered";
      if (failed.blame !== "provider" || context.reply.gone) throw failed.error;
      // The refused credential is left alone now: what is ready is another one.
      const isDone = failed.credential === undefined || tries >= provider.credentials.length;
      if (isDone || !health.hasCredential(offer, provider)) break;
    }
  }
  return failed;
}

/** One attempt; undefined when it gave the caller an answer. */
async function attemptOnce(
  context: CallContext,
  candidate: Candidate,
  read: AnswerReader,
): Promise<Outcome | undefined> {
  const { services, record } = context;
  const { provider, offer } = candidate;
  const credential = services.health.credential(offer, provider);
  const started = services.clock.now();
  const attempt: Attempt = {
    provider: provider.id,
    credential: credential.id,
    upstream_model: offer.upstreamModel,
    started_ms: started - record.startedMs,
    duration_ms: 0,
    status: null,
    outcome: "running",
  };
  const begun: HealthAttempt = { provider, offer, credential, begunMs: services.health.nowMs() };
  record.attempts.push(attempt);
  record.provider = provider.id;
  record.upstreamProtocol = offer.protocol;
  try {
    // To write a large body takes long enough to keep others waiting.
    const turn = context.call.lease.turn();
    if (turn !== undefined) await turn;
    const exchange = await send(context, candidate, credential.apiKey);
    attempt.status = exchange.status;
    if (exchange.status < 200 || exchange.status > 299) {
      const outcome = await refusal(context, exchange, attempt, candidate);
      services.health.unanswered(begun, outcome);
      return outcome;
    }
    await read(context, exchange, candidate);
    attempt.outcome = "ok";
    noteSuccess(context, begun, attempt);
    return undefined;
  } catch (error) {
    maskError(provider, error);
    describeFailure(attempt, error);
    noteThrown(services.health, begun, error);
    if (error instanceof ExchangeError || error instanceof BadAnswerError)
      return outcomeOfFailure(error);
    throw toGatewayError(error);
  } finally {
    attempt.duration_ms = services.clock.now() - started;
    warnOf(context, attempt);
  }
}

/** A line in the log for each attempt that failed, but for one that its caller left. */
function warnOf({ services, call, reply }: CallContext, attempt: Attempt): void {
  if (attempt.outcome !== "ok" && !reply.gone) logFailedAttempt(services.log, call.id, attempt);
}

/** What went wrong, for the log: also where a stream broke after its first frame, which the caller is told in other words. */
function describeFailure(attempt: Attempt, error: unknown): void {
  const known = toGatewayError(error);
  const cause = error instanceof GatewayError ? error.cause : error;
  if (cause instanceof ExchangeError) attempt.outcome = cause.failure;
  else attempt.outcome = cause instanceof BadAnswerError ? "bad_answer" : known.code;
  const message = cause instanceof Error ? cause.message : known.message;
  attempt.message = shortText(message, attemptMessageMax);
}

/** Asks the upstream. @throws ExchangeError, or rejects with one, where no answer comes */
function send(context: CallContext, candidate: Candidate, apiKey: string): Promise<Exchange> {
  const { provider, offer } = candidate;
  const { call } = context;
  if (context.reply.gone)
    throw new ExchangeError("aborted", "the client left before the upstream was asked");
  const route = candidate.route();
  const notes = candidate.notes();
  context.route = route;
  context.record.notes = notes;
  if (call.stream) {
    const dropped = noteHeader(notes);
    context.reply.open(dropped === undefined ? {} : { "x-gw-dropped-params": dropped });
  }
  const target = textTarget({
    provider,
    protocol: offer.protocol,
    model: offer.upstreamModel,
    stream: call.stream,
    apiKey,
    // What the caller's headers say is about a body of its own protocol.
    caller: route.kind === "direct" ? call.callerHeaders : {},
  });
  const opening = openExchange(
    context.services.pools.get(target.origin, provider.timeouts.connectMs),
    {
      path: target.path,
      headers: target.headers,
      body: route.kind === "direct" ? call.source.write(route.body) : JSON.stringify(route.body),
      ...provider.timeouts,
    },
  );
  context.onGone(() => {
    if (provider.onDisconnect === "abort") return opening.abort();
    // The client may have stopped reading before it left: nobody else lets a flow go on that was held back for it.
    opening.answer.then(
      (exchange) => exchange.resume(),
      () => undefined,
    );
  });
  return opening.answer;
}

async function refusal(
  context: CallContext,
  exchange: Exchange,
  attempt: Attempt,
  candidate: Candidate,
): Promise<Outcome> {
  // Before anything else is made of it: vendors echo what they were asked with.
  const text = withoutCredentials(
    candidate.provider,
    textOf(await exchange.readAll(errorBytesMax)),
  );
  const body = parseLenient(text);
  const wire = errorCodec(candidate.offer.protocol).decodeError(exchange.status, body);
  const retryAfter = exchange.headers["retry-after"];
  const outcome = outcomeOfStatus(
    {
      status: exchange.status,
      wire,
      retryAfter: typeof retryAfter === "string" ? retryAfter : undefined,
      namesThing: () => namesThing(context.route.body),
    },
    context.services.clock.now(),
  );
  attempt.outcome = outcome.error.code;
  attempt.message = shortText(wire.message, attemptMessageMax);
  if (
    outcome.blame === "caller" &&
    candidate.offer.protocol === context.call.protocol &&
    isErrorBody(body)
  ) {
    // The same protocol on both sides: the vendor's own words reach the caller as they are (TXT-20).
    context.refusalBody = completed(body, errorCodec(context.call.protocol), outcome.error);
  }
  return outcome;
}

/** The vendor's body, and what every error of its protocol has and this one lacks (ERR-01). */
function completed(body: RefusalBody, codec: Codec, error: GatewayError): JsonObject {
  const { error: own, request_id: _ours, ...outer } = codec.encodeError(error, "");
  const { details: _notTheirs, ...filled } = own as JsonObject;
  // Numbers as codes: OpenRouter puts its status there, where the OpenAI style has a string.
  const { code } = body.error;
  const asText = typeof filled["code"] === "string" && typeof code === "number";
  const words = asText ? { ...body.error, code: String(code) } : body.error;
  return { ...outer, ...body, error: { ...filled, ...words } };
}

function parseLenient(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch {
    return text;
  }
}

type RefusalBody = JsonObject & { readonly error: JsonObject };

function isErrorBody(body: unknown): body is RefusalBody {
  return isObject(body) && isObject(body["error"]);
}
