/** A vendor that answers a poll with the state of another job. docs/tasks.md; T80. */
import { expect, it } from "vitest";
import { mediaDialect } from "../../src/upstream/index.ts";

/** The id of the polled job. */
const jobs = { dashscope: "t", ark: "cgt-1" } as const;

it.each([
  [
    "dashscope",
    { output: { task_id: "other", task_status: "SUCCEEDED", video_url: "https://a/b" } },
  ],
  ["dashscope", { output: { task_id: "other", task_status: "FAILED" } }],
  ["ark", { id: "other", status: "succeeded", content: { video_url: "https://a/b" } }],
  ["ark", { id: "other", status: "cancelled" }],
] as const)("T80: an answer of %s about another job is refused as unusable", (vendor, body) => {
  expect(
    mediaDialect(vendor, "video")!.readPoll(200, Buffer.from(JSON.stringify(body)), jobs[vendor]),
  ).toMatchObject({
    state: "refused",
    unusable: "it is about another job",
  });
});

const accepted = {
  dashscope: (id: unknown) => ({ output: { task_id: id, task_status: "PENDING" } }),
  ark: (id: unknown) => ({ id }),
  xai: (id: unknown) => ({ request_id: id }),
} as const;

it.each(["dashscope", "ark", "xai"] as const)(
  "T80: a job id of %s is a text or a number, and nothing that could change a path",
  (vendor) => {
    const dialect = mediaDialect(vendor, "video")!;
    const bytes = (id: unknown) => Buffer.from(JSON.stringify(accepted[vendor](id)));
    const stateOf = (id: unknown) => dialect.readSubmit(200, bytes(id), {} as never);
    expect(stateOf("job-1")).toEqual({ state: "pending", id: "job-1" });
    expect(stateOf(7_000_000_001)).toEqual({ state: "pending", id: "7000000001" });
    for (const id of [".", "..", "", 1e21, 0.5, null, ["job-1"], "x".repeat(513)])
      expect(stateOf(id)).toMatchObject({ state: "refused", status: 200 });
  },
);

it("T80: an answer whose job id is a number matches the polled job", () => {
  const state = (id: number) =>
    mediaDialect("ark", "video")!.readPoll(
      200,
      Buffer.from(`{"id":${id},"status":"running"}`),
      "7",
    );
  expect(state(7)).toMatchObject({ state: "pending" });
  expect(state(8)).toMatchObject({ state: "refused", unusable: "it is about another job" });
});
