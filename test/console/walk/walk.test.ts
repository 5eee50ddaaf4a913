/**
 * Each of four people walks each page and each action. Permitted actions are offered and work, from the button to their effect.
 * Other actions are not offered, and the API refuses them. In the short form the test checks only pages for people who may not do
 * everything, and requests each refusal.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verdict, type Role } from "../../../src/admin/index.ts";
import { shortOrLong, isLong } from "../../support/long.ts";
import { pagePaths } from "../addresses.ts";
import { mayDo, type Action } from "./action.ts";
import { actions, elsewhere } from "./actions.ts";
import { doIt, lookAt } from "./doing.ts";
import { people, startWalkWorld, type WalkWorld, type Who } from "./people.ts";
import { places, type PlaceName } from "./places.ts";
import { readSources } from "./sources.ts";
import { closedWays, menuFaults, wayFaults } from "./ways.ts";

let world: WalkWorld;
beforeAll(async () => {
  world = await startWalkWorld();
});
afterAll(() => world.close());

/** Calls that callers' programs make too: the playground's. */
const isOfCallers = (call: string): boolean => call.startsWith("POST /v1");
const sorted = (all: Iterable<string>): string[] => [...new Set(all)].sort();

describe("the table of actions", () => {
  const sources = readSources();

  it("has every call of the console's sources that does more than read, and no other", () => {
    const walked = actions.flatMap(({ calls }) => calls).filter((call) => !isOfCallers(call));
    expect(sorted([...walked, ...Object.keys(elsewhere)])).toEqual(sources.calls);
  });

  it("the console's sources reach the network through known files only", () => {
    expect(sources.ways).toEqual([
      "api/client.ts",
      "api/events.ts",
      "api/read-timeout.ts",
      "api/reauth.ts",
      "pages/playground/call.ts",
      "ui/csv-button.tsx",
      "ui/sign-in-dialog.tsx",
    ]);
  });

  it("names tests in other files by their titles", () => {
    for (const [file, name] of Object.values(elsewhere))
      expect(readFileSync(join(import.meta.dirname, "..", file), "utf8")).toContain(`"${name}"`);
  });

  it("has every page of the router", () => {
    expect(sorted(Object.values(places).map(({ path }) => path))).toEqual(pagePaths());
  });

  it("agrees with the table of rights on each action", () => {
    const roles: readonly Role[] = [
      "organization_admin",
      "organization_admin",
      "workspace_admin",
      "member",
    ];
    for (const { place, name, right, may } of actions) {
      // A key and a task belong to the person; everything else belongs to the workspace.
      const relation = /^(?:key|task|playground|account|start)/.test(place) ? "own" : "workspace";
      const decided = roles.map((role) =>
        right === undefined || verdict(right, role, relation) === "allowed" ? "+" : "-",
      );
      expect({ name, may: decided.join("") }).toEqual({ name, may });
    }
  });
});

const names = Object.keys(places) as PlaceName[];

/**
 * In the short form: the places where a person may not do everything that is offered. One rule refuses all places that are hidden
 * from the same people, so only the first of them is tested. A whole walk takes long.
 */
const lacks = (who: Who, name: PlaceName): boolean => {
  const { seen } = places[name];
  if (!mayDo(seen, who)) return name === names.find((one) => places[one].seen === seen);
  return actions.some(({ place, may }) => place === name && !mayDo(may, who));
};

const looks = people.flatMap((who) =>
  shortOrLong(
    names.filter((name) => lacks(who, name)),
    names,
  ).map((name) => [who, name] as const),
);
it.each(looks)("%s at %s sees and is offered what the table says", async (who, name) =>
  expect(await lookAt(world.walks[who], name)).toEqual([]),
);

describe("the paths to pages", () => {
  it.each(people)("are in the menu of %s for each page that they may see", async (who) =>
    expect(await menuFaults(world.walks[who])).toEqual([]),
  );

  it("are not in shortcuts or the palette for a member if the menu lacks them", async () => {
    const { member } = world.walks;
    expect(await menuFaults(member)).toEqual([]);
    expect(await closedWays(member)).toEqual([]);
  });

  it.skipIf(!isLong).each(people)("are in menu, shortcuts and palette for %s", async (who) =>
    expect(await wayFaults(world.walks[who])).toEqual([]),
  );
});

describe("an action that is not offered", () => {
  const refused = people.flatMap((who) =>
    actions.flatMap((action) =>
      mayDo(action.may, who) || action.ask === undefined ? [] : [{ who, action }],
    ),
  );
  it.each(refused.map((one) => [one.who, one.action.name, one] as const))(
    "%s: %s is refused by the API",
    async (who, _name, { action }) => {
      const answer = await world.walks[who].call(...action.ask!(world.walks[who]));
      expect([403, 404]).toContain(answer.status);
    },
  );

  it("has a request in the table for each action that some role may not do", () => {
    const unasked = actions.filter(({ may, ask }) => may.includes("-") && ask === undefined);
    // The API allows it for a person's own callback; only the page is missing.
    expect(unasked.map(({ name }) => name)).toEqual(["send a callback again"]);
  });
});

/** In the short form: the actions that no other file covers, by the last of the people who may. */
const isDone = (who: Who, { may, isAlone }: Action): boolean =>
  mayDo(may, who) && (isLong || (isAlone === true && who === people[may.lastIndexOf("+")]));

const doings = people.flatMap((who) =>
  actions
    .filter((action) => isDone(who, action))
    .map((action) => [who, action.place, action.name, action] as const),
);
it.each(doings)(
  "%s at %s: %s works, and is refused to others",
  async (who, _place, _name, action) => expect(await doIt(world.walks[who], action)).toEqual([]),
);
