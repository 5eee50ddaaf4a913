/** The four people who walk the console, each in their own window, and their objects. */
import type { Page } from "playwright-core";
import { createUser, hashFor } from "../../../src/tenancy/index.ts";
import { newMember, password, person, type Person } from "../../admin/people.ts";
import { call, type Answer } from "../../admin/support.ts";
import { answering, providerBody } from "../../providers/support.ts";
import { startRecorder, type Recorder } from "../../support/recorder.ts";
import { eventually } from "../../support/patience.ts";
import { visit, type Visit } from "../browser.ts";
import { furnish, startConsoleWorld, type ConsoleWorld } from "../world.ts";

/** A new administrator with a one-time password; another administrator; the admin of a workspace; its member. */
export const people = ["new", "org", "ws", "member"] as const;
export type Who = (typeof people)[number];

export interface Walk extends Omit<Visit, "close"> {
  readonly who: Who;
  readonly world: WalkWorld;
  readonly userId: string;
  readonly email: string;
  /** Changed during the walk. */
  password: string;
  /** Calls the API with the session of their window. */
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  /** The same; @throws Error if the call is refused */
  must(method: string, path: string, body?: unknown): Promise<Answer["json"]>;
  /** Makes a new key of theirs in the workspace `home`. */
  key(name: string, more?: object): Promise<{ readonly id: string; readonly key: string }>;
  /** Returns a unique name. */
  fresh(what: string): string;
  /** One object of theirs of each kind. */
  readonly own: Owned;
  /** The writing requests of their windows, in order. */
  readonly sent: Sent[];
  /** Also records the requests of another window of theirs. */
  watch(another: Visit): Promise<void>;
}

export interface Sent {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly body: string | null;
}

interface Owned {
  readonly key: string;
  readonly secret: string;
  readonly request: string;
  readonly task: string;
}

export interface WalkWorld extends ConsoleWorld {
  readonly upstream: Recorder;
  readonly walks: Readonly<Record<Who, Walk>>;
  /** Calls the API with the organization's token. @throws Error if the call is refused */
  admin(method: string, path: string, body?: unknown): Promise<Answer["json"]>;
  /** Makes a new person in `home`. */
  somebody(): Promise<Person>;
  /** Adds a provider by the API; returns its id. */
  provider(): Promise<string>;
}

const twoKeys = [
  { id: "one", api_key: "key-one" },
  { id: "two", api_key: "key-two" },
];

let counted = 0;
const next = (): number => (counted += 1);

/** Another administrator of the organization. */
async function secondAdministrator({ gateway }: ConsoleWorld): Promise<Person> {
  const internals = await gateway.internals();
  const email = "org@example.com";
  const hash = await hashFor(internals, email, password);
  const { id: userId } = await createUser(internals, { email, name: email, role: "admin", hash });
  return person(gateway, { userId, email });
}

/** Signs in with the password that the first start printed. */
async function firstSignIn(world: ConsoleWorld): Promise<Visit> {
  const { adminEmail, adminPassword } = world.gateway.first!;
  const visited = await visit({ url: world.gateway.url });
  const { page } = visited;
  await page.goto("/");
  await page.getByLabel("E-mail").fill(adminEmail);
  await page.getByLabel("Password", { exact: true }).fill(adminPassword);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL((url) => url.pathname !== "/sign-in");
  return visited;
}

/** A person's own objects: a key, a call of it, and a task with a callback. */
async function ownOf(world: ConsoleWorld, key: Walk["key"]): Promise<Owned> {
  const { id, key: secret } = await key("their own", { spend_caps: { daily: "40" } });
  const request = await world.chat(secret);
  const task = await world.video(secret, { webhook_url: "https://127.0.0.1:9/hook" });
  return { key: id, secret, request, task };
}

/** Reports the bodies of requests: the browser does not show those that are streams. */
const tellBodies = `(() => {
  const plain = globalThis.fetch;
  globalThis.fetch = async (input, ...more) => {
    if (input instanceof Request && input.method !== "GET")
      await tellBody(input.method + " " + new URL(input.url).pathname, await input.clone().text());
    return plain(input, ...more);
  };
})()`;

/** Adds the writing requests of a window to a list. */
async function watchSent(page: Page, sent: Sent[]): Promise<void> {
  const bodies = new Map<string, string>();
  await page.exposeFunction("tellBody", (name: string, text: string) => bodies.set(name, text));
  await page.addInitScript(tellBodies);
  page.on("request", (request) => {
    const method = request.method();
    const { pathname: path, protocol } = new URL(request.url());
    if (method === "GET" || !protocol.startsWith("http")) return;
    const body = bodies.get(`${method} ${path}`) || request.postData();
    sent.push({ method, path, body });
  });
}

async function walkOf(
  who: Who,
  world: ConsoleWorld,
  { userId, email }: Pick<Person, "userId" | "email">,
  visited: Visit,
): Promise<Omit<Walk, "world">> {
  const { page } = visited;
  const sent: Sent[] = [];
  const watch = (another: Visit) => watchSent(another.page, sent);
  await watch(visited);
  const ask: Walk["call"] = async (method, path, body) => {
    const cookies = await page.context().cookies();
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
    return call(world.gateway.url, method, path, { headers: { cookie }, body });
  };
  const must: Walk["must"] = async (...request) => world.must(await ask(...request));
  const key: Walk["key"] = (name, more = {}) =>
    must("POST", "/keys", { workspace_id: world.home.id, name, ...more });
  return {
    ...visited,
    who,
    userId,
    email,
    password: who === "new" ? world.gateway.first!.adminPassword : password,
    call: ask,
    must,
    key,
    fresh: (what) => `${what} ${next()} of ${who}`,
    own: await ownOf(world, key),
    sent,
    watch,
  };
}

/** Fails callbacks that wait for their next attempt: otherwise the gateway would send them again by itself. */
async function failPendingCallbacks({ gateway }: ConsoleWorld): Promise<boolean> {
  const { database } = gateway;
  await database.query(
    "update webhook_deliveries set status = 'failed', due_at = null where status = 'pending' and attempts > 0",
  );
  const waiting = await database.query("select 1 from webhook_deliveries where status = 'pending'");
  return waiting.length === 0;
}

/** The workspaces `home` and `away`, the four signed-in people, and an upstream for providers that are added. */
export async function startWalkWorld(): Promise<WalkWorld> {
  const upstream = await startRecorder(answering);
  const world = await startConsoleWorld();
  await furnish(world);
  const url = world.gateway.url;
  const org = await secondAdministrator(world);
  const [first, second, third, fourth] = await Promise.all([
    walkOf("new", world, world.root, await firstSignIn(world)),
    walkOf("org", world, org, await visit({ url, cookie: org.cookie })),
    walkOf("ws", world, world.ann, await world.open("ann")),
    walkOf("member", world, world.mem, await world.open("mem")),
  ]);
  const walks = { new: first, org: second, ws: third, member: fourth };
  const admin: WalkWorld["admin"] = async (...request) =>
    world.must(await world.gateway.admin(...request));
  const whole: WalkWorld = {
    ...world,
    upstream,
    walks: walks as unknown as WalkWorld["walks"],
    admin,
    somebody: () =>
      newMember(world.gateway, world.home.id, {
        email: `somebody${next()}@example.com`,
        role: "member",
      }),
    async provider() {
      const id = `added${next()}`;
      await admin(
        "POST",
        "/providers",
        providerBody(id, upstream.url, { api_key: undefined, credentials: twoKeys }),
      );
      return id;
    },
    async close() {
      await world.close();
      await upstream.close();
    },
  };
  for (const walk of Object.values(walks)) Object.assign(walk, { world: whole });
  await eventually(() => failPendingCallbacks(world), "each callback had its try");
  return whole;
}
