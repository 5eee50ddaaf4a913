/** Shared by the tests of tenancy: a fresh tenant on a real database, and keys in the states that a test needs. */
import { randomBytes } from "node:crypto";
import { expect } from "vitest";
import { manualClock } from "../support/manual-clock.ts";
import type { ErrorCode } from "../../src/base/errors.ts";
import { GatewayError } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/log.ts";
import type { Database } from "../../src/storage/index.ts";
import {
  createAuthenticator,
  createKey,
  createOrganization,
  createWorkspace,
  type KeyInput,
} from "../../src/tenancy/index.ts";
import { generateKey, parseKey } from "../../src/tenancy/key-format.ts";
import { deriveSecrets } from "../support/secrets.ts";
import { eventually } from "../support/patience.ts";

export const startMs = Date.parse("2026-11-20T10:00:00.000Z");

/** A database with one organization and one workspace in it. */
export async function createTenant(database: Database) {
  const clock = manualClock(startMs);
  const secrets = deriveSecrets(randomBytes(32));
  const context = { database, clock, secrets };
  const organization = await createOrganization(context, { name: "Acme" });
  const workspace = await createWorkspace(context, {
    name: "Team",
    organizationId: organization.id,
  });
  return {
    ...context,
    organization,
    workspace,
    newKey: (input: Partial<KeyInput> = {}) =>
      createKey(context, {
        workspaceId: workspace.id,
        name: "test key",
        createdBy: "user_1",
        ...input,
      }),
    newAuthenticator: (other: Database = database, cacheSizeMax?: number) =>
      createAuthenticator({ database: other, secrets, clock, log: silentLog, cacheSizeMax }),
  };
}

export type Tenant = Awaited<ReturnType<typeof createTenant>>;

/** The code of the GatewayError with which a call must fail. */
export async function refusal(call: Promise<unknown>): Promise<ErrorCode> {
  const error: unknown = await call.then(
    () => expect.fail("the call was expected to fail"),
    (reason: unknown) => reason,
  );
  if (error instanceof GatewayError) return error.code;
  throw error;
}

/** Waits until a condition is true. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(condition, "a condition that comes true");
}

/** Inserts a key from before ciphertexts and owners were kept. */
export async function insertLegacyKey(tenant: Tenant): Promise<string> {
  const key = generateKey();
  const hint = parseKey(key)!;
  await tenant.database.query(
    `insert into api_keys (workspace_id, id, name, status, lookup, key_prefix, key_last4, model_allowlist, allow_request_override, created_at, updated_at)
     values ($1, 'key_legacy', 'old', 'active', $2, $3, $4, '[]', false, now(), now())`,
    [tenant.workspace.id, tenant.secrets.lookup(key), hint.prefix, hint.last4],
  );
  return key;
}
