/** What becomes of the keys of a member who leaves, or comes back. T70: without the member, the member's caps bind nothing. */
import { keyKind, writeAudit, type Asked, type WithinChange } from "../../admin/index.ts";
import {
  disableKey,
  enableKey,
  getKey,
  listKeys,
  type KeyRecord,
  type MemberReference,
} from "../../tenancy/index.ts";

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
      await move(context, asked, { key, action: "key.disable", by: disableKey });
      disabled.push(key.id);
    }
  }
}

/** Enables those of these keys that are still disabled, each with its audit entry. Returns their ids. */
export async function enableKeys(
  context: WithinChange,
  asked: Asked,
  ids: readonly string[],
): Promise<string[]> {
  const enabled: string[] = [];
  for (const id of ids) {
    const key = await getKey(context, { id }, { forUpdate: true });
    if (key.status !== "disabled") continue;
    await move(context, asked, { key, action: "key.enable", by: enableKey });
    enabled.push(id);
  }
  return enabled;
}

interface Move {
  readonly key: KeyRecord;
  readonly action: "key.disable" | "key.enable";
  readonly by: typeof disableKey;
}

async function move(
  context: WithinChange,
  asked: Asked,
  { key: before, action, by }: Move,
): Promise<void> {
  const after = await by(context, { id: before.id });
  await writeAudit(context, {
    actor: asked.actor,
    requestId: asked.requestId,
    action,
    object: { type: keyKind.type, id: before.id },
    place: keyKind.place(before),
    before: keyKind.view(before),
    after: keyKind.view(after),
  });
}
