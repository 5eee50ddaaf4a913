/**
 * Intercepts the requests of a page. Playwright's own way (`page.route`) turns the browser's cache off meanwhile. Each load of a
 * page then fetches and compiles the whole console again, which doubles its time.
 */
import type { CDPSession, Page } from "playwright-core";

/** Before the request reaches the gateway, or after the gateway's answer. */
type Stage = "Request" | "Response";

/** A call that is held. */
export interface Paused {
  readonly method: string;
  /** Lets the call, or its answer, continue unchanged. */
  readonly pass: () => Promise<unknown>;
  /** Answers the call instead of the gateway. */
  readonly answer: (status: number, json: object) => Promise<unknown>;
}

interface PausedRequest {
  readonly requestId: string;
  readonly request: { readonly url: string; readonly method: string };
}

/** If the page is closed or has aborted the call, there is nothing to continue. */
const ignoreClosed = () => undefined;

const pausedOf = (session: CDPSession, { requestId, request }: PausedRequest): Paused => ({
  method: request.method,
  pass: () => session.send("Fetch.continueRequest", { requestId }).catch(ignoreClosed),
  answer: (status, json) =>
    session
      .send("Fetch.fulfillRequest", {
        requestId,
        responseCode: status,
        responseHeaders: [{ name: "content-type", value: "application/json" }],
        body: Buffer.from(JSON.stringify(json)).toString("base64"),
      })
      .catch(ignoreClosed),
});

/**
 * Holds calls of these addresses at a stage from now on; `meet` decides each. Returns a function that ends this: held calls then
 * continue.
 */
export async function interceptCalls(
  page: Page,
  stage: Stage,
  is: (url: URL) => boolean,
  meet: (call: Paused) => unknown,
): Promise<() => Promise<void>> {
  const session = await page.context().newCDPSession(page);
  session.on("Fetch.requestPaused", (met: PausedRequest) => {
    const call = pausedOf(session, met);
    if (is(new URL(met.request.url))) meet(call);
    else void call.pass();
  });
  await session.send("Fetch.enable", { patterns: [{ urlPattern: "*", requestStage: stage }] });
  return async () => {
    await session.send("Fetch.disable").catch(ignoreClosed);
    await session.detach().catch(ignoreClosed);
  };
}
