/** Two organizations with a workspace each, and signed-in people in every role. For tests of rights. */
import { createSessions, createToken } from "../../src/admin/index.ts";
import { silentLog } from "../../src/base/log.ts";
import { addMember, createUser, hashFor } from "../../src/tenancy/index.ts";
import { call, startAdminGateway, type AdminGateway, type Answer } from "./support.ts";

/** A person who can call the management API. */
export interface Person {
  readonly userId: string;
  readonly email: string;
  readonly token: string;
  readonly cookie: string;
  call(method: string, path: string, body?: unknown): Promise<Answer>;
}

export const password = "correct horse battery staple";

function must(answer: Answer): Answer["json"] {
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
  return answer.json;
}

/** The cookies of an answer, as a browser sends them back. */
export const cookieOf = (answer: Pick<Answer, "headers">): string =>
  answer.headers
    .getSetCookie()
    .map((one) => one.split(";")[0])
    .join("; ");

export const signIn = (gateway: Pick<AdminGateway, "url">, email: string, secret: string) =>
  call(gateway.url, "POST", "/auth/sign-in/email", { body: { email, password: secret } });

/** An existing user, with a session and a personal token. */
export async function person(
  gateway: AdminGateway,
  { userId, email }: { userId: string; email: string },
): Promise<Person> {
  const internals = await gateway.internals();
  const sessions = createSessions({
    ...internals,
    oidc: undefined,
    publicUrl: () => gateway.url,
    log: silentLog,
  });
  const opening = { userId, passwordChangeRequired: false, remember: true };
  const cookie = cookieOf(await sessions.open(opening, new Headers()));
  const { token } = await createToken(internals, { userId, name: "test", expiresAt: null });
  return {
    userId,
    email,
    token,
    cookie,
    call: (method, path, body) => call(gateway.url, method, path, { token, body }),
  };
}

/** The hash of `password`, shared by first users of an address: hashing takes a tenth of a second each time, on purpose. */
let hashed: Promise<string> | undefined;

async function hashOf(internals: Parameters<typeof hashFor>[0], email: string): Promise<string> {
  const others = await internals.database.query("select 1 from users where email = $1", [email]);
  if (others.length > 0) return hashFor(internals, email, password);
  return (hashed ??= hashFor(internals, email, password));
}

/**
 * A member as after accepting an invitation: with `password`, a session and a token. The rows are written directly; inviting.ts
 * is for tests about how people join.
 */
export async function newMember(
  gateway: AdminGateway,
  workspaceId: string,
  { email, role }: { email: string; role: "admin" | "member" },
): Promise<Person> {
  const internals = await gateway.internals();
  const hash = await hashOf(internals, email);
  const { id: userId } = await createUser(internals, { email, name: email, role: "user", hash });
  await addMember(internals, { workspaceId, userId, role });
  return person(gateway, { userId, email });
}

export async function startWorld(options: Parameters<typeof startAdminGateway>[0] = {}) {
  const gateway = await startAdminGateway(options);
  const { admin } = gateway;
  const workspace = async (name: string) => {
    const organization = must(await admin("POST", "/organizations", { name }));
    const { id } = must(
      await admin("POST", "/workspaces", { name, organization_id: organization.id }),
    );
    return { id: id as string, organizationId: organization.id as string };
  };
  const home = await workspace("home");
  const away = await workspace("away");
  const [row] = await gateway.database.query<{ id: string }>(
    "select id from users where role = 'admin'",
  );
  const { adminEmail } = gateway.first!;
  return {
    gateway,
    home,
    away,
    root: await person(gateway, { userId: row!.id, email: adminEmail }),
    ann: await newMember(gateway, home.id, { email: "ann@example.com", role: "admin" }),
    mem: await newMember(gateway, home.id, { email: "mem@example.com", role: "member" }),
    mel: await newMember(gateway, home.id, { email: "mel@example.com", role: "member" }),
    bob: await newMember(gateway, away.id, { email: "bob@example.com", role: "admin" }),
    must,
  };
}

export type World = Awaited<ReturnType<typeof startWorld>>;
