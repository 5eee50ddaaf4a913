/** The list of calls in flight, which a gateway ends when it stops. docs/operate.md "Starting and stopping". */
import { expect, it } from "vitest";
import { InFlightCalls } from "../../src/calls/index.ts";
import { callUnderWay } from "./support.ts";

it("a stop is announced to all calls in flight, and to none that ended, even if their places were reused", () => {
  const calls = new InFlightCalls();
  const notified: string[] = [];
  const begin = (name: string) => {
    const call = callUnderWay(name, (isLast) => notified.push(isLast ? `${name}, last` : name));
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
  expect(notified.toSorted()).toEqual(["fourth", "second", "third"]);
  calls.ended(fourth);
  notified.length = 0;
  calls.stop(true);
  expect(notified.toSorted()).toEqual(["second, last", "third, last"]);
});

it("a call that ends while another one is notified of the stop is not notified", () => {
  const calls = new InFlightCalls();
  const notified: string[] = [];
  const second = callUnderWay("second", () => notified.push("second"));
  const first = callUnderWay("first", () => {
    notified.push("first");
    calls.ended(second);
  });
  calls.began(first);
  calls.began(second);
  calls.stop(true);
  expect(notified).toEqual(["first"]);
});
