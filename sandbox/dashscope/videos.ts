/** `POST /dashscope/api/v1/services/aigc/{service}/video-synthesis`. */
import type { Artifacts } from "../artifacts.ts";
import { entriesOf } from "../checks.ts";
import type { Json } from "../json.ts";
import { asNumber, asObject, asText } from "../json.ts";
import type { Size } from "../pictures.ts";
import type { Script } from "../script-fields.ts";
import type { Call, MediaRoute, Reply } from "../vendor.ts";
import { linkTo } from "../vendor.ts";
import { framesPerSecond } from "../video/mp4.ts";
import { artifactOf, tierSize, videoOf } from "../video/produce.ts";
import type { Tasks } from "./tasks.ts";
import { videosStrict, type VideoService } from "./videos-strict.ts";

const secondsUsual = 5;

export function videoSynthesis(
  tasks: Tasks,
  artifacts: Artifacts,
  service: VideoService,
): MediaRoute {
  async function submit({ body }: Call, script: Script): Promise<Reply> {
    const input = asObject(body["input"]);
    const parameters = asObject(body["parameters"]);
    const tier = Number.parseInt(asText(parameters["resolution"]) || "720P", 10);
    const ratio = asText(parameters["ratio"]) || "16:9";
    const order = {
      prompt: asText(input["prompt"]),
      size: sizeNamed(asText(parameters["size"])) ?? tierSize(tier, ratio),
      firstFrame: firstFrameOf(input),
      seconds: asNumber(parameters["duration"]) ?? secondsUsual,
      audio: parameters["audio"] !== false,
    };
    const video = await videoOf(order, script);
    const path = artifacts.publish("dashscope", artifactOf(video), script.artifact);
    const usage = {
      duration: video.seconds,
      output_video_duration: video.seconds,
      input_video_duration: 0,
      fps: framesPerSecond,
      SR: tier,
      size: `${video.width}*${video.height}`,
      ratio,
      video_count: 1,
    };
    const output = (call: Call): Json => ({
      video_url: script.artifact?.url ?? linkTo(call, path),
      orig_prompt: order.prompt,
      ...(parameters["prompt_extend"] === false ? {} : { actual_prompt: `${order.prompt} (more)` }),
    });
    return tasks.submit({ output, usage }, script);
  }

  return {
    kind: "media",
    name: "videos",
    strict: videosStrict(service),
    script: ({ body }, read) => read(asText(asObject(body["input"])["prompt"])),
    answer: submit,
  };
}

function firstFrameOf(input: Json): string {
  const media = entriesOf(input["media"]).map(([, item]) => item);
  const frame = media.find((item) => item["type"] === "first_frame");
  return asText(frame?.["url"] ?? input["img_url"] ?? input["first_frame_url"]);
}

/** The size in "1280*720". */
function sizeNamed(size: string): Size | undefined {
  const [width, height] = size.split("*").map(Number);
  return width && height ? { width, height } : undefined;
}
