/**
 * One of several gateway processes. It makes calls in the workspaces of each round, with the real lanes and clock, over connections
 * that lose answers and deliver late. It reports each confirmed end to its parent at once. Started by several.test.ts.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { silentLog } from "../../../src/base/log.ts";
import { sendTo, type Batch, type BatchRow } from "../../../src/ledger/batch.ts";
import { systemLaneClock } from "../../../src/ledger/lane.ts";
import { TextCalls } from "../../../src/ledger/text-calls.ts";
import { GatewayError } from "../../../src/base/errors.ts";
import { CommitTracker, openDatabase } from "../../../src/storage/index.ts";
import { refusalIn } from "../open-calls.ts";
import { randomOf } from "./random.ts";

/** Message from the parent. */
export interface Round {
  readonly seed: number;
  readonly workspaces: readonly string[];
}
/** To the parent: its id, a written end (`charge` undefined: the call was not admitted), or the end of a round. */
export type ChildMessage =
  | { readonly gateway: string }
  | { readonly workspace: string; readonly id: string; readonly charge: number | null | undefined }
  | { readonly over: number };

const database = await openDatabase({ url: process.argv[2]!, log: silentLog });
const tell = (told: ChildMessage) => process.send!(told);
const lost = () => Object.assign(new Error("Connection terminated"), { code: "ECONNRESET" });
let random = randomOf(1);
const below = (most: number) => Math.floor(random() * most);

/** Lost and late batches must never look like lost commits. */
const confirmed = new CommitTracker({
  giveBack: () => Promise.reject(new Error("commits are said to be lost, and none are")),
});

/** One batch in eight fails: it never arrives, its answer is lost, or it arrives after later batches. */
async function send(batch: Batch): Promise<readonly BatchRow[]> {
  const sendUntracked = sendTo(database);
  const fate = random();
  if (fate < 0.04) throw lost();
  if (fate < 0.08) {
    const late = 1 + below(60);
    setTimeout(() => void sendUntracked(batch).catch(() => undefined), late);
    throw lost();
  }
  if (fate < 0.12) {
    await sendUntracked(batch);
    throw lost();
  }
  return sendTo(database, undefined, confirmed)(batch);
}

const calls = new TextCalls({ leaseMs: 60_000, send, clock: systemLaneClock });
tell({ gateway: calls.gateway });
let made = 0;

async function oneCall(workspaceId: string): Promise<void> {
  const id = `${calls.gateway}-${(made += 1)}`;
  const bound = below(30);
  const key = { keyId: `k${below(3)}`, keyRotation: 0 };
  const call = { id, workspaceId, ...key, amountNano: BigInt(bound) };
  let charge: number | null = null;
  let begun = false;
  const work = async () => {
    begun = true;
    await sleep(below(25));
    charge = random() < 0.15 ? null : below(bound + 1);
    return { amountNano: charge === null ? null : BigInt(charge) };
  };
  try {
    await calls.spend(call, work);
  } catch (error) {
    const isGivenUp = error instanceof GatewayError && error.code === "database_unavailable";
    // On a stalled machine, batches may be lost for three seconds: then calls are given up.
    if (refusalIn(error) === undefined && (begun || !isGivenUp)) throw error;
    tell({ workspace: workspaceId, id, charge: undefined });
    return;
  }
  tell({ workspace: workspaceId, id, charge });
}

async function play(workspace: string): Promise<void> {
  for (let burst = 0; burst < 4; burst += 1) {
    await Promise.all(Array.from({ length: 1 + below(5) }, () => oneCall(workspace)));
    await sleep(below(40));
  }
}

process.on("message", ({ seed, workspaces }: Round) => {
  random = randomOf(seed);
  void Promise.all(workspaces.map(play)).then(() => tell({ over: seed }));
});
// The lanes return the remaining headroom while the parent waits for it.
process.on("disconnect", () => process.exit(0));
