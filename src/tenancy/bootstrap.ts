/** The first start: creates the records that a new database needs before anyone can call or log in. docs/operate.md. */
import type { Clock } from "../base/clock.ts";
import type { Database, Queryable } from "../storage/index.ts";
import { createKey } from "./keys.ts";
import { hashFor } from "./logins.ts";
import { addMember } from "./members.ts";
import { createOrganization } from "./organizations.ts";
import { oneTimePassword } from "./passwords.ts";
import type { Secrets } from "./secrets.ts";
import { createUser } from "./users.ts";
import { createWorkspace } from "./workspaces.ts";

export interface BootstrapContext {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly clock: Clock;
}

/** The created records, printed once: the password and the key appear nowhere else. */
export interface FirstStart {
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly userId: string;
  readonly email: string;
  readonly oneTimePassword: string;
  readonly keyId: string;
  readonly key: string;
}

/**
 * Creates the default organization, workspace, administrator and first API key in one transaction; null if that was done before. `fund`
 * gives the workspace its credit, in the same transaction. If several processes start together, one does it: the others wait for its
 * settings row and then return null.
 */
export async function bootstrap(
  context: BootstrapContext,
  fund?: (tx: Queryable, workspaceId: string) => Promise<unknown>,
): Promise<FirstStart | null> {
  const { clock, secrets } = context;
  const done = await context.database.query(
    "select 1 from settings where name = 'first_start'",
    [],
  );
  if (done.length > 0) return null;
  const email = "admin@tollgate.localhost";
  const password = oneTimePassword();
  const hash = await hashFor(context, email, password);
  return context.database.transaction(async (tx) => {
    const claimed = await tx.query(
      "insert into settings (name, value) values ('first_start', $1::jsonb) on conflict (name) do nothing returning name",
      [JSON.stringify(new Date(clock.now()).toISOString())],
    );
    if (claimed.length === 0) return null;
    const within = { database: tx, clock, secrets };
    const organization = await createOrganization(within, { name: "Default" });
    const workspace = await createWorkspace(within, {
      name: "Default",
      organizationId: organization.id,
    });
    const user = await createUser(within, {
      email,
      name: "Administrator",
      role: "admin",
      hash,
      emailVerified: true,
    });
    await addMember(within, { workspaceId: workspace.id, userId: user.id, role: "admin" });
    const { record, key } = await createKey(within, {
      workspaceId: workspace.id,
      name: "first key",
      createdBy: user.id,
    });
    await fund?.(tx, workspace.id);
    return {
      organizationId: organization.id,
      workspaceId: workspace.id,
      userId: user.id,
      email: user.email,
      oneTimePassword: password,
      keyId: record.id,
      key,
    };
  });
}
