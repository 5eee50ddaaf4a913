/** Every page of the console and every place with its own address, and which of the four people see it. */
import type { Walk } from "./people.ts";

/** One sign for each of the four people, in order: `+` they see it or may do it, `-` they do not. */
export type Signs = `${"+" | "-"}${"+" | "-"}${"+" | "-"}${"+" | "-"}`;

interface Place {
  /** The path in the router. */
  readonly path: string;
  /** The address for a person, with the ids of their own objects. */
  readonly at: (walk: Walk) => string | Promise<string>;
  /** People who may not see it read that there is no such page, and find no controls. */
  readonly seen: Signs;
  /** For people who are not signed in. */
  readonly outside?: true;
}

const all = "++++";
const admins = "+++-";
const root = "++--";

const home = ({ world }: Walk) => `ws=${world.home.id}`;
const key = (walk: Walk) => `/keys/${walk.own.key}`;

/** A running task of the person; it takes longer than any test. */
async function running({ world, own }: Walk): Promise<string> {
  const answer = await fetch(`${world.gateway.url}/v1/tasks`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${own.secret}` },
    body: JSON.stringify({
      model: "sandbox/video-model-seconds",
      prompt: 'A\n#sandbox {"task_seconds":600}',
      duration: 2,
    }),
  });
  return `/tasks/${((await answer.json()) as { id: string }).id}`;
}

/** The address of a page with a token behind `#`, from the URL that an admin was given. */
const linkOf = (page: string, url: string): string => `${page}#${url.split(/[/#]/).at(-1)}`;

/** An invitation of a new person into a workspace. */
async function invitation({ world }: Walk): Promise<string> {
  const { id } = await world.admin("POST", "/workspaces", { name: "to be joined" });
  const email = `joins-${id}@example.com`.toLowerCase();
  const { invitation: made } = await world.admin("POST", `/workspaces/${id}/members`, {
    email,
    role: "member",
  });
  return linkOf("/join", made.url);
}

async function reset({ world }: Walk): Promise<string> {
  const { userId } = await world.somebody();
  const path = `/workspaces/${world.home.id}/members/${userId}/reset_password`;
  return linkOf("/reset", (await world.admin("POST", path)).url);
}

export const places = {
  first: { path: "/", at: () => "/", seen: all },
  "sign-in": { path: "/sign-in", at: () => "/sign-in", seen: all, outside: true },
  password: { path: "/password", at: () => "/password", seen: all },
  join: { path: "/join", at: invitation, seen: all },
  reset: { path: "/reset", at: reset, seen: all, outside: true },
  start: { path: "/start", at: (walk) => `/start?${home(walk)}`, seen: all },
  overview: { path: "/overview", at: (walk) => `/overview?${home(walk)}`, seen: all },
  requests: { path: "/requests", at: (walk) => `/requests?${home(walk)}`, seen: all },
  request: { path: "/requests/$id", at: ({ own }) => `/requests/${own.request}`, seen: all },
  playground: { path: "/playground", at: (walk) => `/playground?${home(walk)}`, seen: all },
  tasks: { path: "/tasks", at: (walk) => `/tasks?${home(walk)}`, seen: all },
  task: { path: "/tasks/$id", at: ({ own }) => `/tasks/${own.task}`, seen: all },
  "task that runs": { path: "/tasks/$id", at: running, seen: all },
  keys: { path: "/keys", at: (walk) => `/keys?${home(walk)}`, seen: all },
  "new key": { path: "/keys", at: (walk) => `/keys?${home(walk)}&new=1`, seen: all },
  key: { path: "/keys/$id", at: key, seen: all },
  "key, caps": { path: "/keys/$id", at: (walk) => `${key(walk)}?tab=caps`, seen: all },
  "key, models": { path: "/keys/$id", at: (walk) => `${key(walk)}?tab=models`, seen: all },
  "key, routing": { path: "/keys/$id", at: (walk) => `${key(walk)}?tab=routing`, seen: all },
  money: { path: "/money", at: (walk) => `/money?${home(walk)}`, seen: all },
  ledger: { path: "/money/ledger", at: (walk) => `/money/ledger?${home(walk)}`, seen: admins },
  models: { path: "/models", at: () => "/models", seen: all },
  catalogue: { path: "/models", at: () => "/models?catalog=1", seen: all },
  model: { path: "/models/$vendor/$", at: () => "/models/sandbox/chat", seen: all },
  compare: {
    path: "/models/compare",
    at: () => "/models/compare?ids=sandbox/chat,sandbox/messages",
    seen: all,
  },
  providers: { path: "/providers", at: () => "/providers", seen: all },
  provider: {
    path: "/providers/$id",
    at: async ({ world }) => `/providers/${await world.provider()}`,
    seen: all,
  },
  settings: { path: "/settings", at: (walk) => `/settings?${home(walk)}`, seen: all },
  members: { path: "/settings/members", at: settings("members"), seen: admins },
  workspaces: { path: "/settings/workspaces", at: settings("workspaces"), seen: admins },
  workspace: {
    path: "/settings/workspaces/$id",
    at: ({ world }) => `/settings/workspaces/${world.home.id}`,
    seen: admins,
  },
  organization: { path: "/settings/organization", at: settings("organization"), seen: root },
  callbacks: { path: "/settings/callbacks", at: settings("callbacks"), seen: admins },
  alerts: { path: "/settings/alerts", at: settings("alerts"), seen: admins },
  hooks: { path: "/settings/hooks", at: settings("hooks"), seen: root },
  gateways: { path: "/settings/gateways", at: settings("gateways"), seen: root },
  audit: { path: "/settings/audit", at: settings("audit"), seen: admins },
  account: { path: "/account", at: () => "/account", seen: all },
} as const satisfies Readonly<Record<string, Place>>;

export type PlaceName = keyof typeof places;

/** A page of settings, for the workspace `home`. */
function settings(name: string): (walk: Walk) => string {
  return (walk) => `/settings/${name}?${home(walk)}`;
}

export const placeOf = (name: PlaceName): Place => places[name];
