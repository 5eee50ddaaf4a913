/**
 * How many pieces of work may be under way in this process: in all, of one workspace, and of one workspace at one receiver.
 * A workspace takes at most as many places as it leaves free, so whoever hangs, or has thousands due, leaves room for a
 * newcomer: with n such workspaces 1/(n+1) of the places stay free (dynamic thresholds, Choudhury and Hahne 1998).
 */

/** Work that takes a place. */
export interface Placed {
  readonly workspaceId: string;
  readonly id: string;
  /** Its receiver; absent where there is none to be spared. */
  readonly host?: string | undefined;
}

export interface PlaceLimits {
  readonly total: number;
  readonly perWorkspace?: number | undefined;
  /** Of one workspace at one receiver. */
  readonly perHost?: number | undefined;
}

/** A receiver of a workspace. */
export interface HostOf {
  readonly workspaceId: string;
  readonly host: string;
}

export interface Places<Work extends Placed> {
  /** True while anything may begin at all. */
  hasRoom(): boolean;
  /** Workspaces, and their receivers, that have all they may have. */
  full(): { readonly fullHosts: HostOf[]; readonly fullWorkspaces: string[] };
  /** Takes places for those that may begin, in the order given; returns them. */
  take<Found extends Work>(found: readonly Found[]): Found[];
  /** Gives a place back; true where something may have waited for it. */
  leave(work: Work): boolean;
}

const nameOf = ({ workspaceId, id }: Placed) => `${workspaceId} ${id}`;
const hostName = ({ workspaceId, host = "" }: Omit<Placed, "id">) => `${workspaceId} ${host}`;

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

/** All places free. */
export function createPlaces<Work extends Placed>({
  total,
  perWorkspace = Infinity,
  perHost = Infinity,
}: PlaceLimits): Places<Work> {
  const taken = new Set<string>();
  const hosts = counter();
  const workspaces = counter();
  const free = () => total - taken.size;
  const share = () => Math.min(perWorkspace, free());
  const mayTake = (one: Placed) =>
    free() > 0 &&
    hosts.of(hostName(one)) < perHost &&
    workspaces.of(one.workspaceId) < share() &&
    // What is under way here can look due when the clock has jumped.
    !taken.has(nameOf(one));
  return {
    hasRoom: () => free() > 0,
    full: () => ({
      fullHosts: hosts.full(perHost).map((name) => {
        const at = name.indexOf(" ");
        return { workspaceId: name.slice(0, at), host: name.slice(at + 1) };
      }),
      fullWorkspaces: workspaces.full(share()),
    }),
    take(found) {
      const chosen = [];
      for (const one of found) {
        if (!mayTake(one)) continue;
        taken.add(nameOf(one));
        hosts.add(hostName(one), 1);
        workspaces.add(one.workspaceId, 1);
        chosen.push(one);
      }
      return chosen;
    },
    leave(one) {
      // Where shares are small every place that becomes free makes them larger, of all workspaces.
      const isWaited =
        free() < Math.min(perWorkspace, total / 2 + 1) ||
        hosts.of(hostName(one)) >= perHost ||
        workspaces.of(one.workspaceId) >= share();
      taken.delete(nameOf(one));
      hosts.add(hostName(one), -1);
      workspaces.add(one.workspaceId, -1);
      return isWaited;
    },
  };
}
