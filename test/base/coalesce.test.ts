import { expect, test } from "vitest";
import { coalesce } from "../../src/base/coalesce.ts";

test("requests for work that is running make it run one more time, however many they are", async () => {
  const begun: PromiseWithResolvers<void>[] = [];
  const work = coalesce(() => {
    const one = Promise.withResolvers<void>();
    begun.push(one);
    return one.promise;
  });
  for (let count = 0; count < 3; count += 1) work.ask();
  expect(begun).toHaveLength(1);
  begun[0]!.resolve();
  await begun[0]!.promise;
  await Promise.resolve();
  expect(begun).toHaveLength(2);
  begun[1]!.resolve();
  await work.idle();
  expect(begun).toHaveLength(2);
});

test("work that requests itself synchronously runs again after itself; a request after its end starts it anew", async () => {
  let rounds = 0;
  const steps: string[] = [];
  const work = coalesce(async () => {
    rounds += 1;
    const round = rounds;
    steps.push(`begun ${round}`);
    if (round < 3) work.ask();
    await Promise.resolve();
    steps.push(`ended ${round}`);
  });
  work.ask();
  await work.idle();
  expect(steps).toEqual(["begun 1", "ended 1", "begun 2", "ended 2", "begun 3", "ended 3"]);
  work.ask();
  await work.idle();
  expect(steps.slice(6)).toEqual(["begun 4", "ended 4"]);
});
