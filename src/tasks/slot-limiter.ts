/**
 * Limits the work in flight in this process: in total, per workspace, and per workspace and receiver. A workspace takes at most as
 * many slots as it leaves free. So one whose work hangs, or that has thousands due, leaves room for others. With n such workspaces
 * 1/(n+1) of the slots stay free (dynamic thresholds, Choudhury and Hahne 1998).
 */

/** Work that takes a slot. */
export interface SlotUser {
  readonly workspaceId: string;
  readonly id: string;
  /** Its receiver; absent if there is none to protect. */
  readonly host?: string | undefined;
}

export interface SlotLimits {
  readonly total: number;
  readonly perWorkspace?: number | undefined;
  /** Slots of one workspace at one receiver. */
  readonly perHost?: number | undefined;
}

/** A receiver of a workspace. */
export interface HostOf {
  readonly workspaceId: string;
  readonly host: string;
}

export interface SlotLimiter {
  /** True while any slot is free. */
  hasRoom(): boolean;
  /** Workspaces, and their receivers, that are at their limit. */
  full(): { readonly fullHosts: HostOf[]; readonly fullWorkspaces: string[] };
  /** True while no slot is taken. */
  isIdle(): boolean;
  /** Takes a slot; false if the work may not begin now, or has one already. */
  take(work: SlotUser): boolean;
  /** Frees the slot of the work; true if other work may have waited for it. Without a slot nothing happens. */
  release(work: SlotUser): boolean;
}

const nameOf = ({ workspaceId, id }: SlotUser) => `${workspaceId} ${id}`;
const hostName = ({ workspaceId, host = "" }: Omit<SlotUser, "id">) => `${workspaceId} ${host}`;

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

/** Creates the limiter, with all slots free. */
export function createSlotLimiter({
  total,
  perWorkspace = Infinity,
  perHost = Infinity,
}: SlotLimits): SlotLimiter {
  const taken = new Set<string>();
  const hosts = counter();
  const workspaces = counter();
  const free = () => total - taken.size;
  const share = () => Math.min(perWorkspace, free());
  const mayTake = (one: SlotUser) =>
    free() > 0 &&
    hosts.of(hostName(one)) < perHost &&
    workspaces.of(one.workspaceId) < share() &&
    // After a clock jump, work in flight here can look due.
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
    isIdle: () => taken.size === 0,
    take(one) {
      if (!mayTake(one)) return false;
      taken.add(nameOf(one));
      hosts.add(hostName(one), 1);
      workspaces.add(one.workspaceId, 1);
      return true;
    },
    release(one) {
      if (!taken.has(nameOf(one))) return false;
      // If shares are small, every freed slot makes the shares of all workspaces larger.
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
