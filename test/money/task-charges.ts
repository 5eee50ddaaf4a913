/** Tasks of every kind and their costs, calculated by hand from the sandbox's prices (docs/sandbox.md). */
import type { Charge } from "./charge-table.ts";

const frame = { url: "data:image/png;base64,iVBORw0KGgo=" };
const scripted = (script: object) => `A boat\n#sandbox ${JSON.stringify(script)}`;

export const taskCharges: readonly Charge[] = [
  {
    name: "seconds of video with a fraction, and input pictures",
    source: "wire/video-and-image-tasks.md: the vendor tells the duration",
    model: "sandbox/video-model-v1",
    path: "/v1/tasks",
    body: {
      prompt: scripted({ video_seconds: 6.25 }),
      duration: 8,
      resolution: "720p",
      image: frame,
      last_frame: frame,
    },
    // 6.25 x 0.07 + 2 x 0.01
    nano: 457_500_000n,
    lines: [
      ["output_video_seconds", "6.25", "0.07", "0.4375"],
      ["input_images", "2", "0.01", "0.02"],
    ],
    counts: { output_video_seconds: 6.25, input_images: 2 },
  },
  {
    name: "tokens of video",
    source: "wire/video-and-image-tasks.md: 5 s of 1280x720 are 108,900 tokens",
    model: "sandbox/video-model-tokens",
    path: "/v1/tasks",
    body: { prompt: scripted({ usage: { output: 108_900 } }), duration: 5, resolution: "720p" },
    // 108,900 x 7,000
    nano: 762_300_000n,
    lines: [["output_video_tokens", "108900", "7", "0.7623"]],
    counts: { output_video_tokens: 108_900 },
  },
  {
    name: "pictures by quality and size",
    source: "wire/video-and-image-tasks.md: no token usage, so images are counted",
    model: "sandbox/task-image-model-1",
    path: "/v1/tasks",
    body: { prompt: "A boat", n: 2, quality: "low", image_size: "2K" },
    // 2 x 0.04
    nano: 80_000_000n,
    lines: [["output_images", "2", "0.04", "0.08"]],
    counts: { output_images: 2 },
  },
  {
    name: "pictures at one price each",
    source: "wire/video-and-image-tasks.md: image_count",
    model: "sandbox/image-model-c",
    path: "/v1/tasks",
    body: { prompt: "A boat", n: 2 },
    // 2 x 0.03
    nano: 60_000_000n,
    lines: [["output_images", "2", "0.03", "0.06"]],
    counts: { output_images: 2 },
  },
];
