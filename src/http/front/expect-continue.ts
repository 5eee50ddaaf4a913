/**
 * `Expect: 100-continue`: the client sends its body only after the gateway has asked for it. The gateway asks when a handler begins to
 * read, so not before it knows the key. A refused client need not send a byte. RFC 9110, section 10.1.1.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { awaitingContinue } from "../bodies/paced.ts";

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/** Returns a `checkContinue` listener that answers such requests with `answer`. */
export function onCheckContinue(answer: RequestListener): RequestListener {
  return (request, response) => {
    if (hasBody(request)) continueWhenRead(request, response);
    else response.writeContinue();
    answer(request, response);
  };
}

function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  awaitingContinue.add(request);
  const ask = (event: string | symbol): void => {
    if (event !== "data" && event !== "readable") return;
    request.off("newListener", ask);
    awaitingContinue.delete(request);
    if (!response.headersSent && !response.destroyed) response.writeContinue();
  };
  request.on("newListener", ask);
}
