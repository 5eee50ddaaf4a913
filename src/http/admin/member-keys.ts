/** What becomes of the keys of a member who leaves. T70: without the member, the member's caps bind nothing. */
import { keyKind, writeAudit, type Asked, type WithinChange } from "../../admin/index.ts";
import { disableKey, listKeys, type KeyRecord, type MemberReference } from "../../tenancy/index.ts";

const pageSize = 100;

/** Disables the active keys somebody made in a workspace, each with its audit entry. Returns their ids. */
export async function disableKeysOf(
  context: WithinChange,
  asked: Asked,
  { workspaceId, userId }: MemberReference,
): Promise<string[]> {
  const disabled: string[] = [];
  for (;;) {
    const { records } = await listKeys(context, {
      workspaceId,
      createdBy: userId,
      status: "active",
      limit: pageSize,
    });
    if (records.length === 0) return disabled;
    for (const key of records) {
      await disable(context, asked, key);
      disabled.push(key.id);
    }
  }
}

async function disable(context: WithinChange, asked: Asked, before: KeyRecord): Promise<void> {
  const after = await disableKey(context, { id: before.id });
  await writeAudit(context, {
    actor: asked.actor,
    requestId: asked.requestId,
    action: "key.disable",
    object: { type: keyKind.type, id: before.id },
    place: keyKind.place(before),
    before: keyKind.view(before),
    after: keyKind.view(after),
  });
}
