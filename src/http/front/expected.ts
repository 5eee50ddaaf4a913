/**
 * `Expect: 100-continue`: a client holds its body back until it hears that it is wanted. It hears so when somebody begins to read it,
 * and so not before its key is known; refused, it need not send a byte. RFC 9110, section 10.1.1.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { heldBack } from "../bodies/paced.ts";

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/** What a server does with such requests: as `answer` does with others. */
export function expecting(answer: RequestListener): RequestListener {
  return (request, response) => {
    if (hasBody(request)) continueWhenRead(request, response);
    else response.writeContinue();
    answer(request, response);
  };
}

function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  heldBack.add(request);
  const ask = (event: string | symbol): void => {
    if (event !== "data" && event !== "readable") return;
    request.off("newListener", ask);
    heldBack.delete(request);
    if (!response.headersSent && !response.destroyed) response.writeContinue();
  };
  request.on("newListener", ask);
}
