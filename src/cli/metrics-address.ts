/** The metrics' own address must not be the gateway's own. */
import { isEveryAddress } from "../base/listening-host.ts";
import type { Environment } from "./environment.ts";
import { UsageError } from "./usage-error.ts";

/** @throws UsageError if the metrics' own address is the one of the gateway: the port would look as if another program had it */
export function refuseOneAddress({ host, port, metrics: { own } }: Environment): void {
  if (own === undefined || port === 0 || own.port !== port) return;
  if (own.host !== host && ![own.host, host].some(isEveryAddress)) return;
  throw new UsageError(
    `TOLLGATE_METRICS_PORT is ${own.port}, which is the gateway's own port; choose another, or leave the variable out`,
  );
}
