/**
 * Stops the server so that every request gets an answer. Behind a balancer without its own health checks (nginx), a refused connection
 * makes the balancer try another gateway, at no cost. A connection that is accepted and then reset costs its call. Requirement: rolling
 * gateways behind a balancer loses no call.
 */
import type { Server } from "node:http";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { closeListeners, countConnections, whenClosed } from "./listeners.ts";

/** Milliseconds after the listeners close in which requests on open connections are served; later ones are refused. */
const lateMs = 3_000;
/** Milliseconds that calls in flight may take to end when the gateway stops. */
const cutMsDefault = 20_000;
/** Milliseconds before the cut at which calls that only wait are answered. */
const answerWaitingMs = 2_000;
/**
 * Milliseconds before the cut at which streams are ended, for counting their tokens, their charge and last frames. At most half the
 * time.
 */
const lastFramesMs = 2_000;
const lastParts = 4;
const idleCheckMs = 50;

/** The callbacks of a server that stops. */
interface Stopping {
  /** From now on, refuse new requests. */
  readonly refuse: () => void;
  /** Calls will be cut in two seconds: answer those that only wait now. */
  readonly answerWaiting: () => void;
  /**
   * Calls will be cut in two seconds: end streams now, with an error frame. Called again shortly before the cut (`isLast`), for streams
   * that began since and for answers that have not begun.
   */
  readonly endStreams: (isLast: boolean) => void;
  /** On abort of the signal, calls get `cutShort.ms` (20 s if absent) from then on, if that is less than `cutMs`. */
  readonly cutShort?: { readonly signal: AbortSignal; readonly ms: number | undefined };
}

/**
 * Closes the listeners, and then each connection as it falls idle. Calls that are still in flight after `cutMs` (20 s if absent) are
 * cut.
 */
export async function stopServer(
  server: Server,
  { refuse, answerWaiting, endStreams, cutShort }: Stopping,
  cutMs = cutMsDefault,
): Promise<void> {
  const closed = whenClosed(server);
  await waitForQuietTurn(server);
  closeListeners(server);
  const late = setTimeout(refuse, lateMs);
  const cutTimer = createCutTimer(server, { answerWaiting, endStreams });
  const shorten = (): void => cutTimer.in(Math.min(cutMs, cutShort?.ms ?? cutMsDefault));
  if (cutShort?.signal.aborted === true) shorten();
  else cutTimer.in(cutMs);
  cutShort?.signal.addEventListener("abort", shorten, { once: true });
  // Clients keep connections open that were busy when we began to close. This runs right after a read, so that no request is cut that
  // has already arrived.
  const idle = setInterval(() => setImmediate(() => server.closeIdleConnections()), idleCheckMs);
  await closed;
  clearInterval(idle);
  cutShort?.signal.removeEventListener("abort", shorten);
  cutTimer.cancel();
  clearTimeout(late);
}

/** Schedules the cut of calls in flight; the last call of `in` counts. */
function createCutTimer(
  server: Server,
  { answerWaiting, endStreams }: Pick<Stopping, "answerWaiting" | "endStreams">,
) {
  let timers: NodeJS.Timeout[] = [];
  const cancel = (): void => timers.forEach(clearTimeout);
  /**
   * Waits in parts: counting the tokens of streams may block the process for a second, in which it sends nothing. Before the last part
   * it also ends streams that began since.
   */
  const cutAfter = (partMs: number, parts: number): void => {
    if (parts === 1) endStreams(true);
    if (parts === 0) server.closeAllConnections();
    else timers.push(setTimeout(() => cutAfter(partMs, parts - 1), partMs));
  };
  return {
    cancel,
    in(ms: number): void {
      cancel();
      const lastMs = Math.min(lastFramesMs, ms / 2);
      const end = (): void => {
        endStreams(false);
        cutAfter(lastMs / lastParts, lastParts);
      };
      timers = [
        setTimeout(answerWaiting, Math.max(0, ms - answerWaitingMs)),
        setTimeout(end, ms - lastMs),
      ];
    },
  };
}

/**
 * Closes the listeners only, because another process goes on with the same sockets. Waits at most `ms` until no connection is left.
 * Connections close as usual: by their clients, after an answer with `Connection: close`, or when idle for too long, which clients
 * expect. So none is closed while its next request is on the way. An abort of `cutShort` ends the wait.
 */
export async function leaveConnections(
  server: Server,
  ms: number,
  cutShort: AbortSignal,
): Promise<void> {
  closeListeners(server);
  const deadline = performance.now() + ms;
  while (!cutShort.aborted && performance.now() < deadline && (await countConnections(server)) > 0)
    await sleep(idleCheckMs);
}

const quietSearchMs = 1_000;

/**
 * Waits for a turn of the event loop in which no connection arrived, and so short that none can have arrived since. When a listener
 * closes, the kernel resets the connections in its backlog, with the bytes that they have sent. The longer the search takes under load,
 * the longer a turn may be.
 */
async function waitForQuietTurn(server: Server): Promise<void> {
  let arrived = 0;
  const count = (): void => void (arrived += 1);
  server.on("connection", count);
  const startedMs = performance.now();
  for (;;) {
    const before = arrived;
    const turnMs = performance.now();
    await nextTurn();
    const nowMs = performance.now();
    const searchedMs = nowMs - startedMs;
    if (arrived === before && nowMs - turnMs < Math.max(0.05, searchedMs / 500)) break;
    if (searchedMs > quietSearchMs) break;
  }
  server.off("connection", count);
}
