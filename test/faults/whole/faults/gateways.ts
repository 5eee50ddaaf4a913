/** Gateways that die, stand still and restart, and their balancer. */
import type { Traffic } from "../traffic.ts";
import type { World } from "../world.ts";
import { all, longFaultMs, faultMs, type Fault } from "./fault.ts";

async function stopped(
  world: World,
  traffic: Traffic,
  at: readonly number[],
  ms: number,
): Promise<void> {
  for (const one of at) world.gateways[one]!.child.kill("SIGSTOP");
  await traffic.lasts(ms);
  for (const one of at) world.gateways[one]!.child.kill("SIGCONT");
}

export const gatewayFaults: readonly Fault[] = [
  {
    name: "kill -9 of one of three gateways",
    part: "gateways",
    short: true,
    async inject(world, traffic) {
      await world.gateways[0]!.kill();
      await traffic.lasts(1_000);
      await world.respawn(0);
    },
  },
  {
    name: "kill -9 of all gateways at once",
    part: "gateways",
    async inject(world) {
      await Promise.all(world.gateways.map((gateway) => gateway.kill()));
      for (const at of all) await world.respawn(at);
    },
  },
  {
    name: "kill -9 of each gateway in turn, three times",
    part: "gateways",
    async inject(world) {
      for (let round = 0; round < 3; round += 1)
        for (const at of all) {
          await world.gateways[at]!.kill();
          await world.respawn(at);
        }
    },
  },
  {
    name: "rolling restart of all gateways",
    part: "gateways",
    noneFails: true,
    async inject(world, traffic) {
      for (const at of all) {
        await world.gateways[at]!.stop();
        await world.respawn(at);
        // Until the balancer has noticed.
        await traffic.lasts(500);
      }
    },
  },
  {
    name: "one gateway is paused (SIGSTOP)",
    part: "gateways",
    inject: (world, traffic) => stopped(world, traffic, [1], longFaultMs),
  },
  {
    name: "all gateways are paused",
    part: "gateways",
    inject: (world, traffic) => stopped(world, traffic, all, faultMs),
  },
  {
    name: "the balancer restarts",
    part: "gateways",
    inject: (world) => world.restartBalancer(),
  },
];
