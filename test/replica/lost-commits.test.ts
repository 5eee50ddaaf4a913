/** A lagging standby is promoted: the last commits are lost, and the gateway reserves again the money that they had released. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { openLink, type Link } from "../faults/whole/link.ts";
import { startPair, type Pair } from "../faults/whole/pair.ts";
import {
  answering,
  benchOf,
  chatConfig,
  eventually,
  idOf,
  talk,
  usageOf,
  type Bench,
} from "../money/support.ts";
import { startTestGateway } from "../support/gateway.ts";
import { temporaryDirectory } from "../support/postgres.ts";
import { startRecorder, type Recorder } from "../support/recorder.ts";
import { cutReplication, failOver, keptLog } from "./support.ts";

const kept = keptLog();
const costNano = 100n * 3_000n + 40n * 15_000n;
let pair: Pair;
let link: Link;
let up: Recorder;
let bench: Bench;

beforeAll(async () => {
  pair = await startPair(temporaryDirectory(), false);
  link = await openLink(pair.primary.port);
  up = await startRecorder(() => undefined);
  const dataDir = temporaryDirectory();
  const gateway = await startTestGateway({
    dataDir,
    databaseUrl: pair.urlOf(link.port),
    log: kept.log,
    config: chatConfig(up.url, 'price: { input: "3", output: "15" }'),
  });
  await gateway.credit("100");
  bench = await benchOf(gateway, up, { dataDir });
});
afterAll(async () => {
  await bench.close();
  await up.close();
  link.close();
  await pair.close();
});

/** Makes calls wait at their provider until the test releases them, one after the other. */
function holdCalls(): { release(): void } {
  const waiting: (() => void)[] = [];
  up.answer(async (request, response) => {
    await new Promise<void>((resume) => waiting.push(resume));
    await answering(usageOf(100, 40))(request, response);
  });
  return { release: () => waiting.shift()!() };
}

const untilReached = (count: number) =>
  eventually(() => up.requests.length >= count, `${count} calls at the provider`);

it("T65 T67: after a failover that loses commits, reservations are released, the call in flight is charged, and one error is logged", async () => {
  const other = await bench.addWorkspace("5");
  const calls = holdCalls();
  const callOfOther = (): Promise<Response> =>
    fetch(`${bench.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${other.key}`, "content-type": "application/json" },
      body: JSON.stringify(talk()),
    });
  const finishing = bench.post("/v1/chat/completions", talk());
  await untilReached(1);
  const inFlight = callOfOther();
  await untilReached(2);
  await cutReplication(pair);
  calls.release();
  expect(await bench.entry(idOf(await finishing))).toMatchObject({ amount_nano: costNano });
  await eventually(async () => (await bench.holds()).length === 1, "what is not used to go back");
  await failOver(pair, link);

  await eventually(async () => (await bench.get("/readyz")).status === 200, "the new primary");
  // For the standby the first call still ran.
  expect(await bench.holds()).toHaveLength(2);
  calls.release();
  expect(await bench.entry(idOf(await inFlight))).toMatchObject({ amount_nano: costNano });
  await bench.expectClean();
  const lossErrors = kept.lines.filter(({ message }) =>
    message.startsWith("the database lost commits"),
  );
  expect(lossErrors.map(({ level }) => level)).toEqual(["error"]);
});
