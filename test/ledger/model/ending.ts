/** Ends a history: all calls end, all batches arrive, the leases of dead gateways expire. Then nothing is held and all adds up. */
import { windows } from "../../../src/base/cap-windows.ts";
import { startsAt } from "./oracle.ts";
import type { History } from "./history.ts";
import { Choices } from "./random.ts";
import { namesList, type FinalState } from "./world.ts";

const isUnderWay = (state: string) => ["waiting", "open", "posting"].includes(state);

async function deliverAll(history: History): Promise<void> {
  for (const { gateway, sending } of history.sendings) {
    await history.deliver(gateway, sending, 1);
    await history.settle();
  }
}

/** Ends all calls; no batch is lost any more. Throws if calls are still under way after 400 rounds. */
async function endCalls(history: History): Promise<void> {
  for (let round = 0; round < 400; round += 1) {
    for (const call of history.calls)
      if (call.state === "open") history.end(call, new Choices([0.9, 0.9, (round % 10) / 10]));
    await history.settle();
    await deliverAll(history);
    if (!history.calls.some(({ state }) => isUnderWay(state)) && history.sendings.length === 0)
      return;
    await history.pass(10);
    await history.settle();
  }
  const left = history.calls.filter(({ state }) => isUnderWay(state));
  throw new Error(`for ever: ${left.map(({ id, state }) => `${id} ${state}`).join(", ")}`);
}

/** Waits until living gateways have returned their allowances, which they do without further calls. */
async function giveBack(history: History): Promise<void> {
  for (let round = 0; round < 60; round += 1) {
    await history.pass(20);
    await history.settle();
    await deliverAll(history);
    await history.sql();
    const living = new Set(history.living.map(({ model }) => model.id));
    if (!history.state!.allowances.some(({ gateway, amount }) => amount > 0 && living.has(gateway)))
      return;
  }
  throw new Error(`stays held: ${JSON.stringify(history.state!.allowances)}`);
}

export async function ending(history: History): Promise<void> {
  history.locked.clear();
  for (const gateway of history.living)
    while (gateway.pendingSignals.length > 0) history.receiveSignal(gateway);
  await endCalls(history);
  await giveBack(history);
  while (history.stragglers.length > 0) await history.straggle(0);
  // A gateway resends a failed batch after a pause, and so returns what such a straggler had reserved.
  await giveBack(history);
  while (history.holds.length > 0) await history.settleHold(history.holds[0]!, null);
  await history.pass(2 * history.adapter.leaseMs);
  for (const gateway of history.gateways) if (!gateway.isAlive) await history.sweep(gateway);
  history.checks.now();
  await compare(history);
}

/** Compares the final tables with the oracle. */
async function compare(history: History): Promise<void> {
  const { oracle, calls } = history;
  const [rows] = await history.bare(
    `select model.final(${namesList(history.workspaces)}) as state`,
  );
  const state = rows![0]!["state"] as FinalState;
  for (const { w, held } of state.accounts)
    if (held !== 0) throw new Error(`${w}: ${held} held at the end`);
  for (const call of calls) {
    const found = state.entries.filter(({ w, id }) => w === call.place.workspace && id === call.id);
    const kind = call.charge === null ? "void" : "charge";
    const isRight =
      found.length === 1 && found[0]!.kind === kind && found[0]!.amount === (call.charge ?? 0);
    if (call.isWritten ? !isRight : found.length > 0)
      throw new Error(`${call.id} ${call.state}: entries ${JSON.stringify(found)}`);
  }
  for (const { w, scope, id, day, ...counters } of state.spend) {
    const name = scope === "workspace" ? `workspace ${w}` : `${scope} ${w} ${id}`;
    const dayMs = Date.parse(day);
    for (const window of windows) {
      const since = startsAt(window, dayMs);
      const wanted = oracle.charges
        .filter(({ place, timeMs }) => timeMs >= since && isOf(name, place))
        .reduce((sum, { amount }) => sum + amount, 0);
      if (counters[window] !== wanted)
        throw new Error(
          `${name} ${window}: counted ${counters[window]}, the oracle expects ${wanted}`,
        );
    }
  }
}

const isOf = (name: string, place: { workspace: string; member: string; key: string }): boolean =>
  name === `workspace ${place.workspace}` ||
  name === `member ${place.workspace} ${place.member}` ||
  name === `key ${place.workspace} ${place.key}`;
