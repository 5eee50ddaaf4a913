/** Two organizations with a workspace each, and people in every role, signed in. For tests of who may do what. */
import { call, startAdminGateway, type AdminGateway, type Answer } from "./support.ts";

/** Somebody who can call the management API. */
export interface Person {
  readonly userId: string;
  readonly email: string;
  readonly token: string;
  readonly cookie: string;
  call(method: string, path: string, body?: unknown): Promise<Answer>;
}

const password = "correct horse battery";

function must(answer: Answer): Answer["json"] {
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
  return answer.json;
}

/** Signs in, and makes a personal token. */
async function signedIn(
  gateway: AdminGateway,
  user: { userId: string; email: string; password: string },
): Promise<Person> {
  const { userId, email } = user;
  const session = await call(gateway.url, "POST", "/auth/sign-in/email", {
    body: { email, password: user.password },
  });
  must(session);
  const cookie = session.headers
    .getSetCookie()
    .map((one) => one.split(";")[0])
    .join("; ");
  const { token } = must(
    await call(gateway.url, "POST", "/tokens", { body: { name: "test" }, headers: { cookie } }),
  );
  return {
    userId,
    email,
    token,
    cookie,
    call: (method, path, body) => call(gateway.url, method, path, { token, body }),
  };
}

/** Adds a member with a password and signs them in. */
export async function newMember(
  gateway: AdminGateway,
  workspaceId: string,
  member: { email: string; role: "admin" | "member" },
): Promise<Person> {
  const { user_id: userId } = must(
    await gateway.admin("POST", `/workspaces/${workspaceId}/members`, { ...member, password }),
  );
  return signedIn(gateway, { userId, email: member.email, password });
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
  const { adminEmail, adminPassword } = gateway.first!;
  return {
    gateway,
    home,
    away,
    root: await signedIn(gateway, { userId: row!.id, email: adminEmail, password: adminPassword }),
    ann: await newMember(gateway, home.id, { email: "ann@example.com", role: "admin" }),
    mem: await newMember(gateway, home.id, { email: "mem@example.com", role: "member" }),
    mel: await newMember(gateway, home.id, { email: "mel@example.com", role: "member" }),
    bob: await newMember(gateway, away.id, { email: "bob@example.com", role: "admin" }),
    must,
  };
}

export type World = Awaited<ReturnType<typeof startWorld>>;
