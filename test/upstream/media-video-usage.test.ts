/** The seconds of a video that DashScope reports, by model generation, and their charge. */
import { expect, it } from "vitest";
import { mediaUsage } from "../../src/media/index.ts";
import { bytes, dialectOf, video } from "./media-support.ts";

it.each([
  ["wan3 and wan2.7", { output_video_duration: 5, input_video_duration: 3, duration: 8 }, 5],
  ["wan2.5 and wan2.6", { duration: 10, size: "1280*720", video_count: 1 }, 10],
  ["wan2.2 and before", { video_duration: 5, video_ratio: "1280*720", video_count: 1 }, 5],
])(
  "BILL-15: %s: the seconds of the produced video are charged, not the requested ones",
  (_model, usage, seconds) => {
    const output = { task_id: "t", task_status: "SUCCEEDED", video_url: "https://v.test/1.mp4" };
    const state = dialectOf("dashscope", "video").readPoll(200, bytes({ output, usage }), "t");
    expect(state.state).toBe("succeeded");
    const reported = state.state === "succeeded" ? state.reported : {};
    const request = video({ family: "video-seconds", durationSeconds: 8 });
    expect(mediaUsage(request, reported, { count: 1 }).usage).toMatchObject({ seconds });
  },
);
