/** The client's address of an HTTP request. No other module reads it. */
import type { IncomingHttpHeaders } from "node:http";
import { clientAddress, type TrustedProxies } from "../base/client-address.ts";

/** The parts of a request that its address depends on. Node's IncomingMessage has them. */
interface Addressed {
  readonly headers: Pick<IncomingHttpHeaders, "host"> &
    Readonly<Partial<Record<"x-forwarded-for", string | string[]>>>;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** The caller's address, behind the proxies that `TOLLGATE_TRUSTED_PROXIES` names; empty if the connection is gone. */
export function addressOf({ headers, socket }: Addressed, trusted: TrustedProxies): string {
  const forwardedFor = headers["x-forwarded-for"];
  const list = Array.isArray(forwardedFor) ? forwardedFor.join(",") : forwardedFor;
  return clientAddress(socket.remoteAddress ?? "", list, trusted);
}
