/** What is to be ended when a gateway stops. docs/operate.md "Starting and stopping". */
import { expect, it } from "vitest";
import { CallsUnderWay } from "../../src/calls/index.ts";

it("whoever is under way is told of a stop, and of nobody else's end, though places are used again", () => {
  const calls = new CallsUnderWay();
  const told: string[] = [];
  const begin = (name: string) =>
    calls.onStop((isLast) => told.push(isLast ? `${name}, last` : name));
  const forgetFirst = begin("first");
  begin("second");
  forgetFirst();
  begin("third");
  // Its place is another's now.
  forgetFirst();
  const forgetFourth = begin("fourth");
  calls.end(false);
  expect(told.toSorted()).toEqual(["fourth", "second", "third"]);
  forgetFourth();
  told.length = 0;
  calls.end(true);
  expect(told.toSorted()).toEqual(["second, last", "third, last"]);
});

it("one that is over when another is told is not told any more", () => {
  const calls = new CallsUnderWay();
  let forgetSecond: () => void = () => undefined;
  const told: string[] = [];
  calls.onStop(() => {
    told.push("first");
    forgetSecond();
  });
  forgetSecond = calls.onStop(() => told.push("second"));
  calls.end(true);
  expect(told).toEqual(["first"]);
});
