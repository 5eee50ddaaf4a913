/** Schemas of the prices of image and video models in the configuration file. */
import { Type } from "../base/json-schema.ts";
import { closed, perMillion, usd } from "./schema-kit.ts";

const tokenPrice = closed({
  input: perMillion("input text tokens"),
  image_input: perMillion("input image tokens"),
  output: perMillion("output text tokens"),
  image_output: perMillion("output image tokens"),
});
const perImage = usd("USD per image");
const imageSizes = closed({ "1K": perImage, "2K": perImage });
const tierPrice = closed({
  output_image: closed({ low: imageSizes, medium: imageSizes }),
  input_image: usd("USD per input image"),
});
const imagePrice = closed({
  output_image: Type.Union([perImage, Type.Record(Type.String(), perImage, { minProperties: 1 })], {
    description: 'USD per image, one decimal string or one by image size: { 1K: "0.03" }',
  }),
  input_image: Type.Optional(usd("USD per input image")),
});
const perSecond = usd("USD per produced second");
const secondPrice = closed({
  output_second: closed({
    "480p": Type.Optional(perSecond),
    "720p": Type.Optional(perSecond),
    "1080p": Type.Optional(perSecond),
  }),
  input_image: usd("USD per input image"),
});
const videoTokenPrice = closed({ output_video_token: perMillion("generated video tokens") });

/** The price schema of each kind of billing, by its name in families.ts. */
export const mediaPrices = {
  tokens: tokenPrice,
  tiers: tierPrice,
  images: imagePrice,
  seconds: secondPrice,
  video_tokens: videoTokenPrice,
};
