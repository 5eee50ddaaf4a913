/** A vendor that answers a poll with the state of another job. docs/tasks.md; T80. */
import { expect, it } from "vitest";
import { mediaDialect } from "../../src/upstream/index.ts";

/** The job that is asked for. */
const jobs = { dashscope: "t", ark: "cgt-1" } as const;

it.each([
  [
    "dashscope",
    { output: { task_id: "other", task_status: "SUCCEEDED", video_url: "https://a/b" } },
  ],
  ["dashscope", { output: { task_id: "other", task_status: "FAILED" } }],
  ["ark", { id: "other", status: "succeeded", content: { video_url: "https://a/b" } }],
  ["ark", { id: "other", status: "cancelled" }],
] as const)(
  "T80: an answer of %s about another job says nothing about this one",
  (vendor, body) => {
    expect(
      mediaDialect(vendor, "video")!.readPoll(200, Buffer.from(JSON.stringify(body)), jobs[vendor]),
    ).toMatchObject({
      state: "refused",
      unusable: "it is about another job",
    });
  },
);
