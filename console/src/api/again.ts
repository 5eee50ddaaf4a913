/**
 * A session that ends while somebody is at work. Calls that are refused for it wait until they have signed in again, and are
 * then sent once more: nothing that was typed is lost. Before anybody was known a refusal is just one.
 */

let isKnown = false;
let waiting: PromiseWithResolvers<void> | undefined;
const watchers = new Set<() => void>();

/** Whether calls wait for a new session now. */
export const isSignInNeeded = (): boolean => waiting !== undefined;

/** Calls `watcher` whenever that changes. Returns how to stop it. */
export function watchSignIn(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** There is a session again: the calls that wait are sent. */
export function signedInAgain(): void {
  waiting?.resolve();
  waiting = undefined;
  for (const watcher of watchers) watcher();
}

function signInNeeded(): Promise<void> {
  waiting ??= Promise.withResolvers();
  for (const watcher of watchers) watcher();
  return waiting.promise;
}

const unauthorized = 401;

/** `fetch`, or the `send` that is given, which waits for a new session where the old one has ended. */
export async function fetchAgain(
  request: Request,
  send: (request: Request) => Promise<Response> = fetch,
): Promise<Response> {
  const isOurs = new URL(request.url).pathname.startsWith("/admin/");
  // A body can be read once.
  const spare = isOurs ? request.clone() : request;
  const response = await send(request);
  if (!isOurs) return response;
  if (response.status !== unauthorized || !isKnown) {
    isKnown ||= response.ok;
    return response;
  }
  await signInNeeded();
  return send(spare);
}
