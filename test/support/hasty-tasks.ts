/** Task timing of gateways in tests that wait for leases to end: the same in a separate process and in the test's process. */
import type { GatewayOptions } from "../../src/cli/gateway.ts";

/** `TEST_LEASE_MS`: the lease of a step; `TEST_ABANDON_MS`: how long a silent process may still return before it is given up. */
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
