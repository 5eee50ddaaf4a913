/**
 * Random streams that break off after any byte, by a close or a reset, through a gateway. The caller gets the vendor's whole answer or an
 * error, and is charged at most once: what the whole answer costs, and never for a broken one. T16, T48; BILL-22.
 */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { protocolNames, type ProtocolName } from "../../src/protocols/index.ts";
import { entries, useWorld } from "../hostile/support.ts";
import { shortOrLong } from "../support/long.ts";
import { eventually } from "../support/patience.ts";
import type { Answer } from "../support/recorder.ts";
import { steadyHealthRules } from "../support/steady-health.ts";
import { framesOf, readers } from "../transcripts/readers/index.ts";
import { streamOf } from "./answers.ts";
import { somePlan } from "./plan.ts";

// Hundreds of broken streams in a row would exclude the provider.
const world = useWorld({ health: steadyHealthRules });

/** A stream of these bytes, which ends by a reset of the connection or as if it was whole. */
const answering =
  (bytes: Buffer, isReset: boolean): Answer =>
  (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (isReset) response.write(bytes, () => response.destroy());
    else response.end(bytes);
  };

interface Given {
  readonly id: string;
  readonly finish: string | undefined;
  readonly error: string | undefined;
}

/** The answer to a streaming call. A refusal counts as an error too. */
async function ask(caller: ProtocolName, upstream: ProtocolName): Promise<Given> {
  const { path, good } = entries.find(({ name }) => name === caller)!;
  const model = `acme/on-${upstream}`;
  const address = path
    .replace("acme/talk", model)
    .replace(":generateContent", ":streamGenerateContent?alt=sse");
  // As much output as any plan has: what a vendor writes beyond the maximum is charged, too.
  const asked = caller === "messages" ? { ...good, max_tokens: 4_096 } : good;
  const body = caller === "generate_content" ? asked : { ...asked, model, stream: true };
  const response = await world.gateway.post(address, body);
  const id = response.headers.get("x-request-id")!;
  const text = await response.text();
  if (!response.ok) return { id, finish: undefined, error: `${response.status}` };
  const { finish, error } = readers[caller].stream(framesOf(text));
  return { id, finish, error };
}

interface Row {
  readonly status: string;
  readonly cost_nano: bigint;
  /** The charges of the call in the ledger, and the reservations of those. */
  readonly charged_nano: readonly bigint[];
  readonly held_nano: readonly bigint[];
}

/** The call's row in the request log, and its charges in the ledger. */
const rowOf = (id: string): Promise<Row> =>
  eventually(async () => {
    const sql = `select status, cost_nano, array(select amount_nano from ledger_entries where reference = log.id and kind = 'charge') as charged_nano,
        array(select held_nano from ledger_entries where reference = log.id and kind = 'charge') as held_nano
      from request_log log where id = $1`;
    const [row] = await world.gateway.database.query<Row>(sql, [id]);
    return row;
  }, `the row of ${id}`);

describe.each(protocolNames)("a stream of %s that breaks off", (upstream) => {
  it.each(protocolNames)(
    "T16 T48: is charged to a %s caller once if it is whole, at most the reservation, and not at all otherwise",
    async (caller) => {
      await fc.assert(
        fc.asyncProperty(
          somePlan(upstream),
          fc.option(fc.nat(100_000)),
          fc.boolean(),
          async (plan, at, isReset) => {
            const whole = Buffer.from(streamOf(upstream, plan));
            const length = at === null ? whole.length : at % whole.length;
            world.upstream.answer(answering(whole.subarray(0, length), isReset));
            const { id, finish, error } = await ask(caller, upstream);
            const isWhole = finish !== undefined;
            const {
              status,
              cost_nano: cost,
              charged_nano: charges,
              held_nano: held,
            } = await rowOf(id);
            const due = isWhole ? [cost] : [];
            expect([isWhole, status, charges]).toEqual([
              error === undefined,
              isWhole ? "succeeded" : "failed",
              due,
            ]);
            expect(isWhole || cost === 0n).toBe(true);
            for (const bound of held) expect(cost).toBeLessThanOrEqual(bound);
          },
        ),
        { numRuns: shortOrLong(3, 150) },
      );
    },
  );
});
