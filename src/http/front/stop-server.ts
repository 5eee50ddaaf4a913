/**
 * Stopping the server so that whoever asked gets an answer. Behind a balancer without health checks of its own (nginx) a
 * refused connection is the sign to ask another gateway, and costs nobody anything; a connection that was made and is then
 * reset costs its call. Requirement: rolling gateways behind a balancer loses no call.
 */
import type { Server } from "node:http";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { closeListeners, countConnections, whenClosed } from "./listeners.ts";

/** Requests on open connections are served for this long after the listener closed, and refused after it. */
const lateMs = 3_000;
/** How long calls under way may take to end when the gateway stops. */
const cutMsDefault = 20_000;
/** What a call that can be answered at any time has for its answer before it is cut. */
const hurryMs = 2_000;
/** What a stream has for its charge, whose tokens are counted, and its last frames; half of a short time. */
const lastFramesMs = 2_000;
const lastParts = 4;
const idleCheckMs = 50;

/** What a server that stops tells. */
interface Stopping {
  /** It is too late for new requests. */
  readonly refuse: () => void;
  /** Calls will be cut in two seconds: those that only wait are to be answered now. */
  readonly hurry: () => void;
  /**
   * Calls will be cut in two seconds: streams are to be ended now, in words. Again shortly before (`isLast`), for those that began since,
   * and for answers that have not begun.
   */
  readonly lastWords: (isLast: boolean) => void;
  /** Calls have no longer the time that they were given, but `sooner.ms` (20 s if absent) from its abort on. */
  readonly sooner?: { readonly signal: AbortSignal; readonly ms: number | undefined };
}

/**
 * Closes the listeners and then, one by one as they fall idle, all connections. Calls that are still under way after `cutMs`
 * (20 s if absent) are cut.
 */
export async function stopServer(
  server: Server,
  { refuse, hurry, lastWords, sooner }: Stopping,
  cutMs = cutMsDefault,
): Promise<void> {
  const closed = whenClosed(server);
  await quietTurn(server);
  closeListeners(server);
  const late = setTimeout(refuse, lateMs);
  const cut = cutting(server, { hurry, lastWords });
  const shorten = (): void => cut.in(Math.min(cutMs, sooner?.ms ?? cutMsDefault));
  if (sooner?.signal.aborted === true) shorten();
  else cut.in(cutMs);
  sooner?.signal.addEventListener("abort", shorten, { once: true });
  // A connection that was busy when we began to close is kept open by its client after its answer. Right after what has
  // arrived was read, so that no request is cut that is already here.
  const idle = setInterval(() => setImmediate(() => server.closeIdleConnections()), idleCheckMs);
  await closed;
  clearInterval(idle);
  sooner?.signal.removeEventListener("abort", shorten);
  cut.never();
  clearTimeout(late);
}

/** When calls under way are cut; the last word counts. */
function cutting(server: Server, { hurry, lastWords }: Pick<Stopping, "hurry" | "lastWords">) {
  let timers: NodeJS.Timeout[] = [];
  const never = (): void => timers.forEach(clearTimeout);
  /**
   * In parts: counting the tokens of streams may keep the process from everything else for a second, and then nothing has been
   * sent. In the last part streams that began since are ended too.
   */
  const cutAfter = (partMs: number, parts: number): void => {
    if (parts === 1) lastWords(true);
    if (parts === 0) server.closeAllConnections();
    else timers.push(setTimeout(() => cutAfter(partMs, parts - 1), partMs));
  };
  return {
    never,
    in(ms: number): void {
      never();
      const lastMs = Math.min(lastFramesMs, ms / 2);
      const end = (): void => {
        lastWords(false);
        cutAfter(lastMs / lastParts, lastParts);
      };
      timers = [setTimeout(hurry, Math.max(0, ms - hurryMs)), setTimeout(end, ms - lastMs)];
    },
  };
}

/**
 * Closes the listeners alone, where another process goes on with the same sockets, and waits for at most `ms` until no
 * connection is left. They are closed as ever: by their clients, after an answer that says so, or when idle for too long,
 * which is what their clients expect. So none is closed while its next request is on the way. An abort of `sooner` ends the wait.
 */
export async function leaveConnections(
  server: Server,
  ms: number,
  sooner: AbortSignal,
): Promise<void> {
  closeListeners(server);
  const deadline = performance.now() + ms;
  while (!sooner.aborted && performance.now() < deadline && (await countConnections(server)) > 0)
    await sleep(idleCheckMs);
}

const quietSearchMs = 1_000;

/**
 * Waits for a turn of the event loop in which no connection arrived and that was so short that none can have since.
 * Connections that the system holds for us are reset when the listener closes, and with them what they have sent.
 * The longer it takes under load, the longer a turn may be.
 */
async function quietTurn(server: Server): Promise<void> {
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
