/**
 * The callback signing secret of a workspace. KEY-14.
 * It is derived, not stored. The row holds its version, its rotation time, and whether callbacks are signed, and so sent, at all. A
 * secret derived from an earlier master key is stored, sealed, because receivers keep verifying with it. A replaced secret keeps
 * signing beside the new one for a day.
 */
import { dayMs } from "../base/durations.ts";
import type { ChangeContext, RowContext } from "./context.ts";
import { changeRow } from "./changes.ts";
import { onlyRow } from "./context.ts";
import { signingSealName } from "./seal-names.ts";
import type { Secrets } from "./secrets.ts";

export interface SigningSecret {
  /** `whsec_` and the base64 of 32 bytes. The whole string is the key of `Gw-Signature`, the bytes that of `webhook-signature`. */
  readonly secret: string;
  /** False: no callback is sent. */
  readonly enabled: boolean;
  readonly version: number;
  /** The previous secret while callbacks are signed with both; null otherwise. */
  readonly previous: { readonly secret: string; readonly expiresAt: Date } | null;
}

/** How long a replaced secret keeps signing. */
export const signingOverlapMs = dayMs;

interface SigningRow {
  readonly id: string;
  readonly signing_version: number;
  readonly signing_enabled: boolean;
  readonly signing_rotated_at: Date | null;
  readonly signing_sealed: Buffer | null;
  readonly signing_previous_sealed: Buffer | null;
  /** Check value of the master key that derives secrets that are not stored. */
  readonly master_key_check: string | null;
}

type SecretsContext = { readonly secrets: Pick<Secrets, "signingSecret" | "unseal"> };

const columns = `id, signing_version, signing_enabled, signing_rotated_at, signing_sealed, signing_previous_sealed,
  (select value #>> '{}' from settings where name = 'master_key_check') as master_key_check`;

function ofRow(context: RowContext & SecretsContext, row: SigningRow): SigningSecret {
  const secretOf = (version: number, sealed: Buffer | null) =>
    sealed === null
      ? context.secrets.signingSecret(row.id, version, row.master_key_check ?? undefined)
      : context.secrets.unseal(signingSealName(row.id, version), sealed);
  const expiresAt = new Date((row.signing_rotated_at?.getTime() ?? 0) + signingOverlapMs);
  return {
    secret: secretOf(row.signing_version, row.signing_sealed),
    enabled: row.signing_enabled,
    version: row.signing_version,
    previous:
      row.signing_rotated_at !== null && expiresAt.getTime() > context.clock.now()
        ? { secret: secretOf(row.signing_version - 1, row.signing_previous_sealed), expiresAt }
        : null,
  };
}

/** The current secret. The caller has checked the right to see it. @throws GatewayError `not_found` */
export async function readSigningSecret(
  context: RowContext & SecretsContext,
  workspaceId: string,
): Promise<SigningSecret> {
  const rows = await context.database.query<SigningRow>(
    `select ${columns} from workspaces where id = $1`,
    [workspaceId],
  );
  return ofRow(context, onlyRow(rows, "workspace"));
}

/** Replaces the secret by the next one; the old one keeps signing for {@link signingOverlapMs}. @throws GatewayError `not_found` */
export function rotateSigningSecret(
  context: ChangeContext & SecretsContext,
  workspaceId: string,
): Promise<SigningSecret> {
  return change(
    context,
    `signing_version = signing_version + 1, signing_rotated_at = $2, updated_at = $2,
       signing_previous_sealed = signing_sealed, signing_sealed = null`,
    [workspaceId, new Date(context.clock.now())],
  );
}

/** Switches signing, and with it callbacks, on or off for the workspace. @throws GatewayError `not_found` */
export function enableSigning(
  context: ChangeContext & SecretsContext,
  workspaceId: string,
  enabled: boolean,
): Promise<SigningSecret> {
  return change(context, "signing_enabled = $3, updated_at = $2", [
    workspaceId,
    new Date(context.clock.now()),
    enabled,
  ]);
}

async function change(
  context: ChangeContext & SecretsContext,
  assignments: string,
  params: readonly unknown[],
): Promise<SigningSecret> {
  const row = await changeRow(context.database, "workspaces", async (tx) => {
    const rows = await tx.query<SigningRow>(
      `update workspaces set ${assignments} where id = $1 returning ${columns}`,
      params,
    );
    return onlyRow(rows, "workspace");
  });
  return ofRow(context, row);
}
