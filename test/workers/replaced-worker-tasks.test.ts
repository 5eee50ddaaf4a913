/** Tasks whose vendor works during the request, in a worker that was replaced: they have the same minutes as its calls. */
import type { ServerResponse } from "node:http";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openDatabase, type Database } from "../../src/storage/index.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { eventually } from "../support/patience.ts";
import { sharedPostgres, silentLog } from "../support/postgres.ts";
import { startRecorder, type Recorder } from "../support/recorder.ts";
import { png } from "../sdk/support.ts";

const pictures = (url: string): string => `
providers:
  - { id: painter, dialect: xai, base_url: "${url}/v1", api_key: secret }
models:
  - id: acme/pictures
    kind: image
    family: task-image-1
    offers:
      - { provider: painter, upstream_model: m, price: { output_image: { low: { 1K: "0.01", 2K: "0.02" }, medium: { 1K: "0.03", 2K: "0.04" } }, input_image: "0.001" } }
`;

let painter: Recorder;
let asked: ServerResponse[];
let database: Database;
let gateway: GatewayUnderTest;
let id: string;

/** A task whose vendor has been asked, at a gateway that gives steps no extra time at its end. */
beforeEach(async () => {
  asked = [];
  painter = await startRecorder((_request, response) => void asked.push(response));
  const databaseUrl = await (await sharedPostgres()).createMigrated();
  database = await openDatabase({ url: databaseUrl, log: silentLog });
  gateway = await startTestGateway({
    config: pictures(painter.url),
    databaseUrl,
    stopMs: 50,
    tasks: { timing: { closeMs: 0 } },
  });
  await gateway.credit("1");
  const answer = await gateway.post("/v1/tasks", { model: "acme/pictures", prompt: "A boat" });
  ({ id } = (await answer.json()) as { id: string });
  await eventually(() => asked.length === 1, "the vendor is asked");
});
afterEach(async () => {
  await gateway.close();
  await database.close();
  await painter.close();
});

const statusOf = async (): Promise<string | undefined> => {
  const [row] = await database.query<{ status: string }>("select status from tasks where id = $1", [
    id,
  ]);
  return row?.status;
};

/** True if the work ends within some turns of the event loop. */
async function isSoonOver(work: Promise<void>): Promise<boolean> {
  const seen = { isOver: false };
  void work.then(() => (seen.isOver = true));
  for (let turns = 0; turns < 30_000 && !seen.isOver; turns += 1) await turn();
  return seen.isOver;
}

it("T81: a task of a replaced worker waits for its vendor's answer, and succeeds", async () => {
  const closing = gateway.close({ callsMs: 600_000 });
  await eventually(
    () =>
      fetch(gateway.url).then(
        () => false,
        () => true,
      ),
    "nobody listens",
  );
  expect(await isSoonOver(closing)).toBe(false);
  asked[0]!.end(JSON.stringify({ data: [{ b64_json: png().toString("base64") }] }));
  await closing;
  expect(await statusOf()).toBe("succeeded");
});

it("T81: a task of a replaced worker is cut with the calls when all workers stop", async () => {
  const closing = gateway.close({ callsMs: 600_000 });
  await eventually(
    () =>
      fetch(gateway.url).then(
        () => false,
        () => true,
      ),
    "nobody listens",
  );
  void gateway.close();
  await closing;
  expect(painter.requests[0]!.aborted).toBe(true);
});
