/** The other members that streams send in pieces, beside text. T15. */
import { expect, it } from "vitest";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { addMembers } from "../../../src/protocols/chat/add-members.ts";

const sumOf = (...pieces: readonly string[]): JsonObject => {
  const members: JsonObject = {};
  for (const piece of pieces) addMembers(members, JSON.parse(piece) as JsonObject);
  return members;
};

it("T15: texts and lists are appended, names and numbers replaced, and nulls ignored", () => {
  expect(
    sumOf(
      '{"audio":{"id":"a","data":"AA","transcript":"Te"},"annotations":[1],"x":1}',
      '{"audio":{"id":"a","data":"BB","transcript":"rn","expires_at":9},"annotations":[2],"x":null}',
    ),
  ).toEqual({
    audio: { id: "a", data: "AABB", transcript: "Tern", expires_at: 9 },
    annotations: [1, 2],
    x: 1,
  });
});

it("a member with an inherited name does not change other objects", () => {
  const piece = '{"__proto__":{"leaked":"yes"},"constructor":{"leaked":"yes"}}';
  expect(sumOf(piece, piece)).toEqual({ constructor: { leaked: "yesyes" } });
  expect({}).not.toHaveProperty("leaked");
});
