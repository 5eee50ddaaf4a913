/** The caps of all layers as a tree: workspace, members, keys; those nearest to a cap come first. Pure. */
import { parseUsd, shareOf } from "../../base/money.ts";

const windows = ["daily", "weekly", "monthly", "total"] as const;
type Window = (typeof windows)[number];

/** The fields that workspaces, members and keys share in the API. */
export interface Capped {
  readonly spend_caps: Readonly<Record<Window, string | null>> & { readonly hard: boolean };
  readonly spend: Readonly<Record<Window, string>>;
  readonly remaining: Readonly<Record<Window, string | null>>;
  readonly resets_at: Readonly<Record<Exclude<Window, "total">, string>>;
}

export interface CapLine {
  readonly window: Window;
  readonly cap: string;
  readonly spent: string;
  readonly remaining: string | null;
  readonly resetsAt: string | undefined;
  readonly hard: boolean;
}

export interface Node {
  readonly layer: "workspace" | "member" | "key";
  readonly id: string;
  readonly name: string;
  readonly lines: readonly CapLine[];
  /** Used percentage of its nearest cap, or of the nearest below it; -1 without any. */
  readonly nearest: number;
  readonly below: readonly Node[];
  /** The number of keys below it without a cap, which are not listed. */
  readonly free: number;
}

/** The caps that are set, the nearest to its limit first. */
function linesOf({ spend_caps, spend, remaining, resets_at }: Capped): CapLine[] {
  const lines = windows.flatMap((window): CapLine[] => {
    const cap = spend_caps[window];
    if (cap === null) return [];
    const resetsAt = window === "total" ? undefined : resets_at[window];
    const { hard } = spend_caps;
    return [{ window, cap, spent: spend[window], remaining: remaining[window], resetsAt, hard }];
  });
  return lines.toSorted((one, other) => percentOf(other) - percentOf(one));
}

const percentOf = ({ spent, cap }: CapLine): number => shareOf(parseUsd(spent), parseUsd(cap));

/** The number of keys without a cap, in words; `isCut`: more keys may exist than were read. */
export const freeOf = (free: number, isCut: boolean): string =>
  `${free === 1 ? "1 key" : `${free} keys`}${isCut ? " or more" : ""} without a cap`;

interface Named extends Capped {
  readonly id: string;
  readonly name: string;
}

const byNearest = (one: Node, other: Node): number =>
  other.nearest - one.nearest || one.name.localeCompare(other.name);

function nodeOf(layer: Node["layer"], of: Named, below: readonly Node[], free: number): Node {
  const lines = linesOf(of);
  const own = lines[0] === undefined ? -1 : percentOf(lines[0]);
  const nearest = Math.max(own, ...below.map((node) => node.nearest));
  return {
    layer,
    id: of.id,
    name: of.name,
    lines,
    nearest,
    below: below.toSorted(byNearest),
    free,
  };
}

export interface Layers {
  readonly workspace: Named;
  readonly members: readonly (Capped & { readonly user_id: string; readonly email: string })[];
  readonly keys: readonly (Named & {
    readonly created_by: string | null;
    readonly status: string;
  })[];
}

/** Builds the tree. Revoked keys are left out; keys whose owner is no member go below the workspace. */
export function treeOf({ workspace, members, keys }: Layers): Node {
  const active = keys.filter(({ status }) => status !== "revoked");
  const isMember = new Set(members.map(({ user_id }) => user_id));
  const ownerOf = (key: Layers["keys"][number]): string =>
    key.created_by !== null && isMember.has(key.created_by) ? key.created_by : "";
  const keysOf = Map.groupBy(active, ownerOf);
  const below = (owner: string): { nodes: Node[]; free: number } => {
    const all = (keysOf.get(owner) ?? []).map((key) => nodeOf("key", key, [], 0));
    const nodes = all.filter(({ lines }) => lines.length > 0);
    return { nodes, free: all.length - nodes.length };
  };
  const people = members.map((member) => {
    const { nodes, free } = below(member.user_id);
    return nodeOf("member", { ...member, id: member.user_id, name: member.email }, nodes, free);
  });
  const others = below("");
  return nodeOf("workspace", workspace, [...people, ...others.nodes], others.free);
}
