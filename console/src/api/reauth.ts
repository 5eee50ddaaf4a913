/**
 * Handles a session that ends while the reader works. Calls refused for it wait until the reader has signed in again, and are then
 * resent: no input is lost. Before the first successful call, a refusal is final.
 */

let hadSession = false;
let pendingSignIn: PromiseWithResolvers<void> | undefined;
const watchers = new Set<() => void>();

/** True while calls wait for a new session. */
export const isSignInNeeded = (): boolean => pendingSignIn !== undefined;

/** Calls `watcher` whenever that changes. Returns a function that stops it. */
export function watchSignIn(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Resends the waiting calls, because there is a session again. */
export function resendAfterSignIn(): void {
  pendingSignIn?.resolve();
  pendingSignIn = undefined;
  for (const watcher of watchers) watcher();
}

function signInNeeded(): Promise<void> {
  pendingSignIn ??= Promise.withResolvers();
  for (const watcher of watchers) watcher();
  return pendingSignIn.promise;
}

const unauthorized = 401;

/** Calls `send` (by default `fetch`). If the session has ended, waits for a new one and sends the request again. */
export async function fetchWithReauth(
  request: Request,
  send: (request: Request) => Promise<Response> = fetch,
): Promise<Response> {
  const isOurs = new URL(request.url).pathname.startsWith("/admin/");
  // A body can be read only once.
  const spare = isOurs ? request.clone() : request;
  const response = await send(request);
  if (!isOurs) return response;
  if (response.status !== unauthorized || !hadSession) {
    hadSession ||= response.ok;
    return response;
  }
  await signInNeeded();
  return send(spare);
}
