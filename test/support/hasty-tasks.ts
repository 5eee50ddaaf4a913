/** How a gateway works on tasks where a test waits for leases to end: the same in a process of its own and in the test's. */
import type { GatewayOptions } from "../../src/cli/gateway.ts";

/** `TEST_LEASE_MS`: how long a step is its process's own; `TEST_ABANDON_MS`: how long one that is silent may still come back. */
export function hastyTasks(variables: Readonly<Record<string, string | undefined>>): Required<
  Pick<GatewayOptions, "filesEveryMs">
> & {
  readonly tasks: NonNullable<GatewayOptions["tasks"]>;
} {
  const leaseMs = Number(variables["TEST_LEASE_MS"] ?? "1200");
  const abandonMs = Number(variables["TEST_ABANDON_MS"] ?? "0");
  const timing = { leaseMs, abandonMs, firstPollMs: 30, sweepMs: 100 };
  return { filesEveryMs: 200, tasks: { callbackLeaseMs: leaseMs, timing } };
}
