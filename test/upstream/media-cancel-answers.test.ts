/** A vendor's answers to a cancellation, with any status. docs/tasks.md "Canceling"; TASK-46; T82. */
import { expect, it } from "vitest";
import { mediaDialect } from "../../src/upstream/index.ts";

type Vendor = "ark" | "dashscope";
const read = (vendor: Vendor, status: number, body: string) =>
  mediaDialect(vendor, "video")!.readCancel!(status, Buffer.from(body), "job-1");

const page = "<html>Sign in</html>";

it.each([
  ["ark", "{}"],
  ["ark", ""],
  ["ark", '{"id":"job-1","status":"cancelled","error":null}'],
  ["dashscope", '{"request_id":"r"}'],
  ["dashscope", '{"request_id":"r","code":"","message":""}'],
  ["dashscope", '{"output":{"task_id":"job-1","task_status":"CANCELED"}}'],
  ["ark", '{"id":"job-1","status":"canceled"}'],
  ["dashscope", '{"output":{"task_id":"job-1","task_status":"CANCELLED"}}'],
] as const)("T82: %s confirms a cancellation with %s", (vendor, body) => {
  expect(read(vendor, 200, body)).toBe("canceled");
});

it.each([
  ["ark", '{"error":{"code":"InvalidAction.RunningTaskDeletion","message":"no"}}'],
  ["ark", '{"error":"it runs"}'],
  ["ark", '{"id":"job-1","status":"running"}'],
  ["ark", '{"id":"job-1","status":"succeeded"}'],
  ["ark", '{"id":"another","status":"cancelled"}'],
  ["ark", page],
  ["dashscope", '{"code":"UnsupportedOperation","message":"no","request_id":"r"}'],
  ["dashscope", '{"output":{"task_id":"job-1","task_status":"RUNNING"}}'],
  ["dashscope", '{"output":{"task_id":"another","task_status":"CANCELED"}}'],
  ["dashscope", "[]"],
  ["dashscope", page],
] as const)("T82: %s does not confirm a cancellation with 200 and %s", (vendor, body) => {
  expect(read(vendor, 200, body)).toBe("refused");
});

it.each(["ark", "dashscope"] as const)(
  "T82: %s does not confirm a cancellation with 202",
  (vendor) => {
    expect(read(vendor, 202, "{}")).toBe("refused");
  },
);

it.each([
  ["xai", { status: "canceled" }],
  ["xai", { status: "cancelled" }],
  ["ark", { id: "job-1", status: "cancelled" }],
  ["ark", { id: "job-1", status: "canceled" }],
  ["dashscope", { output: { task_id: "job-1", task_status: "CANCELED" } }],
  ["dashscope", { output: { task_id: "job-1", task_status: "CANCELLED" } }],
] as const)("a job that %s canceled is read as canceled in either spelling: %j", (vendor, body) => {
  const answer = Buffer.from(JSON.stringify(body));
  expect(mediaDialect(vendor, "video")!.readPoll(200, answer, "job-1")).toEqual({
    state: "canceled",
  });
});
