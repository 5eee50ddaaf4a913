/**
 * undici's connections to one origin, under the same rules as our own client (http1/pool.ts). There are as many as concurrent exchanges.
 * They are reused after a while of silence, and never if the origin sends bytes after its answers.
 */
import type { buildConnector, Client, Dispatcher } from "undici";
import type { Proxy } from "../base/proxy.ts";
import { asFault } from "./dial/faults.ts";
import { connectorOf } from "./dial/connector.ts";
import { proxyRefusal, refusedBy } from "./dial/tunnel.ts";
import { directRoute } from "./dial/dial-route.ts";
import { IdleList } from "./idle-list.ts";
import type { OriginRules } from "./origin-rules.ts";
import { connectorWithin } from "./room.ts";
import { undici } from "./undici.ts";

const keepAliveMs = 30_000;

type Request = [options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler];

export class MediaPool {
  readonly #rules: OriginRules;
  /** Shared by all clients, because it caches TLS sessions. */
  readonly #connect: buildConnector.connector;
  /** The proxy that reads the requests, if there is one: for `http:` origins. */
  readonly #forwarder: Proxy | undefined;
  readonly #clients = new Set<Client>();
  readonly #idle: IdleList<Client>;
  #isDestroyed = false;

  constructor(rules: OriginRules) {
    this.#rules = rules;
    this.#idle = new IdleList(rules.quietMs);
    const { room, origin, dialRoute = directRoute, connectMs } = rules;
    this.#connect = connectorWithin(room, connectorOf(origin, dialRoute, connectMs));
    this.#forwarder = origin.startsWith("https:") ? undefined : dialRoute.proxy;
  }

  /**
   * Sends a request over a connection that no other request uses meanwhile. An idle one may hold unread bytes or a close, so the request
   * is sent a turn of the event loop later, as in http1/pool.ts. Always returns true.
   */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const idle = this.#idle.take(performance.now());
    if (idle === undefined) this.#send(this.#open(), options, handler);
    else setImmediate(setImmediate, () => this.#sendReserved(idle, options, handler));
    return true;
  }

  #sendReserved(client: Client, ...request: Request): void {
    const isOpen = this.#clients.has(client) && client.stats.connected;
    // After `destroy` the client fails the request unsent.
    if (this.#isDestroyed || (isOpen && !this.#rules.isSuspect()))
      return this.#send(client, ...request);
    this.#drop(client);
    this.dispatch(...request);
  }

  #send(client: Client, ...[options, handler]: Request): void {
    const forwarding = new ForwardingHandler(handler, (ended) => this.#release(client, ended), {
      forwarder: this.#forwarder,
      host: new URL(this.#rules.origin).host,
    });
    client.dispatch(this.#forwarded(options), forwarding);
  }

  /** Returns the request in the form for a forwarding proxy. RFC 9112 section 3.2.2. */
  #forwarded(options: Dispatcher.DispatchOptions): Dispatcher.DispatchOptions {
    const { authorization } = this.#forwarder ?? {};
    if (this.#forwarder === undefined) return options;
    const allowed = authorization === undefined ? {} : { "proxy-authorization": authorization };
    const headers = { ...(options.headers as Record<string, string>), ...allowed };
    return { ...options, path: this.#rules.origin + options.path, headers };
  }

  /** Closes the idle connections. */
  closeIdle(): void {
    for (const client of this.#idle.clear()) this.#drop(client);
  }

  /** Closes one idle connection, a moment later. */
  closeOldest(): void {
    const oldest = this.#idle.oldest();
    if (oldest === undefined) return;
    this.#idle.remove(oldest);
    this.#drop(oldest);
  }

  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    await Promise.all([...this.#clients].map((client) => client.destroy()));
  }

  #open(): Client {
    const client = new (undici().Client)(this.#rules.origin, {
      connect: this.#connect,
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
    });
    this.#clients.add(client);
    client.on("disconnect", (_origin, _targets, error) => this.#lost(client, error));
    return client;
  }

  #release(client: Client, isWhole: boolean): void {
    // Dropped later, so that surplus bytes in the same read as the answer are still reported.
    if (isWhole && !this.#rules.isSuspect()) this.#idle.release(client, performance.now());
    else setImmediate(() => this.#drop(client));
  }

  #lost(client: Client, error: Error): void {
    if (isSurplus(error)) this.#rules.surplus();
    this.#idle.remove(client);
    this.#drop(client);
  }

  #drop(client: Client): void {
    if (this.#clients.delete(client)) void client.destroy();
  }
}

/** True if undici reports bytes without a request: a second answer, or no HTTP. */
function isSurplus(error: Error): boolean {
  const { HTTPParserError, SocketError } = undici().errors;
  if (error instanceof HTTPParserError) return true;
  return error instanceof SocketError && error.message === "bad response";
}

/** Passes all events on, and reports the end of the exchange. */
class ForwardingHandler implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #over: (isWhole: boolean) => void;
  readonly #forwarder: Proxy | undefined;
  readonly #host: string;

  constructor(
    handler: Dispatcher.DispatchHandler,
    over: (isWhole: boolean) => void,
    { forwarder, host }: { readonly forwarder: Proxy | undefined; readonly host: string },
  ) {
    this.#handler = handler;
    this.#over = over;
    this.#forwarder = forwarder;
    this.#host = host;
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#handler.onRequestStart?.(controller, context);
  }

  onResponseStart(
    ...parts: Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseStart"]>>
  ): void {
    const [controller, status] = parts;
    if (this.#forwarder && status === proxyRefusal)
      return controller.abort(asFault(refusedBy(this.#forwarder), this.#host));
    this.#handler.onResponseStart?.(...parts);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#handler.onResponseData?.(controller, chunk);
  }

  onResponseEnd(
    ...parts: Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseEnd"]>>
  ): void {
    this.#over(true);
    this.#handler.onResponseEnd?.(...parts);
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    this.#over(false);
    this.#handler.onResponseError?.(controller, error);
  }
}
