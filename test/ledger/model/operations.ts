/** The operations of a plan; see plan.ts. */
import type { KeyName } from "./adapter.ts";
import type { KeyState, Funds } from "./oracle.ts";
import type { History } from "./history.ts";
import type { Operation, OperationKind } from "./plan.ts";
import { Choices } from "./random.ts";
import { newCaps } from "./set-up.ts";
import { keySql } from "./world.ts";

const day = 86_400_000;

function begin(history: History, choices: Choices): void {
  const gateway = choices.pick(history.living)!;
  const place = choices.pick(history.keys)!;
  for (let count = choices.chance(0.3) ? 4 : 1; count > 0; count -= 1)
    history.begin(gateway, place, choices);
}

async function serve(history: History, choices: Choices): Promise<void> {
  const gateway = choices.pick(history.living)!;
  const place = choices.pick(history.keys)!;
  const isEnding = choices.chance(0.6);
  for (let count = 0; count < 3; count += 1) {
    history.begin(gateway, place, choices);
    await history.deliverAllOf(gateway);
    const call = history.calls.at(-1)!;
    if (!isEnding || call.state !== "open") continue;
    history.end(call, choices);
    await history.deliverAllOf(gateway);
  }
}

/** Takes back the available credits except for 0 to 2 nano-dollars. The next call can then only use what other calls return. */
async function squeeze(history: History, choices: Choices): Promise<void> {
  const gateway = choices.pick(history.living)!;
  const key = choices.pick(history.keys)!;
  const { workspace } = key;
  const account = history.state?.accounts.find(({ w }) => w === workspace);
  const { credits, line } = history.oracle.get<Funds>(`funds ${workspace}`);
  if (account === undefined || line === null || history.locked.has(workspace)) return;
  const left = credits + line - account.charged - account.held;
  const amount = choices.below(3) - left;
  if (left <= 3 || credits + amount < 0) return;
  await history.addCredit(workspace, amount);
  for (const one of history.living) history.signal(one, workspace, true);
  history.begin(gateway, key, choices);
  await history.deliverAllOf(gateway);
}

function end(history: History, choices: Choices): void {
  const open = history.calls.filter(({ state, gateway }) => state === "open" && gateway.isAlive);
  const call = choices.pick(open);
  if (call !== undefined) history.end(call, choices);
}

async function hold(history: History, choices: Choices): Promise<void> {
  const key = { ...choices.pick(history.keys)!, rotation: 0 };
  if (history.locked.has(key.workspace)) return;
  key.rotation = history.oracle.get<KeyState>(`key ${key.workspace} ${key.key}`).rotations;
  const amount = 1 + choices.below(history.boundMax);
  const id = history.newId("h");
  const sql = history.adapter.holdSql({ id, key, amount, leaseMs: 60 * day });
  const [rows] = await history.sql(sql);
  const refusal = history.adapter.refusalOfHold(rows!, amount);
  history.recordStep(`hold ${id} ${key.workspace} ${key.key} ${amount}: ${refusal}`);
  history.checks.held({ id, place: key, amount }, refusal);
}

async function settle(history: History, choices: Choices): Promise<void> {
  const hold = choices.pick(history.holds);
  const charge = choices.chance(0.3)
    ? null
    : choices.below((hold?.amount ?? 0) + (history.overruns ? history.boundMax : 1));
  if (hold !== undefined && !history.locked.has(hold.place.workspace))
    await history.settleHold(hold, charge);
}

/** Makes a change. Each gateway hears of it at once with the chance `heardShare`, or else by a later signal. */
async function change(
  history: History,
  kind: "caps" | "credits" | "key" | "workspace",
  choices: Choices,
  heardShare = 0.45,
): Promise<void> {
  const key = choices.pick(history.keys)!;
  const { workspace } = key;
  if (history.locked.has(workspace)) return;
  const isHeard = history.living.map(() => choices.chance(heardShare));
  const statements: string[] = [];
  const isActive = history.oracle.get<boolean>(`active ${workspace}`);
  if (kind === "workspace" || !isActive) {
    history.oracle.set(`active ${workspace}`, !isActive);
    const status = isActive ? "disabled" : "active";
    statements.push(`update workspaces set status = '${status}' where id = '${workspace}'`);
    history.recordStep(`workspace ${workspace} ${status}`);
  } else if (kind === "caps") {
    const layer = choices.pick(["workspace", "member", "key"] as const)!;
    statements.push(newCaps(history, layer, key, choices));
  } else if (kind === "credits") {
    const { credits } = history.oracle.get<Funds>(`funds ${workspace}`);
    const isLess = choices.chance(0.2);
    const amount = isLess ? -choices.below(credits + 1) : 1 + choices.below(3 * history.boundMax);
    await history.addCredit(workspace, amount);
  } else {
    statements.push(changeKey(history, key, choices));
  }
  await history.sql(...statements);
  history.checks.now();
  for (const [place, gateway] of history.living.entries())
    history.signal(gateway, workspace, isHeard[place] === true);
}

/** Makes a change that no gateway hears of, while a key is in use. Its calls must still be checked in time. */
async function drift(history: History, choices: Choices): Promise<void> {
  const gateway = choices.pick(history.living)!;
  const key = choices.pick(history.keys)!;
  for (let count = 0; count < 3; count += 1) {
    history.begin(gateway, key, choices);
    await history.deliverAllOf(gateway);
  }
  await change(history, choices.chance(0.5) ? "caps" : "key", choices, 0);
  for (let count = 0; count < 3; count += 1) {
    await history.pass(30);
    await history.settle();
    history.begin(gateway, key, choices);
    await history.settle();
  }
}

function changeKey(history: History, key: KeyName, choices: Choices): string {
  const name = `key ${key.workspace} ${key.key}`;
  const old = history.oracle.get<KeyState>(name);
  if (old.status === "revoked") return keySql(key, old);
  const dice = choices.number();
  const next: KeyState =
    old.status !== "active" || (old.expiresMs ?? Infinity) <= history.nowMs
      ? { ...old, status: "active", expiresMs: null }
      : dice < 0.3
        ? { ...old, status: "disabled" }
        : dice < 0.33
          ? { ...old, status: "revoked" }
          : dice < 0.6
            ? { ...old, expiresMs: history.nowMs + choices.below(300) - 100 }
            : {
                ...old,
                rotations: old.rotations + 1,
                previousMs: history.nowMs + choices.below(300),
              };
  history.oracle.set(name, next);
  history.recordStep(`${name} ${JSON.stringify(next)}`);
  return keySql(key, next);
}

/** Kills a gateway, whose batches may still arrive, and starts a new one. */
function die(history: History, choices: Choices): void {
  const gateway = choices.pick(history.living)!;
  history.recordStep(`${gateway.name} dies`);
  gateway.isAlive = false;
  for (const { sent, rows } of gateway.sendings.values())
    if (rows === undefined && choices.chance(0.7)) history.stragglers.push({ gateway, sent });
  for (const call of history.calls) if (call.gateway === gateway) history.checks.gone(call);
  history.newGateway();
}

/** Pauses a gateway for longer than its lease, like a stopped process; for the others little time passes. */
async function pause(history: History, choices: Choices): Promise<void> {
  const gateway = choices.pick(history.living)!;
  history.recordStep(`${gateway.name} stands still until its lease is over`);
  gateway.aheadMs += history.adapter.leaseMs + 1;
  gateway.resumedAt = history.oracle.moment;
  await history.bare(history.adapter.leaseSql(gateway.model.id, history.nowMs - 1));
  if (choices.chance(0.8)) await history.sweep(gateway);
}

/** Locks an account from another connection, or unlocks it if it is locked. */
function lock(history: History, workspace: string): void {
  history.recordStep(`lock ${workspace}`);
  if (!history.locked.delete(workspace)) history.locked.add(workspace);
}

/** Lets time pass. If it is long, living gateways have renewed their leases. */
async function pass(history: History, choices: Choices): Promise<void> {
  const dice = choices.number() * (history.isCalm ? 0.87 : 1);
  const share = choices.number();
  const ms = Math.floor(
    dice < 0.6
      ? share * share * 60
      : dice < 0.85
        ? share * 300
        : dice < 0.92
          ? share * 40_000
          : dice < 0.97
            ? share * day
            : share * 20 * day,
  );
  await history.pass(ms);
}

const operations: Record<
  OperationKind,
  (history: History, choices: Choices) => void | Promise<void>
> = {
  begin,
  serve,
  squeeze,
  drift,
  end,
  deliver(history, choices) {
    const chosen = choices.pick(history.sendings);
    const isWell = history.isCalm && choices.chance(0.8);
    if (chosen === undefined) return undefined;
    return history.deliver(chosen.gateway, chosen.sending, isWell ? 1 : choices.number());
  },
  straggler: (history, choices) => history.straggle(choices.below(history.stragglers.length)),
  hold,
  settle,
  caps: (history, choices) => change(history, "caps", choices),
  credits: (history, choices) => change(history, "credits", choices),
  key: (history, choices) => change(history, "key", choices),
  workspace: (history, choices) => change(history, "workspace", choices),
  signal: (history, choices) => history.receiveSignal(choices.pick(history.living)),
  die,
  pause,
  sweep: (history, choices) => history.sweep(choices.pick(history.gateways)!),
  beat: (history, choices) => choices.pick(history.living)!.model.heartbeat(),
  lock: (history, choices) => lock(history, choices.pick(history.workspaces)!),
  tick: pass,
};

export async function operate(history: History, { kind, numbers }: Operation): Promise<void> {
  history.oracle.moment += 1;
  history.count(kind);
  await operations[kind](history, new Choices(numbers));
  await history.settle();
}
