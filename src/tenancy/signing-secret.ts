/**
 * The callback signing secret of a workspace. Spec: "API key, workspace, signing secret", "Authentication" 9 (KEY-14).
 * It is derived, not stored: the row holds only its version and whether callbacks are signed, and so sent, at all.
 */
import type { RowContext } from "./context.ts";
import { onlyRow } from "./context.ts";
import type { Secrets } from "./secrets.ts";

export interface SigningSecret {
  /** `whsec_` and 43 base64url characters; the whole string is the HMAC key. */
  readonly secret: string;
  /** False: no callback is sent. */
  readonly enabled: boolean;
  readonly version: number;
}

/** The secret in force. The caller has checked the right to see it. @throws GatewayError `not_found` */
export async function readSigningSecret(
  context: RowContext & { readonly secrets: Secrets },
  workspaceId: string,
): Promise<SigningSecret> {
  const rows = await context.database.query<{ signing_version: number; signing_enabled: boolean }>(
    "select signing_version, signing_enabled from workspaces where id = $1",
    [workspaceId],
  );
  const row = onlyRow(rows, "workspace");
  return {
    secret: context.secrets.signingSecret(workspaceId, row.signing_version),
    enabled: row.signing_enabled,
    version: row.signing_version,
  };
}
