/** The metrics' own address: advice on errors of listening there names its variables, and it must not be the gateway's own. */
import { isEveryAddress } from "../base/listening-host.ts";
import type { Environment } from "./environment.ts";
import { UsageError } from "./usage-error.ts";

const ofMetrics = new WeakSet<Error>();

/** True if the error is about the metrics' own address. */
export const isOfMetricsAddress = (error: Error): boolean => ofMetrics.has(error);

/** Runs work at the metrics' own address, and marks its errors. @throws what the work throws */
export async function atMetricsAddress<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error) ofMetrics.add(error);
    throw error;
  }
}

/** @throws UsageError if the metrics' own address is the one of the gateway: the port would look as if another program had it */
export function refuseOneAddress({ host, port, metrics: { own } }: Environment): void {
  if (own === undefined || port === 0 || own.port !== port) return;
  if (own.host !== host && ![own.host, host].some(isEveryAddress)) return;
  throw new UsageError(
    `TOLLGATE_METRICS_PORT is ${own.port}, which is the gateway's own port; choose another, or leave the variable out`,
  );
}
