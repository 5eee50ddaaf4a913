/** When a body is written in turns: only if the call holds much memory. */
import { expect, it } from "vitest";
import { writeBody } from "../../src/calls/write-body.ts";
import { leaseOf } from "./support.ts";

const atOnceBytes = 4 * 2 ** 20;
const body = { model: "m", messages: [{ role: "user", content: "Hi" }] };

it("up to 4 MiB a body is written synchronously, as a string", () => {
  expect(writeBody(body, { lease: leaseOf(100) })).toBe(JSON.stringify(body));
  expect(writeBody(body, { lease: leaseOf(atOnceBytes) })).toBe(JSON.stringify(body));
});

it("a long text is written as bytes, which the garbage collector does not move", () => {
  const long = { ...body, text: "é".repeat(20_000) };
  const pieces = writeBody(long, { lease: leaseOf(100) }) as readonly Uint8Array[];
  expect(Buffer.concat(pieces).toString("utf8")).toBe(JSON.stringify(long));
});

it("above 4 MiB a body is the same text in pieces, written in turns", async () => {
  const lease = leaseOf(atOnceBytes + 1);
  let turns = 0;
  const counted = {
    bytes: lease.bytes,
    turn: () => {
      turns += 1;
      return lease.turn();
    },
  };
  // Characters that take long to write.
  const large = { ...body, text: "\u0001".repeat(6 * 2 ** 20) };
  const written = writeBody(large, { lease: counted as typeof lease });
  expect(written).toBeInstanceOf(Promise);
  const pieces = (await written) as readonly Uint8Array[];
  expect(Buffer.concat(pieces).equals(Buffer.from(JSON.stringify(large)))).toBe(true);
  expect(turns).toBeGreaterThan(0);
});
