/** Which idle connection is used next, and the room that connections take. docs/architecture.md. */
import { describe, expect, it } from "vitest";
import { Slots } from "../../src/base/slots.ts";
import { IdleList } from "../../src/upstream/idle-list.ts";
import { createRooms } from "../../src/upstream/room.ts";

describe("idle connections", () => {
  it("are used once they were silent for long enough, the last used first", () => {
    const list = new IdleList<string>(100);
    list.rest("a", 0);
    list.rest("b", 10);
    expect(list.take(99)).toBeUndefined();
    expect(list.take(100)).toBe("a");
    expect(list.take(109)).toBeUndefined();
    list.rest("c", 20);
    expect(list.take(120)).toBe("c");
    expect(list.take(120)).toBe("b");
    expect(list.take(999)).toBeUndefined();
  });

  it("where 256 wait, the oldest is used at once", () => {
    const list = new IdleList<number>(100);
    for (let item = 0; item < 255; item += 1) list.rest(item, 0);
    expect(list.take(1)).toBeUndefined();
    list.rest(255, 0);
    expect(list.take(1)).toBe(0);
    expect(list.take(1)).toBeUndefined();
  });

  it("those that are removed are neither used nor cleared, wherever they stand", () => {
    const list = new IdleList<string>(100);
    for (const [at, item] of ["a", "b", "c", "d"].entries()) list.rest(item, at);
    expect(list.take(101)).toBe("b");
    list.remove("a");
    list.remove("c");
    list.remove("unknown");
    expect(list.oldest()).toBe("d");
    expect(list.take(102)).toBeUndefined();
    expect(list.clear()).toEqual(["d"]);
    expect(list.oldest()).toBeUndefined();
    expect(list.take(999)).toBeUndefined();
  });

  it("thousands come and go, and none is lost", () => {
    const list = new IdleList<number>(10);
    const taken: (number | undefined)[] = [];
    for (let item = 0; item < 3_000; item += 1) {
      list.rest(item, item);
      taken.push(list.take(item));
    }
    expect(taken).toEqual(taken.map((_one, item) => (item < 10 ? undefined : item - 10)));
    expect(list.clear()).toHaveLength(10);
  });
});

it("a connection to an origin of our own takes twice the room, and idle ones are closed for it", () => {
  const slots = new Slots(3);
  let idle = 1;
  const rooms = createRooms({ slots, ownOrigin: "http://own" }, () => {
    if (idle === 0) return false;
    idle -= 1;
    slots.give(1);
    return true;
  });
  expect(rooms("http://other").take()).toBe(true);
  expect(rooms("http://own").take()).toBe(true);
  expect(rooms("http://other").take()).toBe(true);
  expect(rooms("http://other").take()).toBe(false);
  rooms("http://own").give();
  expect(rooms("http://own").take()).toBe(true);
  expect(rooms("http://other").take()).toBe(false);
});
