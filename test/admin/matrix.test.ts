/**
 * Every role, every management action and every relation to its object, over HTTP, with the intended result. This file's table is
 * independent of the gateway's own; both must name the same actions.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rights, verdict, type Action, type Relation, type Role } from "../../src/admin/index.ts";
import { processorMs } from "../support/cost.ts";
import { actionRequests } from "./matrix-requests.ts";
import { startWorld, type World } from "./people.ts";
import type { Answer } from "./support.ts";

/**
 * `+` done, `-` refused (403), `0` as if missing (404), `.` no such object. Three signs for each role (organization admin,
 * workspace admin, member): an own object, one of the same workspace, a foreign one.
 */
const expectedSigns: Readonly<Record<Action, string>> = {
  "organization.read": ".++ .+0 .+0",
  "organization.create": "..+ ..- ..-",
  "organization.change": ".++ .-0 .-0",
  "workspace.read": ".++ .+0 .+0",
  "workspace.create": "..+ ..- ..-",
  "workspace.change": ".++ .+0 .-0",
  "workspace.set_spend_caps": ".++ .-0 .-0",
  "workspace.set_credit_line": ".++ .-0 .-0",
  "workspace.set_rate_limits": ".++ .-0 .-0",
  "workspace.set_status": ".++ .-0 .-0",
  "workspace.add_credits": ".++ .-0 .-0",
  "balance.read": ".++ .+0 .+0",
  "ledger.read": ".++ .+0 .-0",
  "ledger.verify": "..+ ..- ..-",
  "signing_secret.read": ".++ .+0 .-0",
  "signing_secret.change": ".++ .+0 .-0",
  "signing_secret.rotate": ".++ .+0 .-0",
  "member.read": ".++ ++0 +00",
  "member.create": ".++ .+0 .-0",
  "member.change": ".++ ++0 -00",
  // A user who knows their password changes it themselves.
  "member.reset_password": ".++ .+0 -00",
  "member.delete": ".++ ++0 -00",
  "invitation.revoke": ".++ .+0 .00",
  "key.read": "+++ ++0 +00",
  "key.create": ".++ .+0 .+0",
  "key.create_for_member": ".++ .+0 .-0",
  "key.change": "+++ ++0 +00",
  "key.loosen_spend_caps": "+++ ++0 -00",
  "key.loosen_limits": "+++ ++0 -00",
  "key.disable": "+++ ++0 +00",
  "key.enable": "+++ ++0 +00",
  "key.revoke": "+++ ++0 +00",
  "key.reveal": "+++ ++0 +00",
  "key.rotate": "+++ ++0 +00",
  "token.create": "+.. +.. +..",
  "token.read": "+.. +.. +..",
  "token.revoke": "+.0 +.0 +.0",
  "session.read": "+.. +.. +..",
  "session.end": "+.0 +.0 +.0",
  "request.read": "+++ ++0 +00",
  "task.read": "+++ ++0 +00",
  "task.cancel": "+++ ++0 +00",
  "delivery.read": "+++ ++0 +00",
  "delivery.redeliver": "+++ ++0 +00",
  "webhook.test": ".++ .+0 .-0",
  "usage.read": "..+ .+. +..",
  "model.read": "..+ ..+ ..+",
  "provider.read": "..+ ..+ ..+",
  "provider.create": "..+ ..- ..-",
  "provider.change": "..+ ..- ..-",
  "provider.delete": "..+ ..- ..-",
  "provider.test": "..+ ..- ..-",
  "provider.pause": "..+ ..- ..-",
  "gateway.read": "..+ ..- ..-",
  "hook.read": "..+ ..- ..-",
  "vendor.read": "..+ ..- ..-",
  "catalog.read": "..+ ..- ..-",
  "catalog.change": "..+ ..- ..-",
  "personal_data.erase": "..+ ..- ..-",
  "audit.read": ".+. .+. .-.",
};

const roles: readonly Role[] = ["organization_admin", "workspace_admin", "member"];
const relations: readonly Relation[] = ["own", "workspace", "foreign"];
const verdicts = { allowed: "+", refused: "-", missing: "0" } as const;

type Ask = (role: Role, relation: Relation) => Promise<string> | string;

/** The results of an action in every case, in the signs of the table. */
async function signs(action: Action, ask: Ask): Promise<string> {
  const groups: string[] = [];
  for (const [at, group] of expectedSigns[action].split(" ").entries()) {
    let happened = "";
    for (const [index, sign] of group.split("").entries()) {
      happened += sign === "." ? sign : await ask(roles[at]!, relations[index]!);
    }
    groups.push(happened);
  }
  return groups.join(" ");
}

/** The sign of an answer; unexpected answers as text. `none` is the answer to the same request on a missing object. */
function signOf(answer: Answer, none: Answer | undefined): string {
  if (answer.status < 300) return "+";
  const { code } = answer.json.error;
  if (answer.status === 403 && code === "insufficient_permissions") return "-";
  const same =
    none?.status === 404 &&
    answer.status === 404 &&
    answer.text === none.text &&
    [...answer.headers.keys()].join() === [...none.headers.keys()].join();
  return same ? "0" : `(${answer.status} ${answer.text} ${none?.text})`;
}

describe("the matrix of rights", () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world.gateway.close());

  it("names every action", () => {
    expect(Object.keys(expectedSigns).sort()).toEqual(Object.keys(rights).sort());
  });

  it.each(Object.keys(expectedSigns) as Action[])(
    "VIS-01 VIS-02 VIS-04 KEY-18: %s gives the intended result for every role and every relation to the object",
    async (action) => {
      const decided = await signs(
        action,
        (role, relation) => verdicts[verdict(action, role, relation)],
      );
      expect(decided).toBe(expectedSigns[action]);
      const happened = await signs(action, async (role, relation) => {
        const { answer, missing } = await actionRequests[action](world, { role, relation });
        return signOf(answer, answer.status === 404 ? await missing!() : undefined);
      });
      expect(happened).toBe(expectedSigns[action]);
    },
  );

  it("takes the same time for a foreign object as for a missing one", async () => {
    const { id } = world.must(
      await world.bob.call("POST", "/keys", { workspace_id: world.away.id, name: "far" }),
    );
    const spent: Record<"foreign" | "missing", number> = { foreign: 0, missing: 0 };
    for (let round = 0; round < 60; round += 1) {
      for (const [kind, path] of [
        ["foreign", `/keys/${id}`],
        ["missing", "/keys/key_00000000000000000000000000"],
      ] as const) {
        spent[kind] += await processorMs(() => world.mem.call("GET", path));
      }
    }
    const [foreign, missing] = [spent.foreign / 60, spent.missing / 60];
    // A read that does more in one of the two cases, such as loading the spend, would show.
    expect(Math.abs(foreign - missing)).toBeLessThan(Math.max(missing * 0.5, 2));
  });
});
