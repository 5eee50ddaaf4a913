/** `POST /xai/v1/images/generations` and `/images/edits`: both JSON, both answered when the pictures are there. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Artifacts } from "../artifacts.ts";
import { failureToldBy } from "../jobs.ts";
import type { Json } from "../json.ts";
import { asNumber, asObject, asText } from "../json.ts";
import type { Encoding, Picture, Size } from "../pictures.ts";
import { bytesOfDataUrl, colourOf, edit, paint, readPicture } from "../pictures.ts";
import type { Script } from "../script-fields.ts";
import type { Call, MediaRoute, Reply } from "../vendor.ts";
import { Refusal } from "../refusal.ts";
import { linkTo } from "../vendor.ts";
import { invalidArgument } from "./errors.ts";
import { editsStrict, generationsStrict, inputsOf, sizes } from "./images-strict.ts";

const vendor = "xai";
const jpeg: Encoding = { format: "jpeg", quality: 90 };
const png: Encoding = { format: "png", quality: 100 };
const ticksPerImage = 200_000_000;

export interface XaiImages {
  readonly generations: MediaRoute;
  readonly edits: MediaRoute;
}

export function createImages(artifacts: Artifacts): XaiImages {
  const answer = async (call: Call, script: Script): Promise<Reply> => {
    const sources = await sourcesOf(call.body);
    if (script.task_seconds !== undefined) await sleep(script.task_seconds * 1000);
    if (script.task_outcome === "failed") throw new Refusal(500, failureToldBy(script));
    const count = asNumber(call.body["n"]) ?? 1;
    const data: Json[] = [];
    for (let index = 0; index < count; index += 1) {
      data.push(await item(call, { index, source: sources[0], script }));
    }
    const images = count + sources.length;
    return { status: 200, body: { data, usage: { cost_in_usd_ticks: images * ticksPerImage } } };
  };

  interface Wanted {
    readonly index: number;
    readonly source: Buffer | undefined;
    readonly script: Script;
  }

  /** One entry of the answer; without a picture where the filter has looked at it. */
  async function item(call: Call, { index, source, script }: Wanted): Promise<Json> {
    const revised = { revised_prompt: script.reply ?? asText(call.body["prompt"]) };
    if (script.task_outcome === "blocked") return { ...revised, respect_moderation: false };
    const encoding = call.body["resolution"] === "2k" ? png : jpeg;
    const { bytes } = await pictureOf(call.body, { index, source, encoding });
    const type = `image/${encoding.format}`;
    const about = { ...revised, respect_moderation: true, mime_type: type };
    if (call.body["response_format"] === "b64_json") {
      return { b64_json: bytes.toString("base64"), ...about };
    }
    const made = { type, extension: encoding.format, make: () => bytes, weight: bytes.length };
    const path = artifacts.publish(vendor, made, script.artifact);
    return { url: script.artifact?.url ?? linkTo(call, path), ...about };
  }

  const route = (name: MediaRoute["name"], strict: MediaRoute["strict"]): MediaRoute => ({
    kind: "media",
    name,
    strict,
    script: ({ body }, read) => read(asText(body["prompt"])),
    answer,
  });
  return {
    generations: route("images", generationsStrict),
    edits: route("image_edits", editsStrict),
  };
}

interface Making {
  readonly index: number;
  readonly source: Buffer | undefined;
  readonly encoding: Encoding;
}

async function pictureOf(body: Json, { index, source, encoding }: Making): Promise<Picture> {
  const colour = colourOf(`${index} ${asText(body["prompt"])}`);
  const painting = { size: sizeOf(body), colour, transparent: false };
  if (source === undefined) return await paint(painting, encoding);
  const change = { ...painting, source, mask: undefined, mayBeTransparent: false };
  return await edit(change, encoding);
}

function sizeOf(body: Json): Size {
  const [width, height] = sizes[asText(body["aspect_ratio"])] ?? sizes["1:1"]!;
  const scale = body["resolution"] === "2k" ? 2 : 1;
  return { width: width * scale, height: height * scale };
}

/** The pictures that came as data URLs. @throws Refusal when one of them cannot be read. */
async function sourcesOf(body: Json): Promise<Buffer[]> {
  const sources: Buffer[] = [];
  for (const [index, input] of inputsOf(body).entries()) {
    const bytes = bytesOfDataUrl(asText(asObject(input)["url"]));
    if (bytes === undefined) continue;
    if (!(await readPicture(bytes))) {
      throw invalidArgument(`images[${index}]: the image cannot be decoded`);
    }
    sources.push(bytes);
  }
  return sources;
}
