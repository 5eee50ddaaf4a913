/** Schemas of the prices of image and video models in the configuration file. */
import { Type, type TSchema } from "../base/json-schema.ts";
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

const byResolution = <Rate extends TSchema>(rate: Rate) =>
  closed({
    "480p": Type.Optional(rate),
    "720p": Type.Optional(rate),
    "1080p": Type.Optional(rate),
  });
/** A rate, or one for videos with sound and one for those without. */
const bySound = (rate: ReturnType<typeof usd>) => {
  const { description } = rate as { readonly description?: string };
  return Type.Union([rate, closed({ sound: rate, silent: rate })], {
    description: `${description}, or two of them: { sound: "2.50", silent: "1.25" }`,
  });
};
const perSecond = usd("USD per produced second");
const secondPrice = closed({
  output_second: byResolution(perSecond),
  input_image: usd("USD per input image"),
});
const soundSecondPrice = closed({
  output_second: byResolution(bySound(perSecond)),
  input_image: usd("USD per input image"),
});
const perVideoToken = bySound(perMillion("generated video tokens"));
const videoTokenPrice = closed({
  output_video_token: Type.Union([...perVideoToken.anyOf, byResolution(perVideoToken)], {
    description:
      'USD per million generated video tokens, a decimal string such as "2.50"; or by sound: { sound: "2.50", silent: "1.25" }; or either of them by resolution: { 720p: "7", 1080p: "7.70" }',
  }),
});

/** The price schema of each kind of billing, by its name in families.ts. */
export const mediaPrices = {
  tokens: tokenPrice,
  tiers: tierPrice,
  images: imagePrice,
  seconds: secondPrice,
  sound_seconds: soundSecondPrice,
  video_tokens: videoTokenPrice,
};
