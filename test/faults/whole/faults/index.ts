/** The faults of the installation, each under mixed load, in the order in which they run. */
import { databaseFaults, failover } from "./database.ts";
import type { Fault } from "./fault.ts";
import { gatewayFaults } from "./gateways.ts";
import { otherFaults } from "./others.ts";
import { vendorFaults } from "./vendors.ts";

export type { Fault } from "./fault.ts";

export const faults: readonly Fault[] = [
  ...gatewayFaults,
  ...vendorFaults,
  ...otherFaults,
  ...databaseFaults,
  failover,
];
