/** From what was asked of a video vendor to the video it makes. */
import { createHash } from "node:crypto";
import type { Artifact } from "../artifacts.ts";
import type { Size } from "../pictures.ts";
import { sizeOfDataUrl } from "../pictures.ts";
import type { Script } from "../script-fields.ts";
import type { Video } from "./mp4.ts";
import { framesPerSecond, frameCount, mp4Of } from "./mp4.ts";

export interface Order {
  readonly prompt: string;
  /** What the vendor makes of resolution and ratio. */
  readonly size: Size;
  /** The address of the first frame, or "": a picture that can be read here gives the video its size. */
  readonly firstFrame: string;
  readonly seconds: number;
  readonly audio: boolean;
}

/** Keeps a video of a source of any size affordable. */
const sideMax = 4096;
const sideMin = 16;

/** The video of an order. A script may make it another length. */
export async function videoOf(order: Order, script: Script): Promise<Video> {
  const source = await sizeOfDataUrl(order.firstFrame);
  const wanted = script.video_seconds ?? order.seconds;
  return {
    ...evenSize(source ?? order.size),
    seconds: frameCount(wanted) / framesPerSecond,
    audio: order.audio,
    seed: createHash("sha256").update(order.prompt).digest().readUInt32BE(),
  };
}

export const artifactOf = (video: Video): Artifact => ({
  type: "video/mp4",
  extension: "mp4",
  make: () => mp4Of(video),
});

const even = (pixels: number) => 2 * Math.round(Math.min(Math.max(pixels, sideMin), sideMax) / 2);

const evenSize = ({ width, height }: Size): Size => ({ width: even(width), height: even(height) });

const macroblock = 16;

/**
 * The size of a tier and a ratio like "16:9": the shorter side is the tier's lines, the longer one the next multiple
 * of 16. `lines` may differ from the tier's nominal ones, where a vendor's encoder rounds up.
 */
export function tierSize(tier: number, ratio: string, lines: number = tier): Size {
  const [across = 1, down = 1] = ratio.split(":").map(Number);
  const stretch = Math.max(across, down) / Math.min(across, down);
  const long = Math.max(lines, macroblock * Math.round((tier * stretch) / macroblock));
  return across >= down ? { width: long, height: lines } : { width: lines, height: long };
}
