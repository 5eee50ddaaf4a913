/** The world of a history: workspaces with their credits, members, keys and caps, and the first gateways. */
import type { KeyName } from "./adapter.ts";
import type { CapsOf, KeyState, Funds } from "./oracle.ts";
import type { History } from "./history.ts";
import type { Choices } from "./random.ts";
import { capsSql, memberSql, newKeySql, workspaceSql } from "./world.ts";

/** Start times shortly before the end of a month, a week and a day, and in the middle of a day. */
const beginnings = [
  "2026-02-28T23:59:30Z",
  "2026-11-30T23:59:59.900Z",
  "2026-03-01T23:59:58Z",
  "2026-03-03T23:59:59.500Z",
  "2026-03-04T12:00:00Z",
];

export async function setUp(history: History, choices: Choices): Promise<void> {
  history.nowMs = Date.parse(choices.pick(beginnings)!) + choices.below(500);
  history.tick(0);
  history.overruns = choices.chance(0.3);
  history.isCapped = choices.chance(0.65);
  history.boundMax = choices.pick(history.isCalm ? [3, 12] : [3, 12, 40])!;
  const statements: string[] = [];
  const [workspaces, keys] = history.isCalm
    ? [1, 1 + choices.below(2)]
    : [1 + choices.below(2), 1 + choices.below(3)];
  for (let w = 0; w < workspaces; w += 1)
    statements.push(...newWorkspace(history, `${history.prefix}w${w}`, keys, choices));
  await history.bare(...statements);
  history.oracle.begin();
  for (let g = 1 + choices.below(3); g > 0; g -= 1) history.newGateway();
}

function newWorkspace(
  history: History,
  workspace: string,
  keys: number,
  choices: Choices,
): string[] {
  const statements: string[] = [];
  history.workspaces.push(workspace);
  statements.push(workspaceSql(workspace));
  for (const member of ["m0", "m1"]) statements.push(memberSql(workspace, member));
  const credits = choices.chance(history.isCalm ? 0.6 : 0.4)
    ? 100_000
    : choices.below((history.isCalm ? 6 : 12) * history.boundMax);
  const line = choices.chance(0.2)
    ? choices.chance(0.5)
      ? null
      : choices.below(2 * history.boundMax)
    : 0;
  const lineSql = history.adapter.lineSql(workspace, line);
  statements.push(history.adapter.creditSql(workspace, credits, "start"));
  statements.push(lineSql);
  const funds: Funds = { credits, line };
  history.oracle.set(`funds ${workspace}`, funds);
  history.oracle.set(`active ${workspace}`, true);
  for (let k = 0; k < keys; k += 1) {
    const key = { workspace, key: `k${k}`, member: `m${k % 2}`, rotation: 0 };
    history.keys.push(key);
    statements.push(newKeySql(key));
    const state: KeyState = {
      status: "active",
      expiresMs: null,
      rotations: 0,
      previousMs: null,
    };
    history.oracle.set(`key ${workspace} ${key.key}`, state);
    statements.push(newCaps(history, "key", key, choices));
  }
  statements.push(newCaps(history, "workspace", history.keys.at(-1)!, choices));
  for (const member of ["m0", "m1"])
    statements.push(newCaps(history, "member", { ...history.keys.at(-1)!, member }, choices));
  return statements;
}

/** New caps for the workspace, member or owner of a key. */
export function newCaps(
  history: History,
  layer: "workspace" | "member" | "key",
  key: KeyName,
  choices: Choices,
): string {
  const one = () => {
    const isSet = choices.chance(0.3);
    const amount = choices.chance(0.1)
      ? 0
      : (1 + choices.below(5)) * history.boundMax * (choices.chance(0.4) ? 16 : 1);
    return history.isCapped && isSet ? amount : null;
  };
  const caps: CapsOf = {
    total: one(),
    monthly: one(),
    weekly: one(),
    daily: one(),
    hard: choices.chance(0.75),
  };
  const name = layer === "workspace" ? "" : ` ${key[layer]}`;
  history.oracle.set(`caps ${layer} ${key.workspace}${name}`, caps);
  history.recordStep(`caps ${layer} ${key.workspace}${name} ${JSON.stringify(caps)}`);
  return capsSql(layer, key, caps);
}
