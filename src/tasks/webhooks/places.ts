/**
 * How many tries may be under way in this process: in all, at one receiver, and of one workspace, so that whoever hangs
 * leaves room for the others. docs/tasks.md.
 */
import type { DueDelivery } from "./outbox.ts";

const placesMax = { total: 100, perHost: 4, perWorkspace: 20 } as const;
/** So many due deliveries are looked at to fill the places. */
export const lookedAtMax = 2 * placesMax.total;

const nameOf = (delivery: DueDelivery) => `${delivery.workspaceId} ${delivery.id}`;

function counter() {
  const counts = new Map<string, number>();
  return {
    of: (key: string) => counts.get(key) ?? 0,
    add(key: string, change: 1 | -1) {
      const count = (counts.get(key) ?? 0) + change;
      if (count === 0) counts.delete(key);
      else counts.set(key, count);
    },
    full: (max: number) => [...counts].flatMap(([key, count]) => (count >= max ? [key] : [])),
  };
}

export interface Places {
  /** True while anything may begin at all. */
  hasRoom(): boolean;
  /** Receivers and workspaces that have all they may have. */
  full(): { readonly fullHosts: string[]; readonly fullWorkspaces: string[] };
  /** Takes places for those that may begin, in the order given; returns them. */
  take(found: readonly DueDelivery[]): DueDelivery[];
  /** Gives a place back; true where it was the last of its kind, so that something may have waited for it. */
  leave(delivery: DueDelivery): boolean;
}

/** All places free. */
export function createPlaces(): Places {
  const taken = new Set<string>();
  const hosts = counter();
  const workspaces = counter();
  const mayTake = (one: DueDelivery) =>
    taken.size < placesMax.total &&
    hosts.of(one.host) < placesMax.perHost &&
    workspaces.of(one.workspaceId) < placesMax.perWorkspace &&
    // What is under way here can look due when the clock has jumped.
    !taken.has(nameOf(one));
  return {
    hasRoom: () => taken.size < placesMax.total,
    full: () => ({
      fullHosts: hosts.full(placesMax.perHost),
      fullWorkspaces: workspaces.full(placesMax.perWorkspace),
    }),
    take(found) {
      const chosen: DueDelivery[] = [];
      for (const one of found) {
        if (!mayTake(one)) continue;
        taken.add(nameOf(one));
        hosts.add(one.host, 1);
        workspaces.add(one.workspaceId, 1);
        chosen.push(one);
      }
      return chosen;
    },
    leave(one) {
      const last =
        taken.size === placesMax.total ||
        hosts.of(one.host) === placesMax.perHost ||
        workspaces.of(one.workspaceId) === placesMax.perWorkspace;
      taken.delete(nameOf(one));
      hosts.add(one.host, -1);
      workspaces.add(one.workspaceId, -1);
      return last;
    },
  };
}
