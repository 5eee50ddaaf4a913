/**
 * Image and video models of the vendors that have a preset. No known list has their prices by our units of billing, so a model
 * can be called once the configuration file prices it. docs/models.md, `Your own prices`.
 */
import type { MediaFamilyName } from "./families.ts";

interface MediaModelRow {
  /** The model id for callers. */
  readonly id: string;
  /** The vendor's `id`. */
  readonly vendor: string;
  /** The vendor's own name of the model. */
  readonly model: string;
  readonly family: MediaFamilyName;
}

const of =
  (vendor: string, prefix = vendor) =>
  (family: MediaFamilyName, ...models: readonly string[]): MediaModelRow[] =>
    models.map((model) => ({ id: `${prefix}/${model}`, vendor, model, family }));

const openai = of("openai");
const xai = of("xai");
const dashscope = of("dashscope", "alibaba");

/** Every such model, by vendor. */
export const mediaModelRows: readonly MediaModelRow[] = [
  ...openai("image-a", "gpt-image-2", "gpt-image-2.5-flare", "gpt-image-2.5-sunburst"),
  ...openai("image-a", "gpt-image-2.6-flare", "gpt-image-2.6-sunburst"),
  // OpenAI closed gpt-image-1 in October 2026; files that price it must still load.
  ...openai("task-image-2", "gpt-image-1.5", "gpt-image-1-mini", "gpt-image-1"),
  ...xai("task-image-1", "grok-imagine-image-2.0", "grok-imagine-image"),
  ...xai("video-v1.5", "grok-imagine-video-1.5"),
  ...xai("video-v1", "grok-imagine-video"),
  ...dashscope("image-c", "qwen-image", "wan2.6-image"),
  ...dashscope("video-seconds", "wan3.0-video", "wan2.7-t2v", "wan2.7-i2v", "wan2.7-r2v"),
  ...dashscope("video-seconds", "wan2.6-t2v", "wan2.6-i2v", "wan2.6-r2v"),
  // Unlike the models above, these make silent videos too, at another price.
  ...dashscope("video-v1.5", "wan2.6-i2v-flash", "wan2.6-r2v-flash"),
];
