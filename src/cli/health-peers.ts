/** Exchanges circuits and skipped credentials between this process and the others on its database. docs/routing.md. */
import type { Clock } from "../base/clock.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { Catalog } from "../catalog/index.ts";
import { Health, HealthPeers, type HealthRules } from "../routing/index.ts";
import { exchangeHealth, takeProbe, type Database } from "../storage/index.ts";
import type { Secrets } from "../tenancy/index.ts";
import type { Closers } from "./closers.ts";

const channel = "health";

interface PeersParts {
  readonly database: Database;
  readonly secrets: Pick<Secrets, "lookup">;
  readonly log: Log;
  readonly clock: Clock;
  readonly rules: HealthRules | undefined;
  readonly catalog: { current(): Catalog };
}

/** Opens the health of providers, combined with that of the other gateways. Opened resources are in `closers`. */
export async function openHealth(parts: PeersParts, closers: Closers): Promise<Health> {
  const { database, secrets, log, catalog, clock, rules } = parts;
  const health = new Health({ clock, rules, providers: () => catalog.current().providers });
  const { signals } = database;
  const gateway = newId("gw");
  const peers = new HealthPeers({
    health,
    gateway,
    catalog: () => catalog.current(),
    markOf: (secret) => secrets.lookup(secret).toString("hex").slice(0, 32),
    warn: (err, message) => log.warn({ err }, message),
    link: {
      exchange: (name, changes) =>
        changes.length === 0
          ? exchangeHealth(database, name, changes)
          : database.transaction(async (tx) => {
              const rows = await exchangeHealth(tx, name, changes);
              await signals.publish(channel, name, tx);
              return rows;
            }),
      askProbe: (name, { provider, upstreamModel }, probeMs) =>
        takeProbe(database, name, { provider, model: upstreamModel, probeMs }),
      healthy: () => signals.healthy(),
    },
  });
  closers.keep(peers);
  // Ignore this process's own signals, which contain nothing new for it.
  closers.add(signals.subscribe(channel, (from) => void (from === gateway || peers.wake())));
  closers.add(signals.onReconnect(() => peers.wake()));
  await peers.start();
  return health;
}
