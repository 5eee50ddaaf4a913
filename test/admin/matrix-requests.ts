/** The request for each action of the matrix: by which role, on which object, and the same on an object that does not exist. */
import type { Action, Relation, Role } from "../../src/admin/index.ts";
import { newId } from "../../src/base/ids.ts";
import { call, type Answer } from "./support.ts";
import { cookieOf, newMember, password, signIn, type Person, type World } from "./people.ts";

interface Case {
  readonly role: Role;
  readonly relation: Relation;
}

interface Outcome {
  readonly answer: Answer;
  /** The same request on a missing object. */
  readonly missing?: () => Promise<Answer>;
}

type Ask = (world: World, one: Case) => Promise<Outcome>;

const actorOf = (world: World, role: Role): Person =>
  ({ organization_admin: world.root, workspace_admin: world.ann, member: world.mem })[role];

const placeOf = (world: World, relation: Relation) =>
  relation === "foreign" ? world.away : world.home;

/** Makes the same call on an object of the case and on a missing one, with its id in the path. */
function ofPath(
  pathOf: (world: World, one: Case) => Promise<string> | string,
  request: { method: string; path: (id: string) => string; body?: () => unknown; none: string },
): Ask {
  return async (world, one) => {
    const actor = actorOf(world, one.role);
    const ask = (id: string) => actor.call(request.method, request.path(id), request.body?.());
    return {
      answer: await ask(await pathOf(world, one)),
      missing: () => ask(request.none),
    };
  };
}

const ofWorkspace = (method: string, rest = "", body?: () => unknown): Ask =>
  ofPath((world, { relation }) => placeOf(world, relation).id, {
    method,
    path: (id) => `/workspaces/${id}${rest}`,
    ...(body && { body }),
    none: "ws_00000000000000000000000000",
  });

const ofOrganization = (method: string, body?: () => unknown): Ask =>
  ofPath((world, { relation }) => placeOf(world, relation).organizationId, {
    method,
    path: (id) => `/organizations/${id}`,
    ...(body && { body }),
    none: "org_00000000000000000000000000",
  });

/** The maker of a key with this relation to the role. */
function makerOf(world: World, { role, relation }: Case): Person {
  if (relation === "foreign") return world.bob;
  return relation === "own" ? actorOf(world, role) : world.mel;
}

async function freshKey(world: World, one: Case): Promise<string> {
  const { id } = world.must(
    await makerOf(world, one).call("POST", "/keys", {
      workspace_id: placeOf(world, one.relation).id,
      name: "of the matrix",
      spend_caps: { total: "10" },
    }),
  );
  return id;
}

const ofKey = (method: string, rest = "", body?: () => unknown, known?: string): Ask =>
  ofPath(known === undefined ? freshKey : () => known, {
    method,
    path: (id) => `/keys/${id}${rest}`,
    ...(body && { body }),
    none: "key_00000000000000000000000000",
  });

let people = 0;

/** The path of a member with this relation to the role; `fresh`: a new one, to be removed. */
async function memberOf(world: World, one: Case, fresh: boolean): Promise<string> {
  const place = placeOf(world, one.relation).id;
  if (one.relation === "own") return `${place}/members/${actorOf(world, one.role).userId}`;
  if (!fresh) {
    const person = one.relation === "foreign" ? world.bob : world.mel;
    return `${place}/members/${person.userId}`;
  }
  people += 1;
  const email = `person${people}@example.com`;
  const { userId } = await newMember(world.gateway, place, { email, role: "member" });
  return `${place}/members/${userId}`;
}

const ofMember = (method: string, body?: () => unknown, fresh = false): Ask =>
  ofPath((world, one) => memberOf(world, one, fresh), {
    method,
    path: (rest) => `/workspaces/${rest}`,
    ...(body && { body }),
    none: "ws_00000000000000000000000000/members/user_00000000000000000000000000",
  });

/** A user who removed themselves comes back by an invitation, which they accept as the same user. */
const removing: Ask = async (world, one) => {
  const outcome = await ofMember("DELETE", undefined, true)(world, one);
  if (one.relation === "own" && outcome.answer.status === 200) {
    const { email, cookie } = actorOf(world, one.role);
    const { invitation } = world.must(
      await world.gateway.admin("POST", `/workspaces/${world.home.id}/members`, {
        email,
        role: one.role === "member" ? "member" : "admin",
      }),
    );
    const token = (invitation.url as string).split("#").at(-1);
    world.must(
      await call(world.gateway.url, "POST", "/auth/invitations/accept", {
        body: { token },
        headers: { cookie },
      }),
    );
  }
  return outcome;
};

async function freshInvitation(world: World, { relation }: Case): Promise<string> {
  const place = placeOf(world, relation).id;
  const email = `invited${counted()}@example.com`;
  const { invitation } = world.must(
    await world.gateway.admin("POST", `/workspaces/${place}/members`, { email, role: "member" }),
  );
  return `${place}/invitations/${invitation.id}`;
}

/** A key whose expiry an admin has set; the case removes it. */
const loosening: Ask = async (world, one) => {
  const id = await freshKey(world, one);
  const expires_at = "2099-01-01T00:00:00Z";
  world.must(await world.gateway.admin("PATCH", `/keys/${id}`, { expires_at }));
  return ofKey("PATCH", "", () => ({ expires_at: null }), id)(world, one);
};

const keyCreationFor: Ask = async (world, { role, relation }) => {
  const { userId } = relation === "foreign" ? world.bob : world.mel;
  const ask = (id: string) =>
    actorOf(world, role).call("POST", "/keys", {
      workspace_id: id,
      name: "made for",
      user_id: userId,
    });
  return {
    answer: await ask(placeOf(world, relation).id),
    missing: () => ask("ws_00000000000000000000000000"),
  };
};

const always =
  (ask: (actor: Person, world: World) => Promise<Answer>): Ask =>
  async (world, { role }) => ({ answer: await ask(actorOf(world, role), world) });

const keyCreation: Ask = async (world, { role, relation }) => {
  const ask = (id: string) =>
    actorOf(world, role).call("POST", "/keys", { workspace_id: id, name: "made" });
  return {
    answer: await ask(placeOf(world, relation).id),
    missing: () => ask("ws_00000000000000000000000000"),
  };
};

const tokenCreation = (world: World, person: Person): Promise<Answer> =>
  call(world.gateway.url, "POST", "/tokens", {
    body: { name: "made" },
    headers: { cookie: person.cookie },
  });

const tokenRevocation: Ask = async (world, { role, relation }) => {
  const actor = actorOf(world, role);
  const { id } = (await tokenCreation(world, relation === "own" ? actor : world.bob)).json;
  return {
    answer: await actor.call("DELETE", `/tokens/${id}`),
    missing: () => actor.call("DELETE", "/tokens/token_00000000000000000000000000"),
  };
};

/** Ends a new session of the actor, or of another user. The actor calls with a personal token. */
const sessionEnding: Ask = async (world, { role, relation }) => {
  const actor = actorOf(world, role);
  const holder = relation === "own" ? actor : world.bob;
  const secret = holder === world.root ? world.gateway.first!.adminPassword : password;
  const cookie = cookieOf(await signIn(world.gateway, holder.email, secret));
  const { json } = await call(world.gateway.url, "GET", "/sessions", { headers: { cookie } });
  const { id } = (json.data as { id: string; current: boolean }[]).find((one) => one.current)!;
  return {
    answer: await actor.call("DELETE", `/sessions/${id}`),
    missing: () => actor.call("DELETE", "/sessions/session_00000000000000000000000000"),
  };
};

/** Inserts a call of a key with this relation to the role into the request log. */
async function freshRequest(world: World, one: Case): Promise<string> {
  const id = newId("req");
  await world.gateway.database.query(
    "insert into requests (workspace_id, id, key_id, status) values ($1, $2, $3, 'succeeded')",
    [placeOf(world, one.relation).id, id, await freshKey(world, one)],
  );
  return id;
}

async function freshTask(world: World, one: Case): Promise<string> {
  const id = newId("task");
  await world.gateway.database.query(
    `insert into tasks (workspace_id, id, key_id, member_id, kind, family, model, form, status, request, plan, reserved_nano,
       expires_at, created_at, updated_at)
     values ($1, $2, $3, $4, 'video', 'video-v1', 'm', 'tasks', 'canceled', '{}', '{"offers": [], "explanation": null}', 0, now(), now(), now())`,
    [placeOf(world, one.relation).id, id, await freshKey(world, one), makerOf(world, one).userId],
  );
  return id;
}

/** The callback of a task, already delivered. */
async function freshDelivery(world: World, one: Case): Promise<string> {
  const id = newId("evt");
  await world.gateway.database.query(
    `insert into webhook_deliveries (workspace_id, id, task_id, type, url, status, created_at, updated_at)
     values ($1, $2, $3, 'task.failed', 'https://receiver.invalid/', 'delivered', now(), now())`,
    [placeOf(world, one.relation).id, id, await freshTask(world, one)],
  );
  return id;
}

const ofTrail = (make: typeof freshTask, method: string, path: string, rest = ""): Ask =>
  ofPath(make, { method, path: (id) => `/${path}/${id}${rest}`, none: "none_0" });

/** The API has no call for one delivery: it is in the list, or does not exist for the reader. */
const deliveryReading: Ask = async (world, one) => {
  const id = await freshDelivery(world, one);
  const actor = actorOf(world, one.role);
  const { json, ...answer } = await actor.call("GET", "/webhook_deliveries?limit=100");
  const seen = (json.data as { id: string }[]).some((row) => row.id === id);
  if (seen) return { answer: { ...answer, json } };
  const missing = () => actor.call("GET", "/requests/none_0");
  return { answer: await missing(), missing };
};

/** A provider that receives no calls. */
const providerBody = () => ({
  id: `made${counted()}`,
  dialect: "openai-compatible",
  base_url: "https://8.8.8.8/v1",
  api_key: "key-of-the-matrix",
  models: [
    {
      id: `made/model${counted()}`,
      kind: "text",
      context_length: 1000,
      max_output_tokens: 100,
      offers: [{ protocol: "chat", upstream_model: "m", price: { input: "1", output: "1" } }],
    },
  ],
});

const ofFreshProvider =
  (ask: (actor: Person, path: string) => Promise<Answer>): Ask =>
  async (world, { role }) => {
    const { id } = world.must(await world.gateway.admin("POST", "/providers", providerBody()));
    return { answer: await ask(actorOf(world, role), `/providers/${id}`) };
  };

const counted = () => String((people += 1));

export const actionRequests: Readonly<Record<Action, Ask>> = {
  "organization.read": ofOrganization("GET"),
  "organization.create": always((actor) => actor.call("POST", "/organizations", { name: "new" })),
  "organization.change": ofOrganization("PATCH", () => ({ name: `name ${counted()}` })),
  "workspace.read": ofWorkspace("GET"),
  "workspace.create": always((actor) => actor.call("POST", "/workspaces", { name: "new" })),
  "workspace.change": ofWorkspace("PATCH", "", () => ({ name: `name ${counted()}` })),
  "workspace.set_spend_caps": ofWorkspace("PATCH", "", () => ({
    spend_caps: { total: counted() },
  })),
  "workspace.set_credit_line": ofWorkspace("PATCH", "", () => ({ credit_line: counted() })),
  "workspace.set_rate_limits": ofWorkspace("PATCH", "", () => ({
    rate_limits: { requests_per_minute: Number(counted()) },
  })),
  "workspace.set_status": async (world, one) => {
    const outcome = await ofWorkspace("PATCH", "", () => ({ status: "disabled" }))(world, one);
    const { id } = placeOf(world, one.relation);
    world.must(await world.gateway.admin("PATCH", `/workspaces/${id}`, { status: "active" }));
    return outcome;
  },
  "workspace.add_credits": ofWorkspace("POST", "/credits", () => ({ amount: "1.00" })),
  "balance.read": ofWorkspace("GET", "/balance"),
  "ledger.read": ofWorkspace("GET", "/ledger"),
  "signing_secret.read": ofWorkspace("GET", "/signing_secret"),
  "signing_secret.change": ofWorkspace("PATCH", "/signing_secret", () => ({ enabled: true })),
  "signing_secret.rotate": ofWorkspace("POST", "/signing_secret/rotate"),
  "member.read": ofMember("GET"),
  "member.create": ofWorkspace("POST", "/members", () => ({
    email: `joins${counted()}@example.com`,
    role: "member",
  })),
  "member.change": ofMember("PATCH", () => ({ spend_caps: { daily: counted() } })),
  "member.reset_password": ofPath((world, one) => memberOf(world, one, false), {
    method: "POST",
    path: (rest) => `/workspaces/${rest}/reset_password`,
    none: "ws_00000000000000000000000000/members/user_00000000000000000000000000",
  }),
  "member.delete": removing,
  "invitation.revoke": ofPath(freshInvitation, {
    method: "DELETE",
    path: (rest) => `/workspaces/${rest}`,
    none: "ws_00000000000000000000000000/invitations/inv_00000000000000000000000000",
  }),
  "key.read": ofKey("GET"),
  "key.create": keyCreation,
  "key.create_for_member": keyCreationFor,
  "key.change": ofKey("PATCH", "", () => ({ name: "renamed" })),
  "key.loosen_spend_caps": ofKey("PATCH", "", () => ({ spend_caps: { total: "11" } })),
  "key.loosen_limits": loosening,
  "key.disable": ofKey("POST", "/disable"),
  "key.enable": ofKey("POST", "/enable"),
  "key.revoke": ofKey("POST", "/revoke"),
  "key.reveal": ofKey("POST", "/reveal"),
  "key.rotate": ofKey("POST", "/rotate"),
  "token.create": async (world, { role }) => ({
    answer: await tokenCreation(world, actorOf(world, role)),
  }),
  "token.read": always((actor) => actor.call("GET", "/tokens")),
  "token.revoke": tokenRevocation,
  "session.read": always((actor) => actor.call("GET", "/sessions")),
  "session.end": sessionEnding,
  "request.read": ofTrail(freshRequest, "GET", "requests"),
  "task.read": ofTrail(freshTask, "GET", "tasks"),
  // The answer for a canceled task is the task.
  "task.cancel": ofTrail(freshTask, "POST", "tasks", "/cancel"),
  "delivery.read": deliveryReading,
  "delivery.redeliver": ofTrail(freshDelivery, "POST", "webhook_deliveries", "/redeliver"),
  "webhook.test": ofWorkspace("POST", "/webhook_test", () => ({
    url: "https://receiver.invalid/",
  })),
  "usage.read": always((actor) => actor.call("GET", "/usage")),
  "model.read": always((actor) => actor.call("GET", "/models")),
  "provider.read": always((actor) => actor.call("GET", "/providers")),
  "provider.create": always((actor) => actor.call("POST", "/providers", providerBody())),
  "provider.change": ofFreshProvider((actor, path) =>
    actor.call("PATCH", path, { tier: "partner" }),
  ),
  "provider.delete": ofFreshProvider((actor, path) => actor.call("DELETE", path)),
  "provider.test": always((actor) => actor.call("POST", "/providers/sandbox-openai/test", {})),
  "provider.pause": ofFreshProvider((actor, path) => actor.call("POST", `${path}/pause`, {})),
  "gateway.read": always((actor) => actor.call("GET", "/gateways")),
  "hook.read": always((actor) => actor.call("GET", "/hooks")),
  "vendor.read": always((actor) => actor.call("GET", "/vendors")),
  "personal_data.erase": always((actor) =>
    actor.call("POST", "/erasures", { end_user: "nobody", dry_run: true }),
  ),
  "ledger.verify": always((actor) => actor.call("POST", "/verify", {})),
  "catalog.read": always((actor) => actor.call("GET", "/catalog")),
  "catalog.change": always((actor) => actor.call("POST", "/catalog/rollback", { version: 0 })),
  "audit.read": always((actor, world) => actor.call("GET", `/audit?workspace_id=${world.home.id}`)),
};
