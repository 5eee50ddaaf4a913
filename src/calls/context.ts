/** The data and services that the steps of one text call share. */
import type { ByteLease } from "../base/byte-budget.ts";
import type { Clock } from "../base/clock.ts";
import type { ErrorExplainer } from "../base/load-guard.ts";
import type { Log } from "../base/log.ts";
import type { NanoUsd } from "../base/money.ts";
import type { Note } from "../base/notes.ts";
import type { Span } from "../base/tracing.ts";
import type { Tags } from "../base/tags.ts";
import type { Catalog } from "../catalog/index.ts";
import type { Ledger } from "../ledger/index.ts";
import type { CallProtocol, ProtocolName, Route, StreamTap } from "../protocols/index.ts";
import type { Hooks } from "../hooks/index.ts";
import type { Constraints, Health } from "../routing/index.ts";
import type { RateUse } from "../rates/index.ts";
import { routingScope, type Caller } from "../tenancy/index.ts";
import type { CallerHeaders, Pools } from "../upstream/index.ts";
import type { CallBody } from "./call-body.ts";
import type { Keeper } from "./keep.ts";
import type { CallRecord } from "./record.ts";
import type { CacheServices } from "./cached-answers.ts";
import type { Reply } from "./reply.ts";
import type { Stoppable } from "./stopping.ts";
import type { InFlightCall } from "./in-flight.ts";

/** An authenticated call; its body is one JSON object. */
interface Call<Protocol extends CallProtocol> {
  readonly id: string;
  readonly protocol: Protocol;
  /** The model id with its suffix, as the caller wrote it. */
  readonly model: string;
  readonly stream: boolean;
  readonly body: CallBody;
  readonly caller: Caller;
  readonly callerHeaders: CallerHeaders;
  /** The header that names fallback models. */
  readonly fallbackModels?: string | undefined;
  /** The header that names the session. */
  readonly session?: string | undefined;
  /** The header of that name: whether an answer of the key's cache may be used. */
  readonly cacheControl?: string | undefined;
  /** The caller's tags. Absent: none. */
  readonly tags?: Tags | undefined;
  /** Changes to report: headers that are never forwarded, and changes by hooks. */
  readonly changes?: readonly Note[] | undefined;
  /** Set if the caller has limits. */
  readonly rate: RateUse | undefined;
  /** The span of its request, if traced. */
  readonly span?: Span | undefined;
  /** The bytes that the call holds of the body budget: its request, and whole answers. Its creator releases it. */
  readonly lease: ByteLease;
}

export type TextCall = Call<ProtocolName>;
export type EmbeddingCall = Call<"embeddings">;
/** Any call that is answered in its own response, not as a task. */
export type AnyCall = TextCall | EmbeddingCall;

/** The services that any such call needs from the running gateway. */
export interface CallServices<Record> {
  catalog(): Catalog;
  readonly pools: Pools;
  readonly health: Health;
  readonly clock: Clock;
  readonly log: Log;
  /** Chooses the error to report while this process is overloaded; absent: errors are reported as they are. */
  readonly load?: ErrorExplainer | undefined;
  /** The operator's hooks; absent: none. */
  readonly hooks?: Hooks | undefined;
  /** True if the operator allows callers to name loopback and private networks. */
  readonly allowPrivateAddresses: boolean;
  /** Interval, in ms, of keep-alives on a silent stream (T88). */
  readonly keepAliveMs: number;
  /** Called once for each call that begins. */
  began?(call: InFlightCall): void;
  /** Called once for each call that ended. */
  finished(record: Record): void;
}

export interface TextServices extends CallServices<CallRecord> {
  readonly ledger: Pick<Ledger, "spend">;
  /** True sends direct calls through the canonical form too: tests use it to show that conversion loses nothing. */
  readonly forceConversion: boolean;
  /** For keys that have a response cache. */
  readonly cache?: CacheServices | undefined;
}

/** An answer that is complete except for its end. The end is sent only after the charge is committed. */
export interface Answered {
  readonly amountNano: NanoUsd;
  /** Sends the last frames of a stream, or the whole answer. */
  end(): void;
}

/** The constructor's parameters. */
interface CallParts {
  readonly services: TextServices;
  readonly call: AnyCall;
  readonly reply: Reply;
  readonly record: CallRecord;
  readonly inputEstimate: number;
  readonly route: Route;
  /** Frees the values derived from the request, once it is written. */
  readonly discardDerived: () => void;
  /** Frees the request, once a stream has begun on this route. Returns false if the request is held until the end. */
  readonly releaseRequest: (route: Route) => boolean;
  /** Set if the workspace keeps bodies; it is then also the `reply`. */
  readonly keeper: Keeper | undefined;
}

/** One call in flight. */
export class CallContext implements Stoppable {
  readonly services: TextServices;
  readonly call: AnyCall;
  readonly reply: Reply;
  readonly record: CallRecord;
  readonly inputEstimate: number;
  readonly keeper: Keeper | undefined;
  /** The route of the running attempt; undefined once a stream has begun and the request is freed. */
  #route: Route | undefined;
  /** True if the client slowed the stream: its speed says nothing about the provider. */
  isSlowed = false;
  /** How long the frames of a stream waited for its answer to begin, in ms. */
  waitedMs = 0;
  /** True if the vendor answers whole, also to a request for a stream (T14). */
  isWhole = false;
  /** Called once the request is written for a provider. */
  readonly discardDerived: () => void;
  readonly #releaseRequest: (route: Route) => boolean;
  #tap: StreamTap | undefined;
  #whenGone: (() => void) | undefined;
  #abort: (() => void) | undefined;
  #stream: Stoppable | undefined;
  #isStopped = false;

  constructor(parts: CallParts) {
    const { services, call, reply, record, inputEstimate, route, keeper } = parts;
    this.services = services;
    this.call = call;
    this.reply = reply;
    this.record = record;
    this.inputEstimate = inputEstimate;
    this.#route = route;
    this.discardDerived = parts.discardDerived;
    this.#releaseRequest = parts.releaseRequest;
    this.keeper = keeper;
    reply.onGone(() => this.#whenGone?.());
  }

  get constraints(): Constraints {
    return routingScope(this.call.caller);
  }

  get route(): Route {
    if (this.#route === undefined) throw new Error("the route is asked for after its stream began");
    return this.#route;
  }

  set route(route: Route) {
    this.#route = route;
  }

  /** The tap of the running stream; before a stream, a new one for the error frames. */
  get tap(): StreamTap {
    return this.#tap ?? this.route.tap();
  }

  /** Called when the first frames of a stream reach the caller: no failover follows, and the request is freed. */
  began(tap: StreamTap): void {
    this.#tap = tap;
    if (this.#releaseRequest(this.route)) this.#route = undefined;
  }

  /** True if the gateway stops and nothing of the answer was sent: the caller gets an error. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** `isLast`: its connection is cut next. A stream in progress ends by itself, and an answer that is being charged is still sent. */
  stop(isLast: boolean): void {
    this.#stream?.stop(isLast);
    if (!isLast || this.#tap !== undefined) return;
    this.#isStopped = true;
    this.#abort?.();
  }

  /** The stream that is being relayed, to end it on a stop. */
  set stream(stream: Stoppable | undefined) {
    this.#stream = stream;
  }

  /** Replaces the function that aborts the running attempt. */
  onStop(abort: () => void): void {
    this.#abort = abort;
  }

  /** Replaces the handler that runs when the client disconnects. */
  onGone(handler: () => void): void {
    this.#whenGone = handler;
    if (this.reply.gone) handler();
  }
}
