/**
 * Standing between a page and what it asks. Playwright's own way (`page.route`) turns the browser's cache off for as long as it is
 * there: each load of a page then fetches and compiles all of the console again, which doubles what it takes.
 */
import type { CDPSession, Page } from "playwright-core";

/** Before the gateway is asked, or once it has answered. */
type Stage = "Request" | "Response";

/** A call that waits. */
export interface Paused {
  readonly method: string;
  /** Lets it, or its answer, go on as it is. */
  readonly pass: () => Promise<unknown>;
  /** Answers it in the gateway's place. */
  readonly answer: (status: number, json: object) => Promise<unknown>;
}

interface Met {
  readonly requestId: string;
  readonly request: { readonly url: string; readonly method: string };
}

/** A page that is closed, or does not want the answer any more, lets nothing go on. */
const goneIsFine = () => undefined;

const pausedOf = (session: CDPSession, { requestId, request }: Met): Paused => ({
  method: request.method,
  pass: () => session.send("Fetch.continueRequest", { requestId }).catch(goneIsFine),
  answer: (status, json) =>
    session
      .send("Fetch.fulfillRequest", {
        requestId,
        responseCode: status,
        responseHeaders: [{ name: "content-type", value: "application/json" }],
        body: Buffer.from(JSON.stringify(json)).toString("base64"),
      })
      .catch(goneIsFine),
});

/** From now on calls of these addresses wait at a stage, and `meet` says what becomes of each. Returns what ends it: what waits then goes on. */
export async function standBetween(
  page: Page,
  stage: Stage,
  is: (url: URL) => boolean,
  meet: (call: Paused) => unknown,
): Promise<() => Promise<void>> {
  const session = await page.context().newCDPSession(page);
  session.on("Fetch.requestPaused", (met: Met) => {
    const call = pausedOf(session, met);
    if (is(new URL(met.request.url))) meet(call);
    else void call.pass();
  });
  await session.send("Fetch.enable", { patterns: [{ urlPattern: "*", requestStage: stage }] });
  return async () => {
    await session.send("Fetch.disable").catch(goneIsFine);
    await session.detach().catch(goneIsFine);
  };
}
