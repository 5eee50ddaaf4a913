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

const given = "correct horse battery";
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

/** Somebody with the cookie of a session; makes a personal token. */
async function person(
  gateway: AdminGateway,
  user: { userId: string; email: string; cookie: string },
): Promise<Person> {
  const { userId, email, cookie } = user;
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

/** Adds a member with a password, who signs in, changes it, and so accepts. */
export async function newMember(
  gateway: AdminGateway,
  workspaceId: string,
  member: { email: string; role: "admin" | "member" },
): Promise<Person> {
  const { email } = member;
  const { user_id: userId } = must(
    await gateway.admin("POST", `/workspaces/${workspaceId}/members`, {
      ...member,
      password: given,
    }),
  );
  const first = await signIn(gateway, email, given);
  must(first);
  const changed = await call(gateway.url, "POST", "/auth/change-password", {
    body: { currentPassword: given, newPassword: password },
    headers: { cookie: cookieOf(first) },
  });
  must(changed);
  return person(gateway, { userId, email, cookie: cookieOf(changed) });
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
  const session = await signIn(gateway, adminEmail, adminPassword);
  must(session);
  return {
    gateway,
    home,
    away,
    root: await person(gateway, { userId: row!.id, email: adminEmail, cookie: cookieOf(session) }),
    ann: await newMember(gateway, home.id, { email: "ann@example.com", role: "admin" }),
    mem: await newMember(gateway, home.id, { email: "mem@example.com", role: "member" }),
    mel: await newMember(gateway, home.id, { email: "mel@example.com", role: "member" }),
    bob: await newMember(gateway, away.id, { email: "bob@example.com", role: "admin" }),
    must,
  };
}

export type World = Awaited<ReturnType<typeof startWorld>>;
