/** The gateways that run during a master key rotation: each must hold the new key and seal with it. */
import { setTimeout as sleep } from "node:timers/promises";
import { counted } from "../base/counted.ts";
import type { Database, Queryable } from "../storage/index.ts";

/** The master key was not replaced, or not completely; the message says why and what to do. */
export class RotationRefusedError extends Error {
  override name = "RotationRefusedError";
}

const gatewaysMsMaxDefault = 60_000;
const lookEveryMs = 300;

interface LiveGateway {
  readonly id: string;
  readonly version: string;
  readonly master_keys: readonly string[];
  readonly sealing_key: string | null;
}

/** The gateways that reported within the last 35 seconds, which is three of their report intervals. */
const liveGateways = (database: Queryable): Promise<LiveGateway[]> =>
  database.query<LiveGateway>(
    `select id, version, master_keys, sealing_key from gateways
     where last_seen_at > now() - interval '35 seconds' order by id`,
    [],
  );

/** Refuses if a running gateway does not hold the new key and so could not read newly sealed values. @throws RotationRefusedError */
export async function requireNewKeyHeld(database: Queryable, to: string): Promise<void> {
  const lacking = (await liveGateways(database)).filter(
    ({ master_keys: keys }) => !keys.includes(to),
  );
  if (lacking.length === 0) return;
  const names = lacking.map(({ id, version }) => `${id} (version ${version})`).join(", ");
  throw new RotationRefusedError(
    `${counted(lacking.length, "running gateway does", "running gateways do")} not hold the new master key: ${names}. ` +
      "Start each again with TOLLGATE_MASTER_KEY as the new key and TOLLGATE_MASTER_KEY_PREVIOUS as the old one; " +
      "a gateway that is gone is forgotten after 35 seconds.",
  );
}

interface Waiting {
  readonly database: Database;
  readonly gatewaysMsMax?: number | undefined;
}

/** Waits until every running gateway reports that it seals under the new key. @throws RotationRefusedError naming those that do not */
export async function waitUntilAllSeal(
  { database, gatewaysMsMax = gatewaysMsMaxDefault }: Waiting,
  to: string,
): Promise<void> {
  const deadlineMs = performance.now() + gatewaysMsMax;
  for (;;) {
    await requireNewKeyHeld(database, to);
    const late = (await liveGateways(database)).filter(({ sealing_key: key }) => key !== to);
    if (late.length === 0) return;
    if (performance.now() > deadlineMs)
      throw new RotationRefusedError(
        `${counted(late.length, "running gateway does", "running gateways do")} not seal under the new master key yet: ${late.map(({ id }) => id).join(", ")}. ` +
          "Look at their logs, then run this again.",
      );
    await sleep(lookEveryMs);
  }
}
