/** The resources of a process, closed at its end. */
import { expect, it } from "vitest";
import { Closers } from "../../src/cli/closers.ts";

function openTwo() {
  const closers = new Closers();
  const closed: string[] = [];
  closers.add(() => void closed.push("database"));
  closers.add(() => Promise.reject(new Error("the listener is broken")));
  return { closers, closed };
}

it("a resource that fails to close does not keep those opened before it from being closed", async () => {
  const { closers, closed } = openTwo();
  await expect(closers.closeAll()).rejects.toThrow("the listener is broken");
  expect(closed).toEqual(["database"]);
});

it("a failed start closes everything and reports its own error, not one of closing", async () => {
  const { closers, closed } = openTwo();
  const starting = closers.starting(() => Promise.reject(new Error("the port is taken")));
  await expect(starting).rejects.toThrow("the port is taken");
  expect(closed).toEqual(["database"]);
});
