/** The address that an HTTP request comes from: the one place that looks at it. */
import type { IncomingHttpHeaders } from "node:http";
import { clientAddress, type TrustedProxies } from "../base/client-address.ts";

/** A request, as far as its address is known. Node's IncomingMessage is one. */
interface Addressed {
  readonly headers: Pick<IncomingHttpHeaders, "host"> &
    Readonly<Partial<Record<"x-forwarded-for", string | string[]>>>;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** The caller's address, past the proxies that `TOLLGATE_TRUSTED_PROXIES` names; empty where the connection is gone. */
export function addressOf({ headers, socket }: Addressed, trusted: TrustedProxies): string {
  const forwardedFor = headers["x-forwarded-for"];
  const list = Array.isArray(forwardedFor) ? forwardedFor.join(",") : forwardedFor;
  return clientAddress(socket.remoteAddress ?? "", list, trusted);
}
