/** Disables the keys of a member who leaves, and enables them on return. T70: without the member, the member's caps bind nothing. */
import { keyKind, writeAudits, type RequestContext, type WithinChange } from "../../admin/index.ts";
import {
  disableKeysOf,
  enableKeys,
  type KeyRecord,
  type MemberReference,
} from "../../tenancy/index.ts";

/** Disables the active keys that a member created in a workspace, each with its audit entry. Returns their ids. */
export const disableMemberKeys = (
  context: WithinChange,
  asked: RequestContext,
  reference: MemberReference,
): Promise<string[]> =>
  changeWithAudit(context, asked, {
    action: "key.disable",
    from: "active",
    nextBatch: () => disableKeysOf(context, reference),
  });

/** Enables those of the given keys that are still disabled, each with its audit entry. Returns their ids. */
export const reenableMemberKeys = (
  context: WithinChange,
  asked: RequestContext,
  keys: { readonly workspaceId: string; readonly ids: readonly string[] },
): Promise<string[]> =>
  changeWithAudit(context, asked, {
    action: "key.enable",
    from: "disabled",
    nextBatch: () => enableKeys(context, keys),
  });

interface Move {
  readonly action: "key.disable" | "key.enable";
  /** The state of the keys before. */
  readonly from: KeyRecord["status"];
  /** Changes one batch of them, and returns it; empty at the end. */
  readonly nextBatch: () => Promise<readonly KeyRecord[]>;
}

/** Changes all of them in batches: one by one, thousands of keys would take longer than a change may. */
async function changeWithAudit(
  context: WithinChange,
  { actor, requestId }: RequestContext,
  { action, from, nextBatch }: Move,
): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const moved = await nextBatch();
    if (moved.length === 0) return ids;
    const entries = moved.map((key) => ({
      actor,
      requestId,
      action,
      object: { type: keyKind.type, id: key.id },
      place: keyKind.place(key),
      before: keyKind.view({ ...key, status: from }),
      after: keyKind.view(key),
    }));
    await writeAudits(context, entries);
    ids.push(...moved.map(({ id }) => id));
  }
}
