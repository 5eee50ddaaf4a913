/** Checks a place, or performs an action, as one person; returns the differences from the table. */
import { shortOrLong } from "../../support/long.ts";
import { eventually } from "../../support/patience.ts";
import { arrive } from "../arrive.ts";
import { seriousFindings } from "../axe.ts";
import { mayDo, type Action } from "./action.ts";
import { actions } from "./actions.ts";
import { people, type Sent, type Walk } from "./people.ts";
import { placeOf, places, type PlaceName } from "./places.ts";

/** True if one of the controls that offer it is present and enabled. */
async function isOffered(walk: Walk, { offer }: Action): Promise<boolean> {
  for (const one of await offer(walk.page).all()) if (await one.isEnabled()) return true;
  return false;
}

/** Waits until all permitted actions are offered. Returns the offered actions that are not permitted. */
async function offersAt(walk: Walk, name: PlaceName): Promise<string[]> {
  const faults: string[] = [];
  for (const action of actions.filter(({ place }) => place === name)) {
    const { may, instead } = action;
    if (mayDo(may, walk.who)) {
      await eventually(() => isOffered(walk, action), `${name} offers: ${action.name}`);
    } else if (instead !== undefined) await instead(walk.page).waitFor();
    else if (await isOffered(walk, action)) faults.push(`offers: ${action.name}`);
  }
  return faults;
}

/** Findings of an accessibility checker in both schemes; in the short form every-page.test.ts does that. */
async function inaccessible({ page, settled }: Walk): Promise<string[]> {
  const faults: string[] = [];
  for (const colorScheme of shortOrLong<("light" | "dark")[]>([], ["light", "dark"])) {
    await page.emulateMedia({ colorScheme });
    await settled();
    faults.push(...(await seriousFindings(page)).map((found) => `${colorScheme}: ${found}`));
  }
  return faults;
}

/** Pages by the shape of their addresses; those without parameters first. */
const shapes = Object.values(places)
  .toSorted((one, other) => Number(one.path.includes("$")) - Number(other.path.includes("$")))
  .map(({ path, seen }) => ({
    shape: new RegExp(`^${path.replaceAll(/\$\w+/g, "[^/]+").replace(/\$$/, ".+")}$`),
    seen,
  }));

/** Links to pages that the reader cannot see, or to missing pages. */
async function blindLinks({ page, who, world }: Walk): Promise<string[]> {
  const links = await page
    .locator("a[href]")
    .evaluateAll((all) => all.map((one) => (one as unknown as { href: string }).href));
  return links.filter((href) => {
    const { origin, pathname } = new URL(href);
    const found = shapes.find(({ shape }) => shape.test(decodeURIComponent(pathname)));
    return origin !== world.gateway.url || found === undefined || !mayDo(found.seen, who);
  });
}

/** The differences from the table at a place, for one person. */
export async function lookAt(walk: Walk, name: PlaceName): Promise<string[]> {
  const place = placeOf(name);
  await arrive(walk, await place.at(walk));
  const main = walk.page.getByRole("main");
  const faults: string[] = [];
  if (mayDo(place.seen, walk.who)) {
    faults.push(...(await main.getByText(/There is no such|does not allow/).allInnerTexts()));
  } else {
    await main.getByRole("alert").getByText("There is no such page").waitFor();
    faults.push(...(await main.getByRole("button").allInnerTexts()));
  }
  faults.push(...(await offersAt(walk, name)));
  faults.push(...(await blindLinks(walk)).map((href) => `leads to what is not there: ${href}`));
  return [...faults, ...(await inaccessible(walk)), ...walk.complaints.splice(0)];
}

/** True if a request matches a template such as "POST /admin/v1/keys/{id}". */
const isOf = ({ method, path }: Sent, call: string): boolean =>
  new RegExp(`^${call.replaceAll(/\{\w+\}/g, "[^ ]+")}$`).test(`${method} ${path}`);

/** Calls that every person may make for themselves. */
const requestsOfAnyone = /^(?:POST \/admin\/v1\/(?:tokens|keys)|DELETE \/admin\/v1\/sessions)$/;

/**
 * Repeats the page's requests as each of the four people without the right, and as two unrelated ones. Returns those that were
 * not refused.
 */
async function notRefusedToOthers({ world }: Walk, { may }: Action, sent: readonly Sent[]) {
  const taken: string[] = [];
  const others = people.filter((who) => !mayDo(may, who)).map((who) => world.walks[who]);
  const done = new Set<string>();
  for (const one of sent.filter(({ path }) => path.startsWith("/admin/"))) {
    const body: unknown = one.body === null ? undefined : JSON.parse(one.body);
    const name = `${one.method} ${one.path}`;
    // A later request of the same name is the undo, which would only set the present value.
    if (done.has(name)) continue;
    done.add(name);
    const strangers = requestsOfAnyone.test(name) ? [] : [world.bob, world.mel];
    for (const other of [...others, ...strangers]) {
      const { status } = await other.call(one.method, one.path.replace("/admin/v1", ""), body);
      if (status !== 403 && status !== 404) taken.push(`${name} of ${other.email}: ${status}`);
    }
  }
  return taken;
}

/**
 * Performs it. Returns requests that are not in the table, missing requests, the browser's complaints, and requests that others
 * could make too.
 */
export async function doIt(walk: Walk, action: Action): Promise<string[]> {
  const { calls, also = [] } = action;
  walk.sent.length = 0;
  await action.act(walk);
  const sent = walk.sent.splice(0);
  const unknown = sent.filter((one) => ![...calls, ...also].some((call) => isOf(one, call)));
  const unseen = calls.filter((call) => !sent.some((one) => isOf(one, call)));
  return [
    ...unknown.map(({ method, path }) => `sent, and not in the table: ${method} ${path}`),
    ...unseen.map((call) => `in the table, and not sent: ${call}`),
    ...walk.complaints.splice(0),
    ...(await notRefusedToOthers(walk, action, sent)),
  ];
}
