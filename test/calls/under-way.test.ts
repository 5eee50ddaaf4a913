/** The list of calls in flight, which a gateway ends when it stops. docs/operate.md "Starting and stopping". */
import { expect, it } from "vitest";
import { InFlightCalls } from "../../src/calls/index.ts";
import { callUnderWay } from "./support.ts";

it("whoever is under way is told of a stop, and nobody who is over, though places are used again", () => {
  const calls = new InFlightCalls();
  const told: string[] = [];
  const begin = (name: string) => {
    const call = callUnderWay(name, (isLast) => told.push(isLast ? `${name}, last` : name));
    calls.began(call);
    return call;
  };
  const first = begin("first");
  begin("second");
  calls.ended(first);
  begin("third");
  // Another call has its place now.
  calls.ended(first);
  const fourth = begin("fourth");
  calls.stop(false);
  expect(told.toSorted()).toEqual(["fourth", "second", "third"]);
  calls.ended(fourth);
  told.length = 0;
  calls.stop(true);
  expect(told.toSorted()).toEqual(["second, last", "third, last"]);
});

it("one that is over when another is told is not told any more", () => {
  const calls = new InFlightCalls();
  const told: string[] = [];
  const second = callUnderWay("second", () => told.push("second"));
  const first = callUnderWay("first", () => {
    told.push("first");
    calls.ended(second);
  });
  calls.began(first);
  calls.began(second);
  calls.stop(true);
  expect(told).toEqual(["first"]);
});
